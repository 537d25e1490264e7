"""The domain that the replies in data/replies are about, and valid posteriors in every accepted shape."""

import json
import tomllib
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from domains.case import Domain, Label

FOLDER = Path(__file__).parent / "data" / "replies"
EXPECTED: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "expected.toml").read_text("utf-8"))

DOMAIN = Domain(
    name="airways",
    title="Fever and chest complaints",
    case_noun="patient",
    label_noun="diagnosis",
    labels=(
        Label("Influenza", ("flu", "grippe")),
        Label("COVID-19", ("covid",)),
        Label("Pneumonia"),
        Label("Bronchitis"),
        Label("Stable angina"),
        Label("Unstable angina"),
        Label("Guillain-Barré syndrome"),
        Label("HIV (initial infection)"),
    ),
)

Stated = list[tuple[str, float]]


def reply(name: str) -> str:
    """One reply of the corpus, byte for byte."""
    return (FOLDER / f"{name}.txt").read_bytes().decode("utf-8")


def shares(stated: Stated) -> Stated:
    """The oracle: masses scaled to 1, by falling mass, equal ones as listed."""
    total = sum(mass for _, mass in stated)
    return sorted(((label, mass / total) for label, mass in stated), key=lambda pair: -pair[1])


def wrapped(content: object, reasoning: str) -> str:
    return json.dumps({"reasoning": reasoning, "posterior": content}, ensure_ascii=False)


def shapes(stated: Stated, reasoning: str) -> dict[str, str]:
    """Every accepted shape of one answer, by name. None holds a draft: see `test_cut_*`."""
    entries = [{"label": label, "probability": mass} for label, mass in stated]
    bare = wrapped(entries, reasoning)
    return {
        "bare": bare,
        "indented": json.dumps({"reasoning": reasoning, "posterior": entries}, indent=1),
        "posterior first": json.dumps({"posterior": entries, "reasoning": reasoning}),
        "fenced": f"```json\n{bare}\n```",
        "fence without language": f"Here it is:\n```\n{bare}\n```\nThat is all.",
        "prose around": f"Given {{fever}}, I think so.\n{bare}\nAsk me anything.",
        "thoughts before": f"<think>Hm, {{fever}} [1]?</think>\n{bare}",
        "end of thoughts before": f"hm, fever</think>\n{bare}",
        "mapping": wrapped(dict(stated), reasoning),
        "list of pairs": wrapped(stated, reasoning),
        "single-key objects": wrapped([{label: mass} for label, mass in stated], reasoning),
        "mapping without wrapper": json.dumps(dict(stated)),
        "list without wrapper": json.dumps(entries),
        "pairs without wrapper": json.dumps(stated),
        "number strings": wrapped({label: repr(mass) for label, mass in stated}, reasoning),
        "percentages": wrapped({label: f"{mass * 100!r}%" for label, mass in stated}, reasoning),
        "out of 100": wrapped({label: mass * 100 for label, mass in stated}, reasoning),
        "upper case": wrapped({label.upper(): mass for label, mass in stated}, reasoning),
    }


def stated_posteriors() -> st.SearchStrategy[Stated]:
    """One to five labels with masses in steps of a hundredth, often equal."""
    return st.lists(
        st.tuples(st.sampled_from(DOMAIN.label_names), st.integers(1, 100).map(lambda hundredths: hundredths / 100)),
        min_size=1,
        max_size=5,
        unique_by=lambda pair: pair[0],
    )
