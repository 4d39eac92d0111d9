"""Model files, and writing files so that an error leaves no half-written file."""
