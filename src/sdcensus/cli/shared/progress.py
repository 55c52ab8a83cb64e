"""Bars for whatever takes longer than two seconds; nothing for the rest."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

from sdcensus.cli.shared.console import Output
from sdcensus.model.quantities import share_text

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: Seconds of work without a sign that anything happens.
PATIENCE = 2.0


class Stages:
    """Shows the stages of a piece of work on stderr while it runs.

    It is called with the name of a stage and how much of it is done, from 0 to 1. A terminal gets
    a bar for each stage, which disappear at the end; a file or a pipe gets a line for each.
    """

    def __init__(self, output: Output, first: str, *, patience: float = PATIENCE) -> None:
        self._output = output
        self._stage, self._done = first, 0.0
        self._lock = threading.Lock()
        self._begun = self._ended = False
        self._bars: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._timer = threading.Timer(patience, self._begin)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if not self._output.quiet:
            self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._ended = True
            if self._bars is not None:
                self._bars.stop()

    def __call__(self, stage: str, done: float) -> None:
        """Say how far the work is."""
        stage = stage[:1].lower() + stage[1:]
        with self._lock:
            new = stage != self._stage
            self._stage, self._done = stage, done
            if self._begun:
                self._show(new=new)

    def _begin(self) -> None:
        with self._lock:
            if self._ended:
                return
            self._begun = True
            if self._output.err.is_terminal:
                # Most commands end before a bar is needed.
                from rich.progress import (
                    BarColumn,
                    Progress,
                    SpinnerColumn,
                    TextColumn,
                    TimeElapsedColumn,
                )

                self._bars = Progress(
                    SpinnerColumn(spinner_name="line"),
                    TextColumn("{task.description}", markup=False),
                    BarColumn(bar_width=24),
                    TextColumn("{task.fields[share]}", markup=False),
                    TimeElapsedColumn(),
                    console=self._output.err,
                    transient=True,
                )
                self._bars.start()
            self._show(new=True)

    def _show(self, *, new: bool) -> None:
        if self._bars is None:
            if new:
                self._output.note(f"{self._stage} ...")
            return
        if self._stage not in self._tasks:
            for task in self._bars.tasks:
                if not task.finished:
                    self._bars.update(task.id, total=1.0, completed=1.0, share="100 %")
            self._tasks[self._stage] = self._bars.add_task(self._stage, total=None, share="")
        known = self._done > 0
        self._bars.update(
            self._tasks[self._stage],
            total=1.0 if known else None,
            completed=self._done,
            share=share_text(round(self._done, 2), digits=0).rjust(5) if known else "",
        )
