"""Documents in: readers, words, Boolean bags of words."""
