"""What a recommendation is written to: plan, policy, noise, all of them or none."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from sdcensus.documents.plan.document import plan_text
from sdcensus.documents.policy.text import policy_text
from sdcensus.errors import OutputError
from sdcensus.model.plan.plan import PlanPolicy
from sdcensus.session.perturbation import ExchangeFormat, write
from sdcensus.session.recommend.recommendation import (
    PERTURBATION_FILE,
    PLAN_FILE,
    POLICY_FILE,
    Recommendation,
)

_HEAD = (
    "What is published, from what, protected how, delivered as what.",
    "Written by sdcensus recommend. Read it, change it, and then it is yours.",
)


def check_folder(folder: str | Path) -> None:
    """Refuse early a folder in which a recommendation could not be written.

    Raises:
        OutputError: It is no folder, or one of the files exists.
    """
    target = Path(folder)
    if os.path.lexists(target) and not target.is_dir():
        raise OutputError(f"{target} is not a folder. Name a folder, old or new.")
    for name in (PLAN_FILE, POLICY_FILE, PERTURBATION_FILE):
        if os.path.lexists(target / name):
            raise OutputError(
                f"{target / name} already exists. Choose another folder, or remove it first."
            )


def write_recommendation(
    recommendation: Recommendation, store: str | Path, folder: str | Path
) -> tuple[Path, ...]:
    """Write plan, policy and, where the noise is of its own, its perturbation table.

    The folder is made if it is not there. Nothing is written over, and a perturbation table can be
    read by its owner only.

    Raises:
        OutputError: One of the files exists, or cannot be written.
    """
    target = Path(folder)
    files: list[tuple[Path, Callable[[Path], object]]] = []
    noise, plan = recommendation.noise, recommendation.plan
    if not noise.strength:
        files.append(
            (
                target / PERTURBATION_FILE,
                lambda path: write(noise.design, path, ExchangeFormat.PLAIN),
            )
        )
    if recommendation.policy_file is None:
        policy = policy_text(recommendation.policy)
        files.append((target / POLICY_FILE, lambda path: _write_text(path, policy)))
    else:
        named = PlanPolicy(file=path_from(target, recommendation.policy_file))
        plan = replace(plan, policy=named)
    plan = replace(plan, store=path_from(target, Path(store)))
    text = plan_text(plan, comments=_HEAD)
    files.append((target / PLAN_FILE, lambda path: _write_text(path, text)))
    check_folder(target)
    return _write_all(target, files)


def _write_all(
    folder: Path, files: list[tuple[Path, Callable[[Path], object]]]
) -> tuple[Path, ...]:
    """All files or none."""
    paths: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, writer in files:
            writer(path)
            paths.append(path)
    except BaseException as error:
        for path in paths:
            path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            reason = error.strerror or type(error).__name__
            raise OutputError(f"{folder}: cannot be written: {reason}.") from error
        raise
    return tuple(paths)


def _write_text(path: Path, text: str) -> None:
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)


def path_from(folder: Path, target: Path) -> str:
    """A path as a document in a folder names it; absolute where there is no way from there."""
    try:
        path = Path(os.path.relpath(target.resolve(), folder.resolve()))
    except ValueError:  # another drive
        path = target.resolve()
    return path.as_posix()
