"""Reads the project's prompts back: which pack, which case, who asks, what agents answered; or which pairs to rate.

Only the prompt's own frame is read. Texts of findings are compared with those the pack knows and never interpreted, so
that nothing inside a case can steer the stand-in.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from domains.case import KINDS, Domain, Kind
from domains.errors import CrosspathError
from domains.knowledge import Knowledge
from domains.question import Message
from domains.rendering import HEADINGS, render_labels

_LABELS_HEADING = re.compile(r"^# The closed list of .*$", re.MULTILINE)
_CASE_BLOCK = re.compile(
    r"^--- begin (?P<marker>.+ record [0-9a-f]{12}) ---\n(?P<body>.*?)\n--- end (?P=marker) ---$",
    re.MULTILINE | re.DOTALL,
)
_ANSWER = re.compile(
    r"^--- begin answer of (?P<agent>Agent \w+ [0-9a-f]{12}) ---\n(?P<body>.*?)\n--- end answer of (?P=agent) ---$",
    re.MULTILINE | re.DOTALL,
)
_MASS = re.compile(r"^- (?P<label>.+): (?P<mass>[01]\.\d{3})$", re.MULTILINE)
_JUDGE = re.compile(r"^# How to judge: (?P<title>.+)$", re.MULTILINE)
_PERSONA = re.compile(r"^# How to go about it: (?P<title>.+)$", re.MULTILINE)
_RATED: Mapping[str, Kind] = {"# Findings": "evidence", "# Background facts": "context"}
_CANDIDATES, _WANTED = "# Candidates", "# What to rate"
_CODED = re.compile(r"- (?P<code>[CF]\d+): (?P<text>.*)")


class NotUnderstood(CrosspathError):
    """A prompt that is none of the project's, or is about no label that the stand-in knows."""


@dataclass(frozen=True)
class Pack:
    """A domain with the knowledge that the stand-in answers from."""

    domain: Domain
    knowledge: Knowledge

    @cached_property
    def label_lines(self) -> dict[str, int]:
        """How a prompt may list a label → its place."""
        names = {name: place for place, name in enumerate(self.domain.label_names)}
        rendered = render_labels(self.domain).splitlines()
        return {line.removeprefix("- "): place for place, line in enumerate(rendered)} | names

    @cached_property
    def finding_texts(self) -> dict[tuple[Kind, str], int]:
        """Kind and text of a finding → its place."""
        return {(finding.kind, finding.text): place for place, finding in enumerate(self.domain.findings)}


@dataclass(frozen=True, slots=True)
class ForwardPrompt:
    """A case to be judged: the listed labels, the known findings with their presence, who asks."""

    pack: Pack
    labels: tuple[int, ...]
    observed: tuple[tuple[int, bool], ...]
    unknown: int
    title: str


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """A case to be judged beside what agents answered: (label, mass) pairs of each. `title` is the way to judge."""

    case: ForwardPrompt
    ballots: tuple[tuple[tuple[int, float], ...], ...]
    title: str

    @property
    def pack(self) -> Pack:
        """The pack that the case is of."""
        return self.case.pack


@dataclass(frozen=True, slots=True)
class BackwardPrompt:
    """Pairs to be rated. Codes → places in the pack, None where the pack does not know the text."""

    pack: Pack
    kind: Kind
    candidates: Mapping[str, int | None]
    findings: Mapping[str, int | None]
    wanted: Mapping[str, tuple[str, ...]]


def read_prompt(messages: Sequence[Message], packs: Sequence[Pack]) -> ForwardPrompt | JudgePrompt | BackwardPrompt:
    """What a conversation asks. Later turns (a reply and what was wrong with it) repeat the first question.

    Raises:
        NotUnderstood: none of the project's questions, or about labels that no pack has.
    """
    system = next((message.content for message in messages if message.role == "system"), "")
    user = next((message.content for message in messages if message.role == "user"), "")
    listed = _LABELS_HEADING.search(system)
    block = _CASE_BLOCK.search(user)
    if listed and block:
        after = user[block.end() :]
        case = _read_forward(_items(system[listed.end() :]), block["body"], after, packs)
        return _read_judge(case, after) or case
    sections = _sections(user)
    heading = next((heading for heading in _RATED if heading in sections), None)
    if heading is None or _CANDIDATES not in sections:
        raise NotUnderstood("The stand-in answers Crosspath's own questions and nothing else; this is none of them.")
    return _read_backward(sections, heading, packs)


