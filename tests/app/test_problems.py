"""Problems name what is wrong by its place, and repeat nothing of what was sent."""

import pytest
from pydantic import ValidationError

from app.problems import member_path, parameter_path, validation_faults
from app.schemas.decide import DecideBody


@pytest.mark.parametrize(
    ("location", "path"),
    [
        (("case", "evidence", 3, "id"), "case.evidence.3.id"),
        (("case", "mary_smith"), "case.?"),
        (("params", "19520312"), "params.?"),
        (("case", "Mary Smith", "id"), "case.?.id"),
    ],
)
def test_a_path_has_the_names_of_our_members_and_of_nobody_elses(location: tuple[str | int, ...], path: str) -> None:
    assert member_path(location) == path


def test_a_member_that_is_called_as_a_patient_is_not_named() -> None:
    with pytest.raises(ValidationError) as wrong:
        DecideBody.model_validate({"case": {"evidence": [], "mary_smith": 1}})

    assert [fault.where for fault in validation_faults(wrong.value)] == ["case.?"]


def test_a_slip_of_the_pen_is_told_what_is_meant() -> None:
    with pytest.raises(ValidationError) as wrong:
        DecideBody.model_validate({"case": {"evidence": []}, "agregator": "minjs"})

    (fault,) = validation_faults(wrong.value)
    assert (fault.where, fault.problem) == ("?", "a member of this name is not known; is aggregator meant?")


def test_declared_parameters_are_named() -> None:
    assert parameter_path(("limit",)) == "limit"
