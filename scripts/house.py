"""How large the house is: packages, modules, lines, long functions, and modules on the roads.

    python scripts/house.py              figures of this checkout
    python scripts/house.py --roads      also the modules on the three roads (makes a demo country)

A line of code is a line with a token that is neither a comment nor part of a docstring. A module is
on a road if one of its functions is called while a table goes along it, from the command or the
request to the file or the answer; importing a module is not walking through it.
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
import tempfile
import threading
import time
import tokenize
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "sdcensus"

#: Our own limits.
MODULE_LINES, BODY_LINES, FOLDER_MODULES = 450, 60, 20

#: The plan of the table that goes along the roads.
PLAN = """\
store = "census.store"
[[table]]
name = "people"
rows = ["ed@parish"]
columns = ["sex"]
[protect]
method = "cell-key"
strength = "no-ones-and-twos"
[output]
folder = "one"
formats = ["csv"]
"""

_SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


@dataclass(frozen=True, slots=True)
class Module:
    """One file: its path below the package, its lines, those of them that are code, its words."""

    path: Path
    lines: int
    code: int
    words: int


@dataclass(frozen=True, slots=True)
class Body:
    """A function, where it begins, and the lines of code in its body."""

    path: Path
    line: int
    name: str
    code: int


def docstring_lines(tree: ast.AST) -> set[int]:
    """The lines of every docstring."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                lines.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


def code_lines(text: str) -> set[int]:
    """The lines that hold code.

    Examples:
        >>> sorted(code_lines('def f():\\n    "What it does."\\n\\n    # why\\n    return 1\\n'))
        [1, 5]
    """
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines - docstring_lines(ast.parse(text))


def words_of_code(text: str) -> int:
    """How many words and signs of code there are, however they are laid out; commas do not count.

    Examples:
        >>> words_of_code('def f():\\n    "What it does."\\n    return [\\n        1,\\n    ]\\n')
        9
    """
    lines = code_lines(text)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(
        token.type not in _SILENT and token.string != "," and token.start[0] in lines
        for token in tokens
    )


