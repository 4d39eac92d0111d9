"""What is new in one pile of documents against another."""
