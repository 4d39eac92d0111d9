"""The stream: windows of documents, their new topics, and alerts at a stated rate."""