def modules(package: Path = PACKAGE) -> Iterator[Module]:
    """Every file of the package."""
    for path in sorted(package.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        code = len(code_lines(text))
        name = path.relative_to(package)
        yield Module(name, len(text.splitlines()), code, words_of_code(text))


def long_modules(package: Path = PACKAGE) -> dict[str, int]:
    """The lines of every module that has more than are allowed."""
    sizes = {
        path.relative_to(package).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in sorted(package.rglob("*.py"))
    }
    return {path: lines for path, lines in sizes.items() if lines > MODULE_LINES}


def bodies(package: Path = PACKAGE, *, longest: int = 0) -> Iterator[Body]:
    """Every function, without what it says about itself and without its signature.

    Only those with more lines of code than ``longest``: a file without any is not looked at line by
    line, which takes most of the time.
    """
    for path in sorted(package.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        code: set[int] | None = None
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
                if len(lines) <= longest:
                    continue
                code = code_lines(text) if code is None else code
                size = len(code.intersection(lines))
                if size > longest:
                    yield Body(path.relative_to(package), node.lineno, node.name, size)


def rooms_without_a_word(package: Path = PACKAGE) -> Iterator[str]:
    """The folders of which no paragraph, after the first line, says what belongs there."""
    for path in sorted(package.rglob("__init__.py")):
        said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        if "\n\n" not in said:
            yield path.parent.relative_to(package).as_posix()


def folders(package: Path = PACKAGE) -> dict[str, int]:
    """How many modules every folder holds, without its ``__init__``."""
    counts = Counter(
        path.parent.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if path.name != "__init__.py"
    )
    return dict(sorted(counts.items()))


def importing(frame: FrameType | None) -> bool:
    """Whether a call belongs to the import of a module: its own lines, or what they call."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


@contextmanager
def walked(names: set[str], package: Path = PACKAGE) -> Iterator[None]:
    """Note every module of the package in which a function is called, in this and new threads."""
    inside = f"{package}/"

    def look(frame: FrameType, event: str, argument: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(inside):
            name = file.removeprefix(inside)
            if name not in names and not importing(frame):
                names.add(name)

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def run(*arguments: object) -> None:
    """Run a command of the program in this process, which must end well."""
    from sdcensus.cli import main as program

    sys.argv = ["sdcensus", *map(str, arguments)]
    said = io.StringIO()
    try:
        with redirect_stdout(said), redirect_stderr(said):
            program()
    except SystemExit as end:
        if end.code:
            raise SystemExit(f"{arguments[0]} ended with {end.code}: {said.getvalue()}") from end


def protect_road(demo: Path, names: set[str]) -> None:
    """One table by ``protect``."""
    secret = ("--secret", demo / "demo.secret")
    axes = ("--by", "ed@parish,sex", "--method", "cell-key", "--strength", "no-ones-and-twos")
    with walked(names):
        run("protect", demo / "census.store", *axes, *secret, "--out", demo / "table.csv")


def publish_road(demo: Path, names: set[str]) -> None:
    """The same table by ``publish``, as a plan of its own."""
    plan = demo / "one.toml"
    plan.write_text(PLAN, encoding="utf-8", newline="\n")
    with walked(names):
        run("publish", plan, "--secret", demo / "demo.secret", "--quiet")


def http_road(demo: Path, names: set[str]) -> None:
    """The same table by a request to the table builder."""
    import httpx

    from sdcensus.session.answer import open_service
    from sdcensus.session.watch import Watch
    from sdcensus.web.database import Database
    from sdcensus.web.server import RunningServer
    from sdcensus.web.settings import Settings

    service = open_service(
        demo / "census.store",
        demo / "policy.toml",
        plan=demo / "plan.toml",
        secret=demo / "server.secret",
    )
    settings = Settings(state=demo / "state", port=0, metrics_port=None)
    with Database.open(demo / "builder.db") as database, walked(names):
        server = RunningServer(service, settings, database, watch=Watch())
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            names.clear()  # what opens the builder is not on the way of a table
            answer = httpx.get(f"{server.url}/api/v1/tables?by=ed@parish&by=sex", timeout=60)
            on_the_way = set(names)
        finally:
            server.stop()
            thread.join()
    if answer.status_code != HTTPStatus.OK:
        raise SystemExit(f"the table builder answered {answer.status_code}: {answer.text}")
    names.intersection_update(on_the_way)


ROADS = {"protect": protect_road, "publish": publish_road, "http": http_road}


def roads() -> dict[str, set[str]]:
    """The modules on the way of one table: by ``protect``, by ``publish``, by HTTP."""
    with tempfile.TemporaryDirectory() as name:
        demo = Path(name) / "demo"
        run("demo", "--persons", 2000, "--out", demo, "--quiet")
        walks: dict[str, set[str]] = {road: set() for road in ROADS}
        for road, walk in ROADS.items():
            walk(demo, walks[road])
        return walks


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--roads", action="store_true", help="walk the three roads as well")
    parser.add_argument("--names", action="store_true", help="name the modules on them")
    asked = parser.parse_args()
    files = list(modules())
    print(f"modules: {len(files)}")
    print(f"lines: {sum(module.lines for module in files)}")
    print(f"lines of code: {sum(module.code for module in files)}")
    print(f"words and signs of code: {sum(module.words for module in files)}")
    long = long_modules()
    print(f"modules above {MODULE_LINES} lines: {len(long)}")
    for path, lines in long.items():
        print(f"  {path}: {lines}")
    large = list(bodies(longest=BODY_LINES))
    print(f"function bodies above {BODY_LINES} lines: {len(large)}")
    for body in large:
        print(f"  {body.path.as_posix()}:{body.line} {body.name}: {body.code}")
    full = {name: count for name, count in folders().items() if count > FOLDER_MODULES}
    print(f"folders with more than {FOLDER_MODULES} modules: {len(full)}")
    for name, count in full.items():
        print(f"  {name}: {count}")
    if asked.roads:
        for road, seen in roads().items():
            print(f"modules on the road of {road}: {len(seen)}")
            for name in sorted(seen) if asked.names else ():
                print(f"  {name}")


if __name__ == "__main__":
    main()
