"""The stand-in itself: a conversation in, a reply out. Same prompt, model name and seed, same reply."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agents.personas import PERSONAS
from aggregators.judges import JUDGES
from domains.catalogue import Catalogue, load_domain
from domains.errors import BadInput, CrosspathError
from domains.knowledge import KNOWLEDGE_FILE, load_knowledge
from domains.question import Message
from domains.simplex import Array, Index
from simulator import draws
from simulator.judging import Analysis, analyse, concluded, heard
from simulator.obedience import obey, obeys, ordered
from simulator.profiles import load_profiles
from simulator.prompt_reader import BackwardPrompt, ForwardPrompt, JudgePrompt, Pack, read_prompt
from simulator.replies import Dice, Reply, Shapes, Style, Table, write_analysis, write_posterior, write_ratings
from simulator.world import FLAT_RANK, MANNERS, PLAIN, STEP, Profile, Stated, Weighed, World, spoken, state

MODEL = "stand-in"
"""The model with each pack's own default profile; `stand-in-NAME` is the model with the profile NAME."""
_TOLD = 3
"""Findings that the reasons name, at most, for one label."""


class UnknownModel(CrosspathError):
    """A model name that is none of the stand-in's, or has no profile for the pack that a prompt is about."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What of a request a reply depends on. `form` is the response format's type."""

    model: str
    messages: tuple[Message, ...]
    seed: int = 0
    form: str = "text"


class StandIn:
    """The packs that are known, and a world for each profile that was asked for.

    `profile` overrides the packs' own default, `seed` draws other backbones with the same sizes of error. `obedience`
    is the share of questions in which instructions in a case's text are obeyed.

    Raises:
        BadInput: a pack is broken or has no knowledge, or no pack has the profile.
    """

    def __init__(
        self,
        pack_paths: Sequence[Path],
        *,
        profile: str | None = None,
        seed: int = 0,
        shapes: Shapes = "usual",
        obedience: float = 0.0,
    ) -> None:
        self._packs = tuple(load_pack(path) for path in pack_paths)
        self._profiles = {
            pack.domain.name: load_profiles(path) for pack, path in zip(self._packs, pack_paths, strict=True)
        }
        self._profile, self._seed, self._shapes, self._obedience = profile, seed, shapes, obedience
        self._worlds: dict[tuple[str, str], World] = {}
        if profile is not None and f"{MODEL}-{profile}" not in self.models:
            raise BadInput.at("profile", f"unknown; there are {', '.join(sorted(self._names()))}")

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models that can be asked."""
        return (MODEL, *(f"{MODEL}-{name}" for name in sorted(self._names())))

    def _names(self) -> set[str]:
        return {name for profiles in self._profiles.values() for name in profiles.by_name}

    def reply(self, ask: Ask) -> Reply:
        """The answer to the last question of a conversation.

        Raises:
            UnknownModel: no such model, or none for this pack.
            NotUnderstood: the prompt is none of the project's, or about labels that no pack has.
        """
        if ask.model not in self.models:
            raise UnknownModel("The model does not exist.")
        prompt = read_prompt(ask.messages, self._packs)
        world = self._world(prompt.pack, ask.model)
        dice = Dice(draws.key("reply", self._seed, ask.model, ask.seed, ask.messages))
        style = Style(self._shapes, ask.form != "text", dice)
        if self._obedience and obeys(dice, self._obedience):
            order = ordered(ask.messages, prompt.pack.domain.label_names)
            if order is not None:
                return obey(prompt, order, style)
        if isinstance(prompt, ForwardPrompt):
            return _judge(prompt, world, ask.seed, style)
        if isinstance(prompt, JudgePrompt):
            return _hear(prompt, world, ask.seed, style)
        return write_ratings(_rate(prompt, world, ask), style)

    def _world(self, pack: Pack, model: str) -> World:
        """The world of a model for a pack; kept, for its misbeliefs are dear to draw."""
        profiles = self._profiles[pack.domain.name]
        asked = self._profile if model == MODEL else model.removeprefix(f"{MODEL}-")
        name = profiles.default if asked is None else asked
        if name not in profiles.by_name:
            known = ", ".join(f"{MODEL}-{other}" for other in sorted(profiles.by_name))
            raise UnknownModel(f"The model has no profile for these labels; asked about them can be: {known}.")
        key = (pack.domain.name, name)
        if key not in self._worlds:
            profile = profiles.by_name[name]
            backbone = backbone_name(name, profile, self._seed)
            self._worlds[key] = World(pack.domain, pack.knowledge, profile, backbone)
        return self._worlds[key]


def backbone_name(name: str, profile: Profile, seed: int) -> str:
    """What misbeliefs belong to: a profile's name and seed, and the world's seed. Not the model's name, so that
    `stand-in` and `stand-in-NAME` are the same where NAME is a pack's default."""
    return f"{name} {profile.seed} {seed}"


def knowing_packs(catalogue: Catalogue) -> list[Path]:
    """The folders of all packs of a catalogue that the stand-in can answer about: those with knowledge.

    A pack whose own files are broken is left out; the catalogue tells its faults to whoever asks for it.
    """
    return [
        catalogue.path(name)
        for name in catalogue.names()
        if (catalogue.path(name) / KNOWLEDGE_FILE).exists() and _is_sound(catalogue, name)
    ]


def _is_sound(catalogue: Catalogue, name: str) -> bool:
    try:
        catalogue.get(name)
    except BadInput:
        return False
    return True


def load_pack(path: Path) -> Pack:
    """The pack in this folder, which must have knowledge.

    Raises:
        BadInput: the pack is broken, or has none.
    """
    domain = load_domain(path)
    knowledge = load_knowledge(path, domain)
    if knowledge is None:
        raise BadInput.at(path.name, "the pack has no knowledge.csv, so the stand-in knows nothing of it")
    return Pack(domain, knowledge)


