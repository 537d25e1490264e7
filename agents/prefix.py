"""How much of a case's forward prompts is the same text from the beginning on, which a provider's prefix cache serves
once. Counted in characters: the tokens of one language and kind of text are in proportion to them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.personas import PERSONAS, POOL, Persona, forward_question
from domains.case import Case, Domain
from domains.posterior import Posterior
from domains.question import Question

CHARACTERS_A_TOKEN = 4
"""Of English; about as many in other Latin scripts, fewer elsewhere."""
FIVE = tuple(PERSONAS[name] for name in POOL)


@dataclass(frozen=True, slots=True)
class Shared:
    """`fixed` characters stand first in every prompt of a domain, `common` ones in those of this case; the prompts
    together have `plain` without worked examples and `whole` with them."""

    prompts: int
    fixed: int
    common: int
    plain: int
    whole: int

    @property
    def share(self) -> float:
        """Of the prompts without worked examples, the part that lies in their common prefix."""
        return self.prompts * self.common / self.plain

    @property
    def share_with_exemplars(self) -> float:
        """The same of the prompts as they are sent."""
        return self.prompts * self.common / self.whole

    @property
    def tokens(self) -> int:
        """About how many tokens the common prefix has."""
        return self.common // CHARACTERS_A_TOKEN


def shared_prefix(domain: Domain, case: Case, personas: Sequence[Persona] = FIVE) -> Shared:
    """What the forward prompts of these personas about one case have in common."""
    whole = [forward_question(domain, case, persona) for persona in personas]
    plain = [forward_question(domain, case, replace(persona, exemplars=0)) for persona in personas]
    texts = [_text(question) for question in whole]
    return Shared(
        prompts=len(texts),
        fixed=_common([question.messages[0].content for question in whole]),
        common=_common(texts),
        plain=sum(len(_text(question)) for question in plain),
        whole=sum(map(len, texts)),
    )


def _text(question: Question[Posterior]) -> str:
    """What a model reads, message after message."""
    return "\n".join(message.content for message in question.messages)


def _common(texts: Sequence[str]) -> int:
    """How many characters all texts begin with. What the first and the last in the alphabet share, all share."""
    first, last = min(texts), max(texts)
    pairs = zip(first, last, strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(first), len(last)))