def _read_forward(listed: list[str], body: str, after: str, packs: Sequence[Pack]) -> ForwardPrompt:
    stated = list(_stated(body))
    pack = _pack_of(listed, [(kind, text) for kind, text, _ in stated], packs)
    places = [(pack.finding_texts.get((kind, text)), present) for kind, text, present in stated]
    persona = _PERSONA.search(after)
    return ForwardPrompt(
        pack=pack,
        labels=tuple(sorted({pack.label_lines[line] for line in listed if line in pack.label_lines})),
        observed=tuple((place, present) for place, present in places if place is not None),
        unknown=sum(place is None for place, _ in places),
        title=persona["title"].strip() if persona else "",
    )


def _read_judge(case: ForwardPrompt, after: str) -> JudgePrompt | None:
    """The answers that stand behind the case, if it is a judge who asks. Their reasons are not read."""
    answers = list(_ANSWER.finditer(after))
    judge = _JUDGE.search(after, answers[-1].end()) if answers else None
    if judge is None:
        return None
    lines = case.pack.label_lines
    ballots = [
        tuple((lines[m["label"]], float(m["mass"])) for m in _MASS.finditer(answer["body"]) if m["label"] in lines)
        for answer in answers
    ]
    return JudgePrompt(case, tuple(ballot for ballot in ballots if ballot), judge["title"].strip())


def _read_backward(sections: Mapping[str, list[str]], heading: str, packs: Sequence[Pack]) -> BackwardPrompt:
    kind = _RATED[heading]
    candidates, findings = _coded(sections[_CANDIDATES]), _coded(sections[heading])
    pack = _pack_of(candidates.values(), [(kind, text) for text in findings.values()], packs)
    missing = _coded(sections.get(_WANTED, []))
    wanted = {code: tuple(re.findall(r"C\d+", pairs)) for code, pairs in missing.items()}
    return BackwardPrompt(
        pack=pack,
        kind=kind,
        candidates={code: pack.label_lines.get(text) for code, text in candidates.items()},
        findings={code: pack.finding_texts.get((kind, text)) for code, text in findings.items()},
        wanted=wanted or dict.fromkeys(findings, tuple(candidates)),
    )


def _pack_of(labels: Iterable[str], findings: Sequence[tuple[Kind, str]], packs: Sequence[Pack]) -> Pack:
    """The pack that knows most of a prompt's texts; it must know at least half of the labels."""
    labels = list(labels)

    def known_labels(pack: Pack) -> int:
        return sum(label in pack.label_lines for label in labels)

    def known(pack: Pack) -> int:
        return known_labels(pack) + sum(finding in pack.finding_texts for finding in findings)

    able = [pack for pack in packs if 2 * known_labels(pack) >= max(len(labels), 1)]
    if not able:
        raise NotUnderstood("The stand-in knows no such labels: it answers about the packs that it was given only.")
    return max(able, key=known)


def _stated(body: str) -> Iterable[tuple[Kind, str, bool]]:
    """Kind, text and presence of every finding of a case block."""
    kinds: dict[str, Kind] = {HEADINGS[kind]: kind for kind in KINDS}
    kind: Kind | None = None
    for line in body.splitlines():
        kind = kinds.get(line, kind)
        for mark, present in (("- present: ", True), ("- absent: ", False)):
            if kind is not None and line.startswith(mark):
                yield kind, line.removeprefix(mark), present


def _items(text: str) -> list[str]:
    """The list items that follow, up to the next heading."""
    lines = text.split("\n# ", 1)[0].splitlines()
    return [line.removeprefix("- ").strip() for line in lines if line.startswith("- ")]


def _sections(text: str) -> dict[str, list[str]]:
    """The lines under each heading."""
    sections: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("# "):
            lines = sections.setdefault(line.strip(), [])
        elif sections:
            lines.append(line)
    return sections


def _coded(lines: Iterable[str]) -> dict[str, str]:
    """Code → text of the items `- C1: text`."""
    matches = (_CODED.fullmatch(line.strip()) for line in lines)
    return {match["code"]: match["text"] for match in matches if match}
