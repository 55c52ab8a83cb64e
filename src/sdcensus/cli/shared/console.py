"""Where the command line writes: answers to stdout, everything else to stderr.

Text is shown as it is: labels of code lists may hold brackets that look like markup. Consoles
that cannot show a sign get the nearest one that they can.
"""

from __future__ import annotations

import codecs
import sys
import textwrap
import threading
import time
import unicodedata
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich import box
from rich.console import Console
from rich.table import Table

from sdcensus.model.quantities import share_text
from sdcensus.model.sentences import speak

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


_PLAIN_ERRORS = "sdcensus-plain"
_PLAIN = {
    "×": "x",
    "…": "...",
    "–": "-",
    "—": "-",
    "−": "-",
    "•": "*",
    "’": "'",
    "\N{LEFT SINGLE QUOTATION MARK}": "'",
    "“": '"',
    "”": '"',
    "≤": "<=",
    "≥": ">=",
    "→": "->",
}


class Output:
    """The two streams of one command."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self.out = _console(stderr=False)
        self.err = _console(stderr=True)

    @property
    def width(self) -> int:
        """How many signs fit on a line of an answer."""
        return self.out.width

    def say(self, text: str = "", *, style: str | None = None) -> None:
        """Write a text to stdout, unless the command is quiet."""
        if not self.quiet:
            _write(self.out, text, style)

    def command(self, text: str) -> None:
        """Write a command to copy: on one line, however long."""
        self.verbatim(f"  {text}")

    def verbatim(self, text: str) -> None:
        """Write lines to copy as they are: a broken one would mean something else."""
        if not self.quiet:
            self.out.print(text, soft_wrap=True)

    def note(self, text: str) -> None:
        """Write something that is not the answer to stderr, unless the command is quiet."""
        if not self.quiet:
            _write(self.err, text, None)

    def show(self, table: Table) -> None:
        """Write a table to stdout, unless the command is quiet."""
        if self.quiet:
            return
        if self.out.is_terminal:
            self.out.print(table)
            return
        # Files and pipes need no blanks at the ends of lines.
        with self.out.capture() as capture:
            self.out.print(table)
        for line in capture.get().splitlines():
            self.out.print(line.rstrip(), soft_wrap=True)


def note_removed(output: Output, paths: Sequence[Path], language: str | None = None) -> None:
    """Say what killed runs had left and this one has removed."""
    if paths:
        output.note(speak("start.load.removed", language, paths=", ".join(map(str, paths))))


def show_error(text: str) -> None:
    """Write an error to stderr. Quiet or not: an exit code alone does not say what to do."""
    _write(_console(stderr=True), f"error: {text}", None)


def plain_table(*, header: bool = True) -> Table:
    """A table with one line under its header and nothing else drawn."""
    return Table(
        box=box.SIMPLE_HEAD if header else None,
        show_header=header,
        header_style="bold",
        pad_edge=not header,
        collapse_padding=True,
        show_edge=False,
    )


def prepare_streams() -> None:
    """Let the console show what it can, and something readable for what it cannot."""
    codecs.register_error(_PLAIN_ERRORS, _nearest)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_PLAIN_ERRORS)
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")


def _console(*, stderr: bool) -> Console:
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def _write(console: Console, text: str, style: str | None) -> None:
    """Wrap words on a terminal, with hanging lines; leave lines alone for files and pipes."""
    if console.is_terminal:
        text = "\n".join(_wrapped(line, console.width) for line in text.split("\n"))
    console.print(text, style=style, soft_wrap=True)


def _wrapped(line: str, width: int) -> str:
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(
        line,
        max(width, 20),
        subsequent_indent=f"{indent}  " if indent else "",
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
        drop_whitespace=bool(line.strip()),
    )


def _nearest(error: UnicodeError) -> tuple[str, int]:
    """Signs that a console has, for those that it has not."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(map(_plain, signs)), error.end


def _plain(sign: str) -> str:
    known = _PLAIN.get(sign)
    if known is not None:
        return known
    letters = "".join(letter for letter in unicodedata.normalize("NFKD", sign) if letter.isascii())
    return letters or "?"


# ---------------------------------------------------------------- as people read and type it


def typed(word: Path | str) -> str:
    """A path, or another word of a command, as it is typed in a console.

    Examples:
        >>> typed(Path("census.store")), typed(Path("census 2021.store"))
        ('census.store', '"census 2021.store"')
    """
    text = str(word)
    return f'"{text}"' if any(sign.isspace() or sign in "&()';<>|" for sign in text) else text


#: Seconds of work without a sign that anything happens.
PATIENCE = 2.0
#: Seconds between two lines about one stage, where there is no bar: a search tells more often.
PAUSE = 10.0
#: Stands between the name of a stage and how far it is in words.
_DETAIL = ": "


class Stages:
    """Shows the stages of a piece of work on stderr while it runs.

    It is called with the name of a stage and how much of it is done, from 0 to 1. Behind a colon
    the name may tell more, such as the best that a search has found. A terminal gets a bar for
    each stage, which disappear at the end; a file or a pipe gets a line for each, and others from
    time to time if there is more to tell.
    """

    def __init__(
        self, output: Output, first: str, *, patience: float = PATIENCE, pause: float = PAUSE
    ) -> None:
        self._output = output
        self._stage, self._done = first, 0.0
        self._pause, self._told = pause, 0.0
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
            new = _name(stage) != _name(self._stage)
            late = stage != self._stage and time.monotonic() - self._told >= self._pause
            self._stage, self._done = stage, done
            if self._begun:
                self._show(new=new or late)

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
                self._told = time.monotonic()
                self._output.note(f"{self._stage} ...")
            return
        name = _name(self._stage)
        if name not in self._tasks:
            for task in self._bars.tasks:
                if not task.finished:
                    self._bars.update(task.id, total=1.0, completed=1.0, share="100 %")
            self._tasks[name] = self._bars.add_task(self._stage, total=None, share="")
        known = self._done > 0
        self._bars.update(
            self._tasks[name],
            description=self._stage,
            total=1.0 if known else None,
            completed=self._done,
            share=share_text(round(self._done, 2), digits=0).rjust(5) if known else "",
        )


def _name(stage: str) -> str:
    return stage.partition(_DETAIL)[0]
