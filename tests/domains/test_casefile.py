"""Lines of exemplars and cases, and what is wrong with one."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from domains.catalogue import load_cases, load_domain
from domains.errors import BadInput
from tests.domains.bread import CASE, EXEMPLAR, faults, ndjson, the_fault, write_pack


class TestExemplarsAndCases:
    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            ({"gold": "Burnt"}, "exemplars.ndjson:1 case.gold: not a label of the domain"),
            ({"gold": None}, "exemplars.ndjson:1: 'gold' is missing"),
            ({"gold": 3}, "exemplars.ndjson:1: 'gold' is no text"),
            ({"reasoning": " "}, "exemplars.ndjson:1: 'reasoning' is missing or no text"),
            ({"id": 7}, "exemplars.ndjson:1: 'id' is no text"),
            ({"why": "so"}, "exemplars.ndjson:1: the key 'why' is unknown"),
            ({"evidence": "pale"}, "exemplars.ndjson:1 case.evidence: is no list"),
            ({"evidence": ["pale"]}, "exemplars.ndjson:1 case.evidence.0: is no object with an id"),
            ({"evidence": [{"id": 3}]}, "exemplars.ndjson:1 case.evidence.0: is no object with an id"),
            (
                {"evidence": [{"id": "pale", "present": "no"}]},
                "exemplars.ndjson:1 case.evidence.0: 'text' is no text or 'present' neither true nor false",
            ),
            (
                {"evidence": [{"id": "pale", "absent": True}]},
                "exemplars.ndjson:1 case.evidence.0: has other keys than id, text and present",
            ),
            (
                {"evidence": [{"id": "cracks"}]},
                "exemplars.ndjson:1 case.evidence.0.id: the domain does not know this finding; "
                "an ad-hoc finding needs a text",
            ),
        ],
    )
    def test_an_exemplar_that_is_none(self, tmp_path: Path, change: Mapping[str, object], problem: str) -> None:
        assert the_fault(tmp_path, {"exemplars.ndjson": ndjson({**EXEMPLAR, **change})}) == problem

    @pytest.mark.parametrize(
        ("line", "problem"),
        [
            ("{", "is not JSON"),
            ('{"id": NaN}', "is not JSON"),
            ('{"id": "a", "id": "b"}', "gives a key twice"),
            ("[]", "is not a JSON object"),
            ('{"id": "\\ud800"}', "is not UTF-8"),
            pytest.param("[" * 100_000, "is not JSON", id="deep"),
        ],
    )
    def test_a_line_that_is_no_object(self, tmp_path: Path, line: str, problem: str) -> None:
        content = ndjson(EXEMPLAR) + "\n" + line + "\n"
        assert the_fault(tmp_path, {"exemplars.ndjson": content}) == f"exemplars.ndjson:3: {problem}"

    def test_a_case_may_be_without_gold(self, tmp_path: Path) -> None:
        assert faults(tmp_path, {"cases.ndjson": ndjson({"evidence": [{"id": "pale"}]})}) == []

    def test_the_cases_of_a_pack_are_checked_too(self, tmp_path: Path) -> None:
        content = ndjson(CASE, {**CASE, "gold": "Burnt"})
        assert the_fault(tmp_path, {"cases.ndjson": content}) == "cases.ndjson:2 case.gold: not a label of the domain"

    def test_loaded_cases_come_one_by_one(self, tmp_path: Path) -> None:
        pack = write_pack(tmp_path, {"cases.ndjson": ndjson(CASE, CASE) + "broken\n"})
        cases = load_cases(pack / "cases.ndjson", load_domain(pack))
        assert [next(cases).id, next(cases).gold] == ["loaf-1", "Oven, too cold"]
        with pytest.raises(BadInput, match=r"^cases\.ndjson:3: is not JSON$"):
            next(cases)

    def test_a_case_without_an_id_is_called_after_its_line(self, tmp_path: Path) -> None:
        pack = write_pack(tmp_path, {"cases.ndjson": "\n" + ndjson({"evidence": [{"id": "pale"}]})})
        (case,) = load_cases(pack / "cases.ndjson", load_domain(pack))
        assert case.id == "cases.ndjson:2"

    def test_a_file_of_cases_that_is_not_there(self, tmp_path: Path) -> None:
        domain = load_domain(write_pack(tmp_path))
        with pytest.raises(BadInput, match=r"^mine\.ndjson: the file is missing$"):
            list(load_cases(tmp_path / "mine.ndjson", domain))
