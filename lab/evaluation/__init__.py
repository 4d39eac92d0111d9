"""The quality of word rankings and of novelty detection, measured on held-out documents."""
