"""newfound tells which documents are new, and which words make them so."""
