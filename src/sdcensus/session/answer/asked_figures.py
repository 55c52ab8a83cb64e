"""What a policy says of sums, means and medians of amounts, by code lists alone. Public."""

from __future__ import annotations

from sdcensus.model.policy.policy import Policy, UserRole
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.question import Question
from sdcensus.session.answer.recipe import compile_offered
from sdcensus.session.policy import (
    Outcome,
    Verdict,
    amount_policy,
    ask,
    refused_measure,
    told_of_amount,
)


def rules_of(policy: Policy, part: Question, asked: Question) -> Policy:
    """What may be asked of counts, of an amount, or of the counts that a figure of it needs.

    Args:
        policy: What may be asked.
        part: A question of which the answer to another is computed, or that one itself.
        asked: The other.
    """
    rule = None if asked.figure is None else policy.amount_rule(asked.figure.amount)
    return policy if rule is None else amount_policy(policy, rule, counts=part.figure is None)


def refused_figure(policy: Policy, asked: Question, of: Entity) -> Verdict | None:
    """Why a figure of an amount is not given, whatever it is computed of; ``None`` otherwise."""
    reason = None if asked.figure is None else refused_measure(policy, asked.figure, of)
    return None if reason is None else Verdict((reason,))


def ask_figure(policy: Policy, question: Question, role: str | UserRole) -> Verdict:
    """What a policy says of a question about an amount, and of all that it is computed of.

    Raises:
        QuestionError: The question names something that does not exist or is not offered.
    """
    # Here and not above: figures are computed from answers.
    from sdcensus.session.figures.answers import parts_of

    units = tuple(Entity)
    verdict = refused_figure(policy, question, Entity.parse(question.of))
    if verdict is None:
        for part in parts_of(question, policy):
            rules = rules_of(policy, part, question)
            compiled = compile_offered(part, rules, units)
            verdict = ask(rules, compiled.spec, role=role, cells=compiled.cells)
            if verdict.outcome is Outcome.REFUSED:
                break
    assert verdict is not None  # every question has a part
    return told_of_amount(policy, question.figure, verdict)
