"""Personas: five ways to go about the same forward question, a neutral one beside them, and those of one's own.

A persona is a Markdown file: its instructions, and before them, between `+++` lines, its title and how many worked
examples it wants.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Any

from domains.case import KINDS, Case, Domain, Exemplar
from domains.errors import BadInput, Fault
from domains.posterior import PARSER, Posterior, read_posterior
from domains.prompts import Form, load_prompt, text_digest
from domains.question import FORWARD_SAMPLING, Message, Question
from domains.rendering import render_case, render_findings, render_labels
from domains.structured import closed, listed_posterior

POOL = ("tot", "medprompt", "cot", "common_bias", "rare_bias")
"""The forward pool's personas, in the paper's order (section 4.3)."""
GENERIC = "generic"
"""The persona of GenF, outside the pool (method.md, Other anchors)."""

MOST_EXEMPLARS = 20
LONGEST_PERSONA = 20_000
"""Characters of a persona's file."""
LONGEST_TITLE = 60

_FOLDER = Path(__file__).parent / "prompts"
_FORWARD = load_prompt(_FOLDER / "forward.md")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_FENCE = re.compile(r"^\+\+\+[ \t]*$", re.MULTILINE)
_PLACEHOLDERS = {"case_noun", "label_noun", "exemplars"}
_RESERVED = frozenset(KINDS)
"""Names of the elicitation steps: a record says by name who or what gave no answer."""
_KEYS = {"title": str, "exemplars": int, "no_exemplars": str}


@dataclass(frozen=True, slots=True)
class Persona:
    """A way to go about a forward question.

    `text` may hold `$case_noun` and `$label_noun`, and `$exemplars` where `exemplars` worked examples go (where a
    domain has none: `no_exemplars`). `digest` is the hash of the file.
    """

    name: str
    title: str
    text: str
    exemplars: int
    digest: str
    no_exemplars: str = "(No worked examples are at hand.)"


