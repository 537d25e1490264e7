"""What a pack knows of labels and findings, and what is wrong with a table of it."""

from pathlib import Path

import numpy as np
import pytest

from domains.catalogue import load_domain
from domains.errors import BadInput
from domains.knowledge import Knowledge, load_knowledge
from tests.domains.bread import write_pack

HEADER = "label,finding,probability\n"
SHARES = 'Too little salt,,0.5\n"Oven, too cold",,0.3\nDead yeast,,0.2\n'
PAIRS = '"Oven, too cold",pale,0.9\nDead yeast,pale,.25\nDead yeast,dense,1\nToo little salt,dense,1e-3\n'


def load(folder: Path, table: str | None) -> Knowledge | None:
    pack = write_pack(folder, {"knowledge.csv": table})
    return load_knowledge(pack, load_domain(pack))


def known(folder: Path, table: str) -> Knowledge:
    knowledge = load(folder, table)
    assert knowledge is not None
    return knowledge


def problems(folder: Path, table: str) -> list[str]:
    with pytest.raises(BadInput) as refused:
        load(folder, table)
    return [str(fault) for fault in refused.value.faults]


def test_a_pack_may_know_nothing(tmp_path: Path) -> None:
    assert load(tmp_path, None) is None


def test_probabilities_stand_in_the_order_of_labels_and_findings(tmp_path: Path) -> None:
    knowledge = known(tmp_path, HEADER + SHARES + PAIRS)
    np.testing.assert_array_equal(knowledge.probability_LJ, [[0, 0, 0.001], [0, 0.9, 0], [0, 0.25, 1]])


def test_a_row_without_finding_is_the_labels_share_of_cases(tmp_path: Path) -> None:
    np.testing.assert_allclose(known(tmp_path, HEADER + SHARES + PAIRS).prior_L, [0.5, 0.3, 0.2], rtol=1e-15)


def test_a_finding_without_a_row_is_not_known(tmp_path: Path) -> None:
    assert known(tmp_path, HEADER + SHARES + PAIRS).known_J.tolist() == [False, True, True]


def test_a_finding_that_is_stated_never_to_occur_is_known(tmp_path: Path) -> None:
    assert known(tmp_path, HEADER + "Dead yeast,old_yeast,0\n").known_J.tolist() == [True, False, False]


def test_labels_are_equally_common_where_no_share_is_given(tmp_path: Path) -> None:
    np.testing.assert_allclose(known(tmp_path, HEADER + PAIRS).prior_L, [1 / 3] * 3, rtol=1e-15)


def test_rounded_shares_are_scaled_to_one(tmp_path: Path) -> None:
    knowledge = known(tmp_path, HEADER + SHARES.replace("0.5", "0.499"))
    assert knowledge.prior_L.sum() == pytest.approx(1, abs=1e-15)


def test_arrays_cannot_be_written_to(tmp_path: Path) -> None:
    knowledge = known(tmp_path, HEADER + SHARES + PAIRS)
    arrays = (knowledge.prior_L, knowledge.probability_LJ, knowledge.known_J)
    assert not any(array.flags.writeable for array in arrays)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("Burnt,pale,0.5", "the label is not in labels.csv"),
        ("dead yeast,pale,0.5", "the label is not in labels.csv"),
        ("Dead yeast,cracks,0.5", "the finding is not in findings.csv"),
        ("Dead yeast,pale,0.5", "the pair was given before, at knowledge.csv:6"),
        ("Dead yeast,,0.2", "the pair was given before, at knowledge.csv:4"),
        *((f"Dead yeast,old_yeast,{number}", "the probability is no number from 0 to 1") for number in
          ("1.01", "-0.1", "nan", "inf", "", "often", "1_0", "50%", "0;5")),
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_used_is_named_by_line(tmp_path: Path, row: str, problem: str) -> None:
    assert problems(tmp_path, HEADER + SHARES + PAIRS + row + "\n") == [f"knowledge.csv:9: {problem}"]


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    found = problems(tmp_path, HEADER + "Burnt,cracks,2\n" + SHARES + "Dead yeast,pale\n")
    assert [problem.partition(": ")[0] for problem in found] == ["knowledge.csv:6", *["knowledge.csv:2"] * 3]


def test_a_share_is_given_to_every_label_or_to_none(tmp_path: Path) -> None:
    found = problems(tmp_path, HEADER + "Dead yeast,,1\n")
    assert found == [
        f"knowledge.csv: label {place} of labels.csv has no share of cases, though others have one" for place in (1, 2)
    ]


def test_shares_that_do_not_sum_to_one_are_refused(tmp_path: Path) -> None:
    found = problems(tmp_path, HEADER + SHARES.replace("0.5", "0.4"))
    assert found == ["knowledge.csv: the shares of cases sum to 0.900, not to 1"]
