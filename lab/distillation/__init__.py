"""Static vectors of tokens, learned from the sentence vectors of a transformer."""
