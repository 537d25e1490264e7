"""The paper's numbers that ship with the project, against its printed tables and against themselves."""

import pytest

from evaluation.methods import headed, ranked, swept
from evaluation.paper import paper_backbones, published
from evaluation.slices import SLICES


def printed(backbone: str, method: str) -> list[float | None]:
    """In percent, as the paper rounds."""
    found = published(backbone)
    assert found is not None
    rates = [found.numbers.rate(method, name) for name in SLICES]
    return [None if rate is None else round(100 * rate, 2) for rate in rates]


def test_the_five_backbones_and_their_pools() -> None:
    pools = {name: tuple(each.numbers.cases.values()) for name, each in paper_backbones().items()}

    assert pools == {
        "qwen3-30b-a3b": (1992, 665),
        "mistral-small-3.1-24b": (1963, 757),
        "llama-3.1-8b": (1981, 1332),
        "glm-4-32b": (1981, 885),
        "deepseek-v4-flash": (1973, 675),
    }


@pytest.mark.parametrize(
    ("backbone", "method", "expected"),
    [
        ("qwen3-30b-a3b", "loglin", [74.25, 52.78]),
        ("mistral-small-3.1-24b", "random", [69.18, 40.69]),
        ("llama-3.1-8b", headed("loglin", "reverse_prior"), [59.20, 51.69]),
        ("glm-4-32b", swept("loglin", "w_r", 0.5), [66.89, 47.57]),
        ("deepseek-v4-flash", ranked("reverse", 5), [None, 25.48]),
        ("qwen3-30b-a3b", "random_expected", [None, 39.88]),
    ],
)
def test_the_counts_round_to_what_is_printed(backbone: str, method: str, expected: list[float | None]) -> None:
    assert printed(backbone, method) == expected


def test_calibrated_counts_are_the_plain_ones_and_the_gain() -> None:
    found = published("mistral-small-3.1-24b")
    assert found is not None
    plain, calibrated = (found.numbers.correct[headed("loglin", anchor)] for anchor in ("reverse", "calibrated"))

    gains = [100 * (calibrated[name].correct - plain[name].correct) / plain[name].of for name in SLICES]

    assert [round(gain, 2) for gain in gains] == [0.05, -0.26]


def test_every_grid_is_whole() -> None:
    for each in paper_backbones().values():
        for percent in each.grid_percent.values():
            assert sum(percent) == pytest.approx(100, abs=0.2)


@pytest.mark.parametrize("name", ["qwen3-30b-a3b", "Qwen/Qwen3-30B-A3B", "some/mirror/QWEN3-30B-A3B"])
def test_a_backbone_is_known_by_its_name(name: str) -> None:
    found = published(name)

    assert found is not None
    assert found.title == "Qwen3-30B"


@pytest.mark.parametrize("name", ["", "qwen3-30b-a3b-instruct-2507", "qwen3-30b", "stand-in"])
def test_another_model_is_not_taken_for_it(name: str) -> None:
    assert published(name) is None
