"""What to say where a library of the extra `evaluation` is missing."""

from domains.errors import BadInput


def missing(where: str, library: str) -> BadInput:
    """The error of something that cannot be done without the library."""
    return BadInput.at(where, f"needs {library}, of the extra `evaluation`: pip install -e '.[evaluation]'")
