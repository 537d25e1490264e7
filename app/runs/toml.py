"""Writes TOML: tables of texts, numbers, truth values and lists of them. The standard library only reads it."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def write_toml(values: Mapping[str, Any]) -> str:
    """The text of a TOML file that reads back as `values` (tomllib)."""
    return "\n".join(_table(values, ())).strip() + "\n"


def _table(values: Mapping[str, Any], path: Sequence[str]) -> list[str]:
    plain = {name: value for name, value in values.items() if not isinstance(value, Mapping)}
    lines = ["", f"[{'.'.join(map(_key, path))}]"] if path and (plain or not values) else []
    lines += [f"{_key(name)} = {_value(value)}" for name, value in plain.items()]
    for name, value in values.items():
        if isinstance(value, Mapping):
            lines += _table(value, (*path, name))
    return lines


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    # JSON's texts, numbers and truth values are TOML's, but that TOML wants the one control character escaped too.
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("\x7f", "\\u007f")
