"""Runs Remint and its peers in turns and sets their figures side by side."""
