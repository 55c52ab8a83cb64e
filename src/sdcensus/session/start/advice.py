"""Plan, policy and noise for what was answered; and whether all of it passes the own checks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sdcensus.errors import InputError, OutputError, Refused, SpecError
from sdcensus.model.progress import Progress, no_progress
from sdcensus.session.answer import open_service
from sdcensus.session.census.census import open_store
from sdcensus.session.office.secret import compare_secret
from sdcensus.session.policy import read_policy
from sdcensus.session.publish.estimate import check_plan
from sdcensus.session.recommend.files import write_recommendation
from sdcensus.session.recommend.recommendation import Recommendation, recommend
from sdcensus.session.start.road import Answers, Road


def write_advice(
    road: Road, answers: Answers, *, progress: Progress = no_progress
) -> tuple[Recommendation, tuple[Path, ...]]:
    """Choose noise, policy and tables together, and write them.

    Raises:
        OutputError: Some of the files are there already.
    """
    if road.store is None:
        raise InputError("There is no store yet: load the census first.")
    if road.plan.exists() or road.policy.exists():
        raise OutputError(
            f"{road.advice} holds a plan or a policy, and not both. Move it away, and start again."
        )
    census = open_store(road.store)
    try:
        recommendation = recommend(census, answers.recommended, progress=progress)
    except SpecError:
        if not answers.builder_later:
            raise
        # No builder is possible, now or later: the advice says so itself.
        only = replace(answers, builder_later=False)
        recommendation = recommend(census, only.recommended, progress=progress)
    return recommendation, write_recommendation(recommendation, road.store, road.advice)


def check_advice(road: Road, *, progress: Progress = no_progress) -> None:
    """Ask of plan and policy what the commands ask that will use them.

    The secret is not needed: nothing is drawn here.

    Raises:
        Refused: One of the checks does not let them pass; the message says what would do.
    """
    if road.store is None:
        return
    census = open_store(road.store)
    plan = check_plan(road.plan, secret=_secret(road), progress=progress)
    lines = [f"{risk.of.plural}: {risk.sentence} {risk.remedy}" for risk in plan.gate.risks]
    lines += plan.undecided
    if lines:
        raise Refused("\n".join([f"{road.plan} would not be published as it is.", *lines]))
    policy = read_policy(road.policy, census.schema)
    if road.secret.is_file():
        open_service(census, policy, plan=road.plan, secret=road.secret, progress=progress)


def check_secret(road: Road) -> None:
    """Refuse a secret that is not the one of the store.

    Raises:
        InputError: The store was made with another secret, or with one that is not here.
    """
    if road.store is None:
        return
    made = open_store(road.store).origin.secret_id
    if not made:
        return
    if not road.secret.is_file():
        raise InputError(
            f"{road.store} was made with the secret {made}, and {road.secret} is not there. Name"
            " its file: --secret FILE."
        )
    if compare_secret(road.secret, store=road.store).different:
        raise InputError(
            f"{road.store} was made with the secret {made}, and {road.secret} is another one. Name"
            " its file: --secret FILE."
        )


def _secret(road: Road) -> Path | None:
    return road.secret if road.secret.is_file() else None