def _judge(prompt: ForwardPrompt, world: World, sample: int, style: Style) -> Reply:
    """A forward answer: the persona is known by its title, any other is a plain one."""
    weighed = world.weigh(state(world.domain, [list(prompt.observed)]))
    manner = TITLED.get(prompt.title, PLAIN)
    opinion_NL = world.opinions(weighed, prompt.title, manner, sample)
    best_M, ballot = _ballot(opinion_NL[0], prompt, world)
    return write_posterior(ballot, _reasons(prompt, world, weighed, best_M), world.domain, style)


def _ballot(opinion_L: Array, prompt: ForwardPrompt, world: World) -> tuple[Index, list[tuple[int, float]]]:
    """The best of the listed labels, and those of them that have mass with their stated probabilities."""
    listed_L = np.isin(np.arange(len(opinion_L)), prompt.labels)
    opinion_L = np.where(listed_L, opinion_L / opinion_L[listed_L].sum(), -1.0)
    top_k = min(world.domain.top_k, len(prompt.labels))
    best_NM, unit_NM = spoken(opinion_L[None, :], top_k, world.profile.floor)
    stated = zip(best_NM[0], unit_NM[0], strict=True)
    return best_NM[0], [(int(label), round(float(unit) * STEP, 2)) for label, unit in stated if unit]


def _hear(prompt: JudgePrompt, world: World, sample: int, style: Style) -> Reply:
    """A judge's answer, with a matrix if it is to compare hypotheses."""
    weighed = world.weigh(state(world.domain, [list(prompt.case.observed)]))
    opinion_L = heard(prompt, world, weighed, sample)
    if prompt.title != JUDGES["ach"].title:
        best_M, ballot = _ballot(opinion_L, prompt.case, world)
        return write_posterior(ballot, _reasons(prompt.case, world, weighed, best_M), world.domain, style)
    analysis = analyse(opinion_L, world, weighed)
    best_M, ballot = _ballot(concluded(opinion_L, analysis), prompt.case, world)
    reasons = _reasons(prompt.case, world, weighed, best_M)
    return write_analysis(ballot, _table(analysis, world, weighed), reasons, world.domain, style)


def _table(analysis: Analysis, world: World, weighed: Weighed) -> Table:
    """The matrix in words; what separates the two best hypotheses most is what the verdict hangs on."""
    evidence = tuple(_quoted(world, weighed.stated, int(row)) for row in analysis.row_E)
    first_two_EH = weighed.term_TL[analysis.row_E][:, analysis.label_H[:2]]
    hangs_on = evidence[int(np.argmax(np.ptp(first_two_EH, axis=1)))] if evidence else "nothing that was stated"
    return Table(
        labels=tuple(analysis.label_H.tolist()),
        evidence=evidence,
        marks=analysis.mark_EH,
        sensitivity=f"It hangs most on {hangs_on}.",
    )


TITLED = {PERSONAS[name].title: manner for name, manner in MANNERS.items()}


def _reasons(prompt: ForwardPrompt, world: World, weighed: Weighed, best_M: Index) -> list[str]:
    """What decided, in words: the findings that speak most for the first label against the others on the ballot."""
    names, stated = world.domain.label_names, weighed.stated
    told = [_speaks(world, weighed, int(label), best_M) for label in best_M[:2]]
    reasons = [f"For {names[label]} speaks {what}." for label, what in zip(best_M[:2], told, strict=True)]
    silent = prompt.unknown + int((~world.noticed(stated)).sum())
    if silent:
        reasons.append(f"Left aside: {silent} of the {prompt.unknown + len(stated.finding_T)} stated findings.")
    return reasons


def _speaks(world: World, weighed: Weighed, label: int, best_M: Index) -> str:
    stated, term_TL, _ = weighed
    others_M = best_M[best_M != label]
    if not len(others_M) or not len(term_TL):
        return "nothing in particular"
    gain_T = term_TL[:, label] - term_TL[:, others_M].mean(axis=1)
    rows = [row for row in np.argsort(-gain_T, kind="stable")[:_TOLD] if gain_T[row] > 0]
    texts = [_quoted(world, stated, int(row)) for row in rows]
    return ", ".join(texts) or "how common it is, more than any finding"


def _quoted(world: World, stated: Stated, row: int) -> str:
    text = world.domain.findings[stated.finding_T[row]].text
    return f"“{text}”" if stated.present_T[row] else f"the absence of “{text}”"


def _rate(prompt: BackwardPrompt, world: World, ask: Ask) -> Mapping[str, Mapping[str, int]]:
    """Ranks of the wanted pairs. Strict schemas have the same candidates for every finding, so those get all."""
    known = {code: place for code, place in prompt.findings.items() if place is not None}
    stated = state(world.domain, [[(place, True) for place in known.values()]])
    rank_TL = world.ranks(stated, prompt.kind, ask.seed)
    row = {int(place): t for t, place in enumerate(stated.finding_T[world.shown(stated, prompt.kind)])}
    union = {code for wanted in prompt.wanted.values() for code in wanted}

    def rank(finding: str, candidate: str) -> int:
        place, label = prompt.findings.get(finding), prompt.candidates.get(candidate)
        return FLAT_RANK[prompt.kind] if place is None or label is None else int(rank_TL[row[place], label])

    return {
        finding: {
            code: rank(finding, code)
            for code in prompt.candidates
            if code in (union if ask.form == "json_schema" else wanted)
        }
        for finding, wanted in prompt.wanted.items()
    }
