from bisect import bisect_right

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domains.ddxplus.release import Release
from domains.ddxplus.vocabulary import AGE_BANDS, Vocabulary, age_band, root_of

FIRST_YEARS = [0, 1, 5, 15, 30, 45, 60, 75]
BAND_IDS = [
    "age_under_1", "age_1_4", "age_5_14", "age_15_29", "age_30_44", "age_45_59", "age_60_74", "age_75_over",
]  # fmt: skip


@given(st.integers(0, 150))
def test_every_age_is_in_the_band_that_begins_last_before_it(years: int) -> None:
    assert age_band(years).id == BAND_IDS[bisect_right(FIRST_YEARS, years) - 1]


def test_a_band_says_its_years(vocabulary: Vocabulary) -> None:
    assert age_band(30).text == "Age 30 to 44 years"
    assert len(AGE_BANDS) == 8


def test_a_token_that_means_no_is_no_finding(vocabulary: Vocabulary) -> None:
    silent = [token for token, finding in vocabulary.by_token.items() if finding is None]
    assert sorted(silent) == [
        "E_130_@_V_11", "E_131_@_V_10", "E_133_@_V_123", "E_135_@_V_10", "E_152_@_V_123",
        "E_204_@_V_10", "E_54_@_V_11", "E_55_@_V_123", "E_56_@_0", "E_57_@_V_123",
    ]  # fmt: skip
    assert not set(silent) & vocabulary.place.keys()


def test_values_belong_to_the_group_of_their_root(vocabulary: Vocabulary) -> None:
    grouped = {finding.id: finding.group for finding in vocabulary.findings if finding.group}
    assert grouped["E_55_@_V_89"] == grouped["E_55_@_V_137"] == "E_55"
    assert "E_91" not in grouped
    assert {root_of(finding) for finding in vocabulary.findings if finding.id in ("E_91", "E_56_@_4")} == {
        "E_91",
        "E_56",
    }


def test_context_is_demographics_and_antecedents(vocabulary: Vocabulary) -> None:
    roots = {root_of(finding) for finding in vocabulary.findings if finding.kind == "context"}
    assert roots == {"sex", "age", "E_16", "E_79", "E_204"}


def test_anxiety_is_context_though_a_condition_lists_it_as_a_symptom(release: Release, vocabulary: Vocabulary) -> None:
    assert "E_16" in release.conditions["Influenza"]
    assert vocabulary.findings[vocabulary.place["E_16"]].kind == "context"


@pytest.mark.parametrize(
    ("parent", "child"), [("E_53", "E_55_@_V_89"), ("E_129", "E_133_@_V_89"), ("E_151", "E_152_@_V_89")]
)
def test_a_groups_leading_question_stands_before_its_children(vocabulary: Vocabulary, parent: str, child: str) -> None:
    assert vocabulary.place[parent] < vocabulary.place[child]


def test_places_are_those_of_the_findings(vocabulary: Vocabulary) -> None:
    assert [vocabulary.place[finding.id] for finding in vocabulary.findings] == list(range(len(vocabulary.findings)))
