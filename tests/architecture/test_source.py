"""The library obeys the rules of source_rules.py, and each rule catches what it is there for."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.architecture import source_rules as rules
from tests.architecture.source_rules import Rule

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "src" / "sdcensus"
MODULES = sorted(LIBRARY.rglob("*.py"))

NUMBERS_ONLY = frozenset({"numpy", "numba"})
only_numbers: Rule = partial(rules.libraries, allowed=NUMBERS_ONLY)
#: Compiled kernels are kept in a folder of the user's own, which platformdirs finds.
FINDS_CACHE = "kernels/_compile.py"
#: A published table becomes a data frame where pandas is at hand, and needs it for nothing else.
MAKES_FRAMES = "model/frames.py"

EVERYWHERE: tuple[Rule, ...] = (
    rules.posix_only,
    rules.text_without_encoding,
    rules.pickling,
    rules.global_settings,
    rules.unfinished,
)


def rules_for(path: str) -> list[Rule]:
    """The rules that a module obeys, by its path inside the library."""
    chosen = list(EVERYWHERE)
    if not path.startswith("cli/"):
        chosen.append(rules.console)
    if path == FINDS_CACHE:
        chosen.append(partial(rules.libraries, allowed=NUMBERS_ONLY | {"platformdirs"}))
    elif path == MAKES_FRAMES:
        chosen.append(partial(rules.libraries, allowed=NUMBERS_ONLY | {"pandas", "pyarrow"}))
    elif path.startswith(("kernels/", "model/", "errors.py")):
        chosen.append(only_numbers)
    return chosen


def findings(path: str, source: str) -> list[str]:
    return [
        f"{path}:{finding.line}: {finding.text}"
        for rule in rules_for(path)
        for finding in rule(source)
    ]


@pytest.mark.parametrize(
    "module", MODULES, ids=lambda path: str(path.relative_to(LIBRARY).as_posix())
)
def test_module_obeys_the_rules(module: Path) -> None:
    path = module.relative_to(LIBRARY).as_posix()
    assert findings(path, module.read_text(encoding="utf-8")) == []


def test_the_library_was_found() -> None:
    assert LIBRARY / "errors.py" in MODULES


OFFENDING: list[tuple[Rule, str]] = [
    (rules.posix_only, "import fcntl"),
    (rules.posix_only, "from pwd import getpwuid"),
    (rules.posix_only, "def f():\n    import resource"),
    (rules.posix_only, "import importlib\nimportlib.import_module('termios')"),
    (rules.posix_only, "import os\nif os.fork(): pass"),
    (rules.posix_only, "import os as system\nsystem.getuid()"),
    (rules.posix_only, "from os import chown"),
    (rules.posix_only, "from os import rename\nrename('a', 'b')"),
    (rules.posix_only, "import os\nos.rename('a', 'b')"),
    (rules.posix_only, "path.rename(target)"),
    (rules.posix_only, "folder().symlink_to(target)"),
    (rules.posix_only, "import signal\nkill(1, signal.SIGKILL)"),
    (rules.posix_only, "from signal import SIGHUP\nuse(SIGHUP)"),
    (rules.posix_only, "where = '/tmp/here'"),
    (rules.posix_only, "where = f'/tmp/{name}'"),
    (rules.posix_only, "open('/dev/null', 'wb')"),
    (rules.text_without_encoding, "open('a')"),
    (rules.text_without_encoding, "open('a', 'r')"),
    (rules.text_without_encoding, "open('a', mode=chosen)"),
    (rules.text_without_encoding, "open('a', 'w', encoding='utf-8')"),
    (rules.text_without_encoding, "import io\nio.open('a')"),
    (rules.text_without_encoding, "path.open()"),
    (rules.text_without_encoding, "path.open('w', newline='')"),
    (rules.text_without_encoding, "path.open('w', encoding='utf-8')"),
    (rules.text_without_encoding, "path.read_text()"),
    (rules.text_without_encoding, "path.write_text('a', newline='')"),
    (rules.text_without_encoding, "path.write_text('a', encoding='utf-8')"),
    (rules.text_without_encoding, "import tempfile\ntempfile.NamedTemporaryFile('w')"),
    (rules.text_without_encoding, "import gzip\ngzip.open('a', 'rt')"),
    (rules.text_without_encoding, "import os\nos.fdopen(3)"),
    (rules.pickling, "import pickle"),
    (rules.pickling, "from marshal import loads"),
    (rules.pickling, "import shelve as shelf"),
    (rules.pickling, "import numpy as np\nnp.load('a', allow_pickle=True)"),
    (rules.pickling, "import numpy as np\nnp.load('a', allow_pickle=chosen)"),
    (rules.pickling, "import numpy as np\nnp.save('a', array)"),
    (rules.console, "print('a')"),
    (rules.console, "import sys\nsys.stdout.write('a')"),
    (rules.global_settings, "import logging\nlogging.basicConfig()"),
    (rules.global_settings, "import warnings\nwarnings.filterwarnings('ignore')"),
    (rules.global_settings, "from warnings import simplefilter\nsimplefilter('ignore')"),
    (rules.global_settings, "import random\nrandom.seed(1)"),
    (rules.global_settings, "import numpy as np\nnp.random.seed(1)"),
    (rules.global_settings, "from numpy import random\nrandom.seed(1)"),
    (rules.unfinished, "x = 1  # TO" + "DO: more"),
    (rules.unfinished, "raise NotImplementedError('later')"),
    (only_numbers, "import pyarrow.parquet as pq"),
    (only_numbers, "def f():\n    from scipy import sparse"),
]

INNOCENT: list[tuple[Rule, str]] = [
    (rules.posix_only, "import os\nos.replace('a', 'b')\nos.getpid()"),
    (rules.posix_only, "frame.rename(columns={'a': 'b'})"),
    (rules.posix_only, "import pathlib\npathlib.Path('a').replace('b')"),
    (rules.posix_only, '"""A mount such as /dev/sda is a word in a docstring."""'),
    (rules.posix_only, "share = 'rooms/dev'"),
    (rules.text_without_encoding, "open('a', 'rb')"),
    (rules.text_without_encoding, "open('a', mode='wb')"),
    (rules.text_without_encoding, "open('a', encoding='utf-8')"),
    (rules.text_without_encoding, "open('a', 'w', encoding='utf-8', newline='')"),
    (rules.text_without_encoding, "path.open('rb')"),
    (rules.text_without_encoding, "path.open(encoding='utf-8')"),
    (rules.text_without_encoding, "path.read_text('utf-8')"),
    (rules.text_without_encoding, "path.write_text('a', encoding='utf-8', newline='')"),
    (rules.text_without_encoding, "archive.open('member.csv')"),
    (rules.text_without_encoding, "import webbrowser\nwebbrowser.open('page.html')"),
    (rules.text_without_encoding, "import tempfile\ntempfile.TemporaryFile(dir='a')"),
    (rules.text_without_encoding, "import gzip\ngzip.open('a')"),
    (rules.pickling, "import numpy as np\nnp.load('a', allow_pickle=False)"),
    (rules.pickling, "import numpy as np\nnp.save('a', array, allow_pickle=False)"),
    (rules.pickling, "import json"),
    (rules.console, "report.print()"),
    (rules.console, "import sys\nsys.exit(1)"),
    (rules.global_settings, "import logging\nlogging.getLogger(__name__)"),
    (rules.global_settings, "import warnings\nwarnings.warn('a', stacklevel=2)"),
    (rules.global_settings, "import numpy as np\nnp.random.default_rng(1)"),
    (rules.unfinished, "text = 'Todo'"),
    (rules.unfinished, "try:\n    f()\nexcept NotImplementedError:\n    g()"),
    (only_numbers, "import numpy as np\nimport math\nfrom sdcensus.errors import SpecError"),
]


def short(value: object) -> str:
    return value[-30:] if isinstance(value, str) else getattr(value, "__name__", "libraries")


@pytest.mark.parametrize(("rule", "source"), OFFENDING, ids=short)
def test_offence_is_caught(rule: Rule, source: str) -> None:
    assert list(rule(source))


@pytest.mark.parametrize(("rule", "source"), INNOCENT, ids=short)
def test_innocence_is_not(rule: Rule, source: str) -> None:
    assert list(rule(source)) == []


def test_only_the_command_line_may_use_the_console() -> None:
    assert rules.console not in rules_for("cli/main.py")
    assert all(rules.console in rules_for(path) for path in ("model/cube.py", "__init__.py"))


def test_kernels_and_model_may_use_numbers_only() -> None:
    source = "import duckdb\nimport platformdirs"
    assert len(findings("model/cube.py", source)) == 2
    assert len(findings("kernels/keys.py", source)) == 2
    assert len(findings(FINDS_CACHE, source)) == 1
    assert findings("engine/duckdb.py", source) == []
