"""Groups of documents: they are found, named and counted."""
