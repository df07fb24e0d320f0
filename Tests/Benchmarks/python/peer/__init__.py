"""The worker's job in Python: reports in, replacement tokens out, one transaction per batch."""
