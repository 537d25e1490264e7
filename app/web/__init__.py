"""The service's own web pages: templates, and plain scripts that ask the same interface as everybody else."""
