"""What a finding reads like to people and models.

The release asks questions, and glosses values word by word out of French ("heartbreaking", "palace", "N"). The
statements in `sentences.csv` and the values in `glosses.csv` were written for this project against both languages.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from domains.case import Label, digest
from domains.ddxplus.release import Evidence
from domains.errors import BadInput, Fault
from domains.files import Row, read_table

FOLDER = Path(__file__).parent
WORDED_QUESTIONS = "7651c4ff462258cd035275167538baf7e13c33dd5d7381f89a27d9e032d8ca99"
"""`questions_digest` of the English release, for whose questions and values the statements were written."""


@dataclass(frozen=True)
class Wording:
    """Statements by evidence code (with `{value}` where it has values), texts by value, labels by name."""

    sentences: Mapping[str, str]
    glosses: Mapping[str, str]
    labels: Mapping[str, Label]

    def state(self, evidence: Evidence, value: str | None = None) -> str:
        """The statement that this evidence is present, in this value.

        An evidence that nobody wrote a sentence for is stated by its question.
        """
        gloss = self.gloss(evidence, value) if value is not None else ""
        sentence = self.sentences.get(evidence.code)
        if sentence is not None:
            return sentence.replace("{value}", gloss)
        return f'The answer to "{evidence.question}" is {gloss or "yes"}'

    def gloss(self, evidence: Evidence, value: str) -> str:
        """A value in words: ours, else the release's, else as it stands (numbers)."""
        return self.glosses.get(value) or evidence.meanings.get(value) or value

    def label(self, condition: str) -> Label:
        """A condition with its aliases and description; one that is not known here has neither."""
        return self.labels.get(condition, Label(condition))


def questions_digest(evidences: Mapping[str, Evidence]) -> str:
    """SHA-256 of all questions and glosses of a release: a code could mean something else in another one."""
    return digest({code: [evidence.question, dict(evidence.meanings)] for code, evidence in evidences.items()})


def load_wording(folder: Path = FOLDER) -> Wording:
    """The texts that lie beside this module."""
    sentences = {
        row.cells["evidence"]: row.cells["text"] for row in _rows(folder / "sentences.csv", "evidence", "text")
    }
    glosses = {row.cells["value"]: row.cells["text"] for row in _rows(folder / "glosses.csv", "value", "text")}
    labels = {}
    for row in _rows(folder / "labels.csv", "label", "aliases", "description"):
        aliases = tuple(filter(None, row.cells["aliases"].split("|")))
        labels[row.cells["label"]] = Label(row.cells["label"], aliases, row.cells["description"])
    return Wording(sentences, glosses, labels)


def _rows(path: Path, *columns: str) -> list[Row]:
    faults: list[Fault] = []
    rows = read_table(path, columns, faults)
    if rows is None or faults:
        raise BadInput(faults)
    return rows
