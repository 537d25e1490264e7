"""The use case (council.py, read it first) and its faces: HTTP, command line."""

__version__ = "0.1.0"
