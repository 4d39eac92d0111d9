"""Which documents are new, learned from known ones only."""
