"""What is written as TOML reads back."""

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.runs.toml import write_toml

text = st.text(st.characters(exclude_categories=["Cs"]))
plain = text | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.booleans()
values = st.dictionaries(
    text,
    st.recursive(
        plain | st.lists(plain, max_size=3), lambda inner: st.dictionaries(text, inner, max_size=3), max_leaves=8
    ),
    max_size=4,
)


@given(values)
def test_everything_reads_back_as_it_was(tables: dict[str, Any]) -> None:
    assert tomllib.loads(write_toml(tables)) == tables


def test_a_table_has_its_header() -> None:
    assert write_toml({"a": 1, "b": {"c": "x"}}) == 'a = 1\n\n[b]\nc = "x"\n'