@lru_cache(maxsize=128)
def read_persona(name: str, text: str) -> Persona:
    """A persona from its file's text; without front matter its title is its name and it wants no worked examples.

    Raises:
        BadInput: naming the file and everything that is wrong with it.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").strip()
    faults = [] if _NAME.fullmatch(name) else ["its name must be lower-case letters, digits, _ and -, at most 40"]
    if name in _RESERVED:
        faults.append(f"{name} is the name of an elicitation step; choose another name")
    if len(text) > LONGEST_PERSONA:
        faults.append(f"is longer than {LONGEST_PERSONA} characters")
    front, body = _parts(text, faults)
    title = " ".join(str(front.get("title", re.sub("[_-]+", " ", name))).split())
    exemplars = int(front.get("exemplars", 0))
    if not 1 <= len(title) <= LONGEST_TITLE:
        faults.append(f"title must have 1 to {LONGEST_TITLE} characters")
    if not 0 <= exemplars <= MOST_EXEMPLARS:
        faults.append(f"exemplars must be 0 to {MOST_EXEMPLARS}")
    faults.extend(_faults_of_body(body, exemplars > 0))
    if faults:
        raise BadInput([Fault(_file(name), fault) for fault in faults])
    persona = Persona(name, title, body, exemplars, text_digest(text))
    return replace(persona, no_exemplars=front["no_exemplars"]) if "no_exemplars" in front else persona


def _parts(text: str, faults: list[str]) -> tuple[dict[str, Any], str]:
    """Front matter and body; what is wrong with the front matter is appended and left out."""
    if not _FENCE.match(text):
        return {}, text
    parts = _FENCE.split(text, maxsplit=2)
    if len(parts) < 3:
        faults.append("its front matter is not closed by a line of +++")
        return {}, text
    try:
        front = tomllib.loads(parts[1])
    except tomllib.TOMLDecodeError as error:
        faults.append(f"its front matter is not TOML: {error}, counted from the first +++")
        return {}, parts[2].strip()
    for key in [key for key, value in front.items() if type(value) is not _KEYS.get(key)]:
        del front[key]
        kind = {str: "a text", int: "a whole number"}.get(_KEYS.get(key, object))
        faults.append(
            f"{key} must be {kind}" if kind else f"front matter has title, exemplars, no_exemplars; not {key}"
        )
    return front, parts[2].strip()


def _faults_of_body(body: str, wants_exemplars: bool) -> list[str]:
    if not body:
        return ["has no instructions"]
    template = Template(body)
    if not template.is_valid():
        return ["has a $ that begins no placeholder; write $$ for the sign itself"]
    used = set(template.get_identifiers())
    faults = [f"has an unknown placeholder ${name}" for name in sorted(used - _PLACEHOLDERS)]
    if wants_exemplars != ("exemplars" in used):
        faults.append("asks for exemplars and must say where with $exemplars, or neither")
    return faults


def _file(name: str) -> str:
    return f"personas/{name}.md"


def _built_in(name: str) -> Persona:
    return read_persona(name, (_FOLDER / _file(name)).read_text("utf-8"))


PERSONAS: Mapping[str, Persona] = MappingProxyType({name: _built_in(name) for name in (*POOL, GENERIC)})
"""The built-in personas by name."""


def personas_for(domain: Domain, extra: Mapping[str, str] = MappingProxyType({})) -> dict[str, Persona]:
    """Everyone who can be asked about a domain: the built-in personas, the pack's own, those of the data folder.

    `extra` is the data folder's: file stem → text.

    Raises:
        BadInput: one of them is bad, or takes a name or a title that is taken; all such faults at once.
    """
    personas = dict(PERSONAS)
    faults: list[Fault] = []
    for texts in (domain.personas, extra):
        for name, text in texts.items():
            try:
                persona = read_persona(name, text)
            except BadInput as error:
                faults.extend(error.faults)
                continue
            taken = {other.title.casefold() for other in personas.values()}
            if name in personas:
                faults.append(Fault(_file(name), f"there is a persona {name} already; choose another name"))
            elif persona.title.casefold() in taken:
                faults.append(Fault(_file(name), "another persona has this title already; choose another"))
            else:
                personas[name] = persona
    if faults:
        raise BadInput(faults)
    return personas


def forward_question(domain: Domain, case: Case, persona: Persona) -> Question[Posterior]:
    """What a persona is asked about a case: the `top_k` most probable labels with their probabilities.

    The system text is the same for every case and persona of the domain, and the case stands before the persona, so
    that a provider's prefix cache can serve the agents of one case.
    """
    versions = {"prompt": _FORWARD.digest, "persona": persona.digest, "parser": PARSER, "labels": domain.digest}
    shown = persona.no_exemplars
    nearest = nearest_exemplars(domain, case, persona.exemplars)
    if nearest:
        shown = _render_exemplars(domain, nearest)
        versions["exemplars"] = text_digest(shown)
    nouns = _nouns(domain)
    user = _FORWARD.user_message(
        **nouns,
        top_k=str(domain.top_k),
        case=render_case(domain, case),
        persona_title=persona.title,
        persona=_instructions(persona.text).filled({**nouns, "exemplars": shown}),
    )
    return Question(
        name=persona.name,
        messages=(_system_message(domain), user),
        sampling=FORWARD_SAMPLING,
        schema=posterior_schema(domain),
        parse=partial(read_posterior, domain=domain),
        versions=versions,
    )


@lru_cache(maxsize=64)
def _system_message(domain: Domain) -> Message:
    """What every forward question about a domain begins with."""
    return _FORWARD.system_message(
        **_nouns(domain),
        description=domain.description or domain.title,
        labels=render_labels(domain),
        label_count=str(len(domain.labels)),
        top_k=str(domain.top_k),
    )


@lru_cache(maxsize=64)
def _instructions(text: str) -> Form:
    return Form(text)


def _nouns(domain: Domain) -> dict[str, str]:
    return {"case_noun": domain.case_noun, "label_noun": domain.label_noun}


@lru_cache(maxsize=64)
def posterior_schema(domain: Domain) -> Mapping[str, Any]:
    """The JSON schema of a forward reply."""
    return closed({"reasoning": {"type": "string"}, "posterior": listed_posterior(domain)})


def has_exemplars(domain: Domain, persona: Persona) -> bool:
    """Whether a domain has the worked examples that a persona wants, if it wants any."""
    return persona.exemplars == 0 or bool(domain.exemplars)


def nearest_exemplars(domain: Domain, case: Case, count: int) -> tuple[Exemplar, ...]:
    """The worked examples most like a case, at most `count`, the most similar last.

    Likeness is the share of stated findings that both have in the same state (Jaccard); ties go to the pack's order.
    An example with the very findings of the case is left out: it would tell its label.
    """
    if count == 0:
        return ()
    stated = case.stated
    others = [exemplar for exemplar in domain.exemplars if exemplar.case.stated != stated]
    likeness = [
        (both := len(stated & other.case.stated)) / (len(stated) + len(other.case.stated) - both) for other in others
    ]
    nearest = sorted(range(len(others)), key=likeness.__getitem__, reverse=True)[:count]
    return tuple([others[place] for place in reversed(nearest)])


def _render_exemplars(domain: Domain, exemplars: tuple[Exemplar, ...]) -> str:
    return "\n\n".join(
        [
            f"## Worked example {place} of {len(exemplars)}\n\n"
            f"{render_findings(exemplar.case)}\n\n"
            f"Reasoning: {exemplar.reasoning}\n\n"
            f"True {domain.label_noun}: {exemplar.case.gold}"
            for place, exemplar in enumerate(exemplars, start=1)
        ]
    )
