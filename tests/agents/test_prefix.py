"""How much of a case's forward prompts a prefix cache can serve."""

from agents.personas import PERSONAS
from agents.prefix import shared_prefix
from domains.catalogue import Catalogue

DOMAIN = Catalogue().get("chest_pain")
CASE = DOMAIN.exemplars[0].case


def test_three_quarters_of_the_five_prompts_are_one_text() -> None:
    assert shared_prefix(DOMAIN, CASE).share >= 0.75


def test_worked_examples_make_the_share_smaller() -> None:
    shared = shared_prefix(DOMAIN, CASE)

    assert shared.share_with_exemplars < shared.share


def test_what_the_domain_fixes_stands_first_whatever_the_case() -> None:
    fixed = {shared_prefix(DOMAIN, exemplar.case).fixed for exemplar in DOMAIN.exemplars}

    assert len(fixed) == 1
    assert 0 < fixed.pop() < shared_prefix(DOMAIN, CASE).common


def test_one_prompt_is_its_own_prefix() -> None:
    assert shared_prefix(DOMAIN, CASE, [PERSONAS["cot"]]).share == 1.0
