"""When a shortened answer counts as the answer."""

import json
from typing import Any

import pytest

from tests.docs.documents import Written, shows

REAL = {"label": "Bad deployment", "margin": 0.6449, "agents": [{"top": "A"}, {"top": "B"}], "id": "e52c166e", "n": 7}


@pytest.mark.parametrize(
    ("shown", "holds"),
    [
        ('{"label": "Bad deployment", "n": 7}', True),
        ('{"label": "Full disk"}', False),
        ('{"margin": 0.64}', True),
        ('{"margin": 0.65}', False),
        ('{"agents": [{"top": "A"}]}', True),
        ('{"agents": [{"top": "B"}]}', False),
        ('{"id": "e52…", "margin": "…"}', True),
        ('{"id": "f52…"}', False),
        ('{"confidence": {}}', False),
        ('{"…": 0, "agents": []}', True),
        ('{"n": true}', False),
    ],
)
def test_it_shows_what_it_says(shown: str, holds: bool) -> None:
    part: Any = json.loads(shown, parse_float=Written)

    assert shows(part, REAL) is holds
