"""How often each root evidence is present in each condition: what the stand-in LLM knows of DDXPlus."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from domains.case import Finding
from domains.ddxplus.patients import PatientFile, find_patients, read_patients
from domains.ddxplus.release import Release, read_json
from domains.ddxplus.vocabulary import Vocabulary, root_of
from domains.errors import BadInput, Fault

ROOT_COUNTS_FILE = "train_root_counts.json"
SLOT_PROBABILITY = 0.5
"""What a root in a condition's slots is given where nothing was counted; the release itself has no probabilities."""
UNSEEN_PATIENTS = 0.5
"""What a condition without any counted patient counts as, so that it stays possible."""
NEUTRAL_ROOTS = frozenset({"E_204", "age", "sex"})
"""Roots that every patient has some value of, so that their counts say nothing."""

Shares = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Table:
    """P(root | condition) by condition and root, each condition's share of cases, and where both come from."""

    share: Mapping[str, float]
    probability: Shares
    origin: str
    notes: tuple[str, ...] = ()

    def rows(self, findings: tuple[Finding, ...]) -> Iterator[tuple[str, str, str]]:
        """The rows of `knowledge.csv`: a condition's share of cases, then its findings, each by its root."""
        for condition, share in self.share.items():
            yield condition, "", f"{share:.8g}"
            roots = self.probability[condition]
            for finding in findings:
                root = root_of(finding)
                if root in roots and root not in NEUTRAL_ROOTS:
                    yield condition, finding.id, f"{roots[root]:.6g}"


def build_table(folder: Path, release: Release, vocabulary: Vocabulary) -> Table:
    """From the root counts if they lie in the folder, else counted from the train file, else from the slots.

    Raises:
        BadInput: the file that is there cannot be used.
    """
    if (folder / ROOT_COUNTS_FILE).is_file():
        return _from_root_counts(folder / ROOT_COUNTS_FILE, release)
    train = find_patients(folder, "train")
    if train is not None:
        return _from_patients(train, release, vocabulary)
    share = dict.fromkeys(release.conditions, 1 / len(release.conditions))
    slots = {name: dict.fromkeys(sorted(codes), SLOT_PROBABILITY) for name, codes in release.conditions.items()}
    origin = f"the conditions' slots: probability {SLOT_PROBABILITY} for each listed evidence, equal shares of cases"
    return Table(share, slots, origin)


def _from_root_counts(path: Path, release: Release) -> Table:
    faults: list[Fault] = []
    stated = read_json(path, faults)
    if faults:
        raise BadInput(faults)
    fields = stated if isinstance(stated, dict) else {}
    patients, roots = fields.get("condition_counts"), fields.get("root_counts")
    if not isinstance(patients, dict) or not isinstance(roots, dict):
        raise BadInput.at(path.name, "needs the objects condition_counts and root_counts")
    for condition in release.conditions:
        count, present = patients.get(condition), roots.get(condition)
        if type(count) is not int or count < 1 or not isinstance(present, dict):
            faults.append(Fault(f"{path.name}: {condition}", "has no counts"))
        elif not all(type(number) is int and 0 <= number <= count for number in present.values()):
            faults.append(Fault(f"{path.name}: {condition}", "a root's count is no whole number up to the condition's"))
    if faults:
        raise BadInput(faults)
    return _table(release, patients, roots, path.name)


def _from_patients(train: PatientFile, release: Release, vocabulary: Vocabulary) -> Table:
    patients: Counter[str] = Counter()
    roots: dict[str, Counter[str]] = defaultdict(Counter)
    root = {token: root_of(finding) if finding else "" for token, finding in vocabulary.by_token.items()}
    for patient in read_patients(train):
        if patient.pathology not in release.conditions:
            raise BadInput.at(patient.where, "PATHOLOGY is no condition of the release")
        try:
            present = {root[token] for token in patient.tokens} - {""}
        except KeyError:
            raise BadInput.at(patient.where, "EVIDENCES holds a token that the release does not have") from None
        patients[patient.pathology] += 1
        counts = roots[patient.pathology]
        for code in present:
            counts[code] += 1
    return _table(release, patients, roots, f"counted from {train.path.name} ({patients.total()} patients)")


def _table(release: Release, patients: Mapping[str, int], roots: Mapping[str, Mapping[str, int]], origin: str) -> Table:
    counted = {name: patients.get(name, 0) or UNSEEN_PATIENTS for name in release.conditions}
    total = sum(counted.values())
    probability = {
        name: {root: number / counted[name] for root, number in roots.get(name, {}).items()} for name in counted
    }
    unseen = [name for name in counted if not patients.get(name)]
    notes = (f"no patient to count for {len(unseen)} of the conditions: {', '.join(unseen)}",) if unseen else ()
    return Table({name: number / total for name, number in counted.items()}, probability, origin, notes)
