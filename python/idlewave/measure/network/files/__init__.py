"""The network's recordings and results as files: their schemas, readers and writers."""
