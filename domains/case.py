"""A domain (a closed set of labels and the findings known of it) and a case (what was found)."""

import hashlib
import json
import unicodedata
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal

import orjson

from domains.errors import BadInput, Fault

Kind = Literal["context", "evidence"]
KINDS: tuple[Kind, Kind] = ("context", "evidence")
LONGEST_REMEMBERED = 200
"""Characters of a text whose folding is kept: names are shorter, and whoever sends more shall not fill the memory."""


@dataclass(frozen=True, slots=True)
class Label:
    """One of the closed set, with the other names it goes by."""

    name: str
    aliases: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that can be present or absent in a case.

    Context precedes the label (age, history, what was changed last week); evidence is what was then observed.
    Findings of one `group` say the same thing in several values (the places where it hurts).
    """

    id: str
    text: str
    kind: Kind
    group: str = ""


@dataclass(frozen=True, slots=True)
class Observation:
    """A finding stated present or absent. `known` tells a finding of the pack from an ad-hoc one."""

    finding: Finding
    present: bool = True
    known: bool = True


@dataclass(frozen=True)
class Case:
    """What is known of one instance. Silence about a finding is no evidence: only stated findings are here.

    Observations stand in canonical order (the pack's, then ad-hoc ones by id), so that the same content is the
    same case, asked with the same prompts, whatever order it was sent in.
    """

    id: str
    context: tuple[Observation, ...]
    evidence: tuple[Observation, ...]
    gold: str | None = None

    def observations(self, kind: Kind) -> tuple[Observation, ...]:
        """The case's context or its evidence."""
        return self.context if kind == "context" else self.evidence

    @cached_property
    def stated(self) -> frozenset[tuple[str, bool]]:
        """What is stated, as pairs of a finding's id and whether it is present."""
        return frozenset([(o.finding.id, o.present) for o in (*self.context, *self.evidence)])

    @cached_property
    def worked_out(self) -> dict[Hashable, str]:
        """What was worked out of this case for the first prompt that needs it: its text, and its seed in a domain."""
        return {}


@dataclass(frozen=True, slots=True)
class Exemplar:
    """A worked case for few-shot prompts: the case, its label (`case.gold`) and why."""

    case: Case
    reasoning: str


@dataclass(frozen=True, eq=False)
class Domain:
    """A closed set of labels, what a case and a label are called there, and the findings that are known.

    Compared by identity, so that what depends on a domain alone can be kept beside it.
    """

    name: str
    title: str
    case_noun: str
    label_noun: str
    labels: tuple[Label, ...]
    findings: tuple[Finding, ...] = ()
    exemplars: tuple[Exemplar, ...] = ()
    top_k: int = 5
    licence: str = ""
    description: str = ""
    personas: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def label_names(self) -> tuple[str, ...]:
        """The labels' names in the domain's order: the label axis L."""
        return tuple(label.name for label in self.labels)

    @cached_property
    def finding_index(self) -> dict[str, int]:
        """Finding id → its place in the pack."""
        return {finding.id: place for place, finding in enumerate(self.findings)}

    @cached_property
    def observations(self) -> Mapping[tuple[str, bool], Observation]:
        """Each known finding, by its id, stated present and absent."""
        return {(each.id, present): Observation(each, present) for each in self.findings for present in (True, False)}

    @cached_property
    def _spellings(self) -> dict[str, int | None]:
        """Every folded spelling → its label, or None where two labels share it (`Rh+` and `Rh-`)."""
        spellings: dict[str, int | None] = {}
        for place, label in enumerate(self.labels):
            key = fold(label.name)
            spellings[key] = None if key in spellings else place
        aliases: dict[str, int | None] = {}
        for place, label in enumerate(self.labels):
            for alias in label.aliases:
                key = fold(alias)
                aliases[key] = place if aliases.get(key, place) == place else None
        return aliases | spellings

    @cached_property
    def exact(self) -> Mapping[str, int]:
        """Each label as it is written → its place on the label axis."""
        return {label.name: place for place, label in enumerate(self.labels)}

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what a reply's meaning depends on: the labels in their order, and their aliases."""
        return digest([[label.name, *label.aliases] for label in self.labels])

    def resolve(self, text: str) -> int | None:
        """The label a text names: by its name, exactly or after folding, else by an alias, else none. Never by a
        part of a name, never by a similar one (method.md, Forward posteriors)."""
        exact = self.exact.get(text.strip())
        return self._spellings.get(fold(text)) if exact is None else exact

    def case_seed(self, case: Case) -> str:
        """SHA-256 of the domain and the case's content without its id, hexadecimal: seeds every shuffle."""
        seed = case.worked_out.get(self)
        if seed is None:
            content: dict[str, object] = {"domain": self.name, "labels": self.label_names}
            for kind in KINDS:
                content[kind] = [[o.finding.id, o.finding.text, o.present] for o in case.observations(kind)]
            seed = case.worked_out[self] = digest(content)
        return seed


def digest(content: object) -> str:
    """SHA-256, hexadecimal, of a value's canonical JSON."""
    try:
        canonical = orjson.dumps(content, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # orjson refuses lone surrogates and integers beyond 64 bits; JSON does not
        spelled = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        canonical = spelled.encode("utf-8", "surrogatepass")
    return hashlib.sha256(canonical).hexdigest()


def fold(text: str) -> str:
    """A name without case, accents, punctuation and spacing, for comparing two spellings of the same name."""
    return _folded(text) if len(text) <= LONGEST_REMEMBERED else _folded.__wrapped__(text)


@lru_cache(maxsize=16_384)
def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text).casefold()  # decomposed first: `℃` holds a capital
    decomposed = unicodedata.normalize("NFKD", folded)
    kept = (
        character if character.isalnum() else " " for character in decomposed if not unicodedata.combining(character)
    )
    return " ".join("".join(kept).split()) or text.strip().casefold()


def build_case(
    domain: Domain,
    stated: Mapping[Kind, Iterable[Mapping[str, object]]],
    case_id: str = "",
    gold: str | None = None,
    where: str = "case",
) -> Case:
    """A case from stated findings, each `{"id", "text"?, "present"?}`; every fault in it is named by its path.

    Known ids take the pack's text and kind; an unknown id needs a text and is an ad-hoc finding.

    Raises:
        BadInput: unknown id without text, a finding stated twice or in the wrong half, no finding at all,
            a gold label outside the domain.
    """
    faults: list[Fault] = []
    seen: dict[str, bool] = {}
    order = domain.finding_index
    halves: dict[Kind, list[tuple[int, str, Observation]]] = {"context": [], "evidence": []}
    for kind in KINDS:
        for place, item in enumerate(stated.get(kind, ())):
            path = f"{where}.{kind}.{place}.id"
            finding_id, present = str(item["id"]), bool(item.get("present", True))
            observation = domain.observations.get((finding_id, present)) or _ad_hoc(kind, item, path, faults)
            if observation is None:
                continue
            if observation.finding.kind != kind:
                faults.append(Fault(path, f"is {observation.finding.kind} in this domain, not {kind}"))
                continue
            if finding_id in seen:
                contradiction = seen[finding_id] != present
                faults.append(Fault(path, "stated both present and absent" if contradiction else "stated twice"))
            seen.setdefault(finding_id, present)
            halves[kind].append((order.get(finding_id, len(order)), finding_id, observation))
    if not seen and not faults:
        faults.append(Fault(where, "no finding at all: state at least one context or evidence finding"))
    if gold is not None and gold not in domain.label_names:
        faults.append(Fault(f"{where}.gold", "not a label of the domain"))
    if faults:
        raise BadInput(faults)
    context, evidence = [tuple([observation for _, _, observation in sorted(halves[kind])]) for kind in KINDS]
    return Case(case_id, context, evidence, gold)


def _ad_hoc(kind: Kind, item: Mapping[str, object], path: str, faults: list[Fault]) -> Observation | None:
    """A finding that the domain does not know, as it is stated."""
    text = item.get("text")
    if not isinstance(text, str) or not text.strip():
        faults.append(Fault(path, "the domain does not know this finding; an ad-hoc finding needs a text"))
        return None
    return Observation(
        Finding(str(item["id"]), " ".join(text.split()), kind), bool(item.get("present", True)), known=False
    )
