"""What a policy says of sums, means and medians of amounts, by code lists alone. Public."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from sdcensus.model.policy.policy import Policy, UserRole
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.measures import FigureOf
from sdcensus.model.spec.question import Question
from sdcensus.model.vocabulary import AmountFigure
from sdcensus.session.answer.recipe import compile_offered
from sdcensus.session.policy import (
    Outcome,
    Verdict,
    amount_policy,
    ask,
    refused_measure,
    told_of_amount,
)


def rules_of(policy: Policy, part: Question) -> Policy:
    """What may be asked of an amount, or of counts."""
    rule = None if part.figure is None else policy.amount_rule(part.figure.amount)
    return policy if rule is None else amount_policy(policy, rule)


def refused_figure(
    policy: Policy, asked: Question, of: Entity, units: Container[Entity], role: str | UserRole
) -> Verdict | None:
    """Why a figure of an amount is not given, whatever it is computed of; ``None`` otherwise.

    Args:
        policy: What may be asked.
        asked: The question.
        of: What it is about.
        units: What is counted at all.
        role: Who asks.
    """
    figure = asked.figure
    if figure is None:
        return None
    reason = refused_measure(policy, figure, of)
    if reason is not None:
        return Verdict((reason,))
    if figure.figure is not AmountFigure.MEDIAN:
        return None
    # A median is computed of counts, and shown by no more than the amount is.
    sums = replace(asked, measure=str(FigureOf(AmountFigure.SUM, figure.amount)))
    rules = rules_of(policy, sums)
    compiled = compile_offered(sums, rules, units)
    verdict = ask(rules, compiled.spec, role=role, cells=compiled.cells)
    return verdict if verdict.outcome is Outcome.REFUSED else None


def ask_figure(policy: Policy, question: Question, role: str | UserRole) -> Verdict:
    """What a policy says of a question about an amount, and of all that it is computed of.

    Raises:
        QuestionError: The question names something that does not exist or is not offered.
    """
    # Here and not above: figures are computed from answers.
    from sdcensus.session.figures.answers import parts_of

    units = tuple(Entity)
    verdict = refused_figure(policy, question, Entity.parse(question.of), units, role)
    if verdict is None:
        for part in parts_of(question, policy):
            rules = rules_of(policy, part)
            compiled = compile_offered(part, rules, units)
            verdict = ask(rules, compiled.spec, role=role, cells=compiled.cells)
            if verdict.outcome is Outcome.REFUSED:
                break
    assert verdict is not None  # every question has a part
    return told_of_amount(policy, question.figure, verdict)
