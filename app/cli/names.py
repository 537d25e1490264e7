"""Names as the command line gives them."""


def listed(text: str) -> tuple[str, ...]:
    """The names of a list `a,b`, each once."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
