"""What a reply to a form that forbids what was asked for says about the form."""

import pytest

from agents.envelope import Reply
from agents.failure import Failure
from agents.replies import Usage
from app.doctor.forms import Kept, best_mode, json_object_kept, schema_kept
from app.doctor.observations import Seen


def replied(text: str) -> Seen:
    return Seen(Reply(text, "m", "", Usage()))


def failed(status: int | None, **members: str) -> Seen:
    cause = "server_error" if status == 500 else "refused" if status else "timeout"
    return Seen(Failure(cause, "no", "never", status=status, **members))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('{"colour": "green"}', "enforced"),
        ('{"colour": "red"}', "ignored"),
        ('```json\n{"colour": "green"}\n```', "ignored"),
        ('{"colour": null}', "ignored"),
        ('["green"]', "ignored"),
        ("red", "ignored"),
    ],
)
def test_a_schema_is_enforced_if_the_reply_is_bare_and_allowed(text: str, kept: Kept) -> None:
    assert schema_kept(replied(text)) == kept


@pytest.mark.parametrize(
    ("text", "kept"), [('{"word": "pong"}', "enforced"), ("pong", "ignored"), ('"pong"', "ignored")]
)
def test_json_mode_is_enforced_if_the_reply_is_an_object(text: str, kept: Kept) -> None:
    assert json_object_kept(replied(text)) == kept


@pytest.mark.parametrize(
    ("seen", "kept"),
    [
        (failed(400, complaint="response_format type is unavailable"), "refused"),
        (failed(400), "refused"),
        (failed(422, param="response_format"), "refused"),
        (failed(500), "refused"),
        (failed(None), "unknown"),
        (failed(429), "unknown"),
        (failed(503), "unknown"),
        (None, "unknown"),
    ],
)
def test_a_failure_is_a_refusal_only_if_it_means_the_form(seen: Seen | None, kept: Kept) -> None:
    assert schema_kept(seen) == kept


@pytest.mark.parametrize(
    ("schema", "json_object", "mode"),
    [
        ("enforced", "enforced", "json_schema"),
        ("ignored", "enforced", "json_object"),
        ("refused", "unknown", "prompt"),
        ("unknown", "enforced", "json_object"),
        ("ignored", "ignored", "prompt"),
    ],
)
def test_the_most_binding_mode_that_is_kept_is_begun_with(schema: Kept, json_object: Kept, mode: str) -> None:
    assert best_mode(schema, json_object) == mode
