from __future__ import annotations

import io
import time

import pytest
from rich.console import Console

from sdcensus.cli.shared.console import Output, Stages


def watched(*, terminal: bool, quiet: bool = False) -> tuple[Output, io.StringIO]:
    stream = io.StringIO()
    output = Output(quiet=quiet)
    output.err = Console(file=stream, force_terminal=terminal, width=80, markup=False)
    return output, stream


def wait_for(stream: io.StringIO, text: str) -> None:
    deadline = time.monotonic() + 30
    while text not in stream.getvalue() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert text in stream.getvalue()


def test_short_work_shows_nothing() -> None:
    output, stream = watched(terminal=True)
    with Stages(output, "reading", patience=60) as stages:
        stages("reading", 0.5)
        stages("writing", 1.0)
    assert stream.getvalue() == ""


def test_a_pipe_gets_a_line_for_each_stage() -> None:
    output, stream = watched(terminal=False)
    with Stages(output, "reading", patience=0) as stages:
        wait_for(stream, "reading ...\n")
        for done in (0.0, 0.5, 1.0):
            stages("sorting [by area]", done)
    assert stream.getvalue() == "reading ...\nsorting [by area] ...\n"


def test_a_terminal_gets_bars_that_disappear() -> None:
    output, stream = watched(terminal=True)
    with Stages(output, "reading", patience=0) as stages:
        wait_for(stream, "reading")
        stages("sorting [by area]", 0.25)
        wait_for(stream, "sorting [by area]")
        wait_for(stream, "25 %")
    # The last thing written takes the lines of the bars away and shows the cursor again.
    assert "\x1b[2K" in stream.getvalue().split("25 %")[-1]
    assert stream.getvalue().rfind("\x1b[?25h") > stream.getvalue().rfind("\x1b[?25l")


def test_quiet_work_shows_nothing() -> None:
    output, stream = watched(terminal=True, quiet=True)
    with Stages(output, "reading", patience=0) as stages:
        stages("reading", 0.5)
    assert stream.getvalue() == ""


def test_bars_stop_when_the_work_fails() -> None:
    output, stream = watched(terminal=True)
    failed = False
    try:
        with Stages(output, "reading", patience=0):
            wait_for(stream, "reading")
            raise ValueError
    except ValueError:
        failed = True
    assert failed
    assert stream.getvalue().rfind("\x1b[?25h") > stream.getvalue().rfind("\x1b[?25l")


def test_lines_to_copy_are_not_broken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    rule = f'[[impossible]]\nwhen = "area in ({", ".join(map(repr, range(40)))})"'
    Output().verbatim(rule)
    assert capsys.readouterr().out == f"{rule}\n"
