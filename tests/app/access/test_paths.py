"""Which scope each path needs. A route that nobody placed here is not open."""

from app.access.paths import scope_for
from app.main import create_app

OPEN = {"/health/live", "/health/ready", "/docs", "/openapi.json"}
INSPECT = {"/metrics", "/decisions/{decision_id}"}


def test_every_path_needs_what_it_should() -> None:
    paths = create_app().openapi()["paths"]

    assert {path for path in paths if scope_for(path) is None} <= OPEN
    assert {path for path in paths if scope_for(path) == "inspect"} == INSPECT
    assert "/decide" in paths


def test_what_is_unknown_needs_a_key() -> None:
    assert scope_for("/anything") == "decide"
    assert scope_for("/health/live/") == "decide"
    assert scope_for("//metrics") == "decide"


def test_what_is_below_a_record_is_a_record() -> None:
    assert scope_for("/decisions/x/y") == "inspect"
    assert scope_for("/decisions") == "inspect"
