"""Load and save models of any kind."""
