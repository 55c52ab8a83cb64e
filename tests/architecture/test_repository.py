"""What stands in the repository: complete locks, and nothing about the machine it was made on."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.lock", "requirements-dev.lock")
#: What makes clients from the OpenAPI document, in an environment of its own.
GENERATOR = "requirements/generator.lock"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

# ---------------------------------------------------------------- lock files

PIN = re.compile(r"([a-z0-9][a-z0-9._-]*)==[^\s;]+( ; [^\\]+)? \\")
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")


def lock_problems(text: str) -> Iterator[str]:
    """Lines that are no pin with hashes, and words that name a place."""
    waiting = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if "://" in line or line.startswith("--") or " @ " in line or re.search(r"(^|\s)/\w", line):
            yield f"line {number} names a place: {line}"
        if HASH.fullmatch(line):
            waiting = ""
        elif line.strip() and not line.lstrip().startswith("#"):
            if not PIN.fullmatch(line):
                yield f"line {number} is no exact version with hashes: {line}"
            if waiting:
                yield f"{waiting} has no hash"
            waiting = line
    if waiting:
        yield f"{waiting} has no hash"


def pins(name: str) -> dict[str, str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)==([^\s;]+)", text, re.MULTILINE))


@pytest.mark.parametrize("name", [*LOCKS, GENERATOR])
def test_lock_has_exact_versions_with_hashes_and_names_no_host(name: str) -> None:
    assert list(lock_problems((ROOT / name).read_text(encoding="utf-8"))) == []
    assert len(pins(name)) > 15


GOOD = "numpy==2.4.6 \\\n    --hash=sha256:" + "0" * 64 + "\n    # via numba\n"


def test_a_good_lock_has_no_problems() -> None:
    assert list(lock_problems(GOOD)) == []


@pytest.mark.parametrize(
    "text",
    [
        "numpy==2.4.6\n" + GOOD,
        "numpy>=2 \\\n    --hash=sha256:" + "0" * 64,
        "numpy==2.4.6 \\\n    --hash=md5:" + "0" * 32,
        "numpy==2.4.6 \\\n    # via numba\n" + GOOD,
        GOOD + "scipy==1.17.1 \\\n",
        "--index-url https://index.example\n" + GOOD,
        "--find-links wheels\n" + GOOD,
        "numpy @ https://index.example/numpy.whl \\\n    --hash=sha256:" + "0" * 64,
        "# pip-compile /builds/sdcensus/pyproject.toml\n" + GOOD,
    ],
)
def test_a_bad_lock_is_caught(text: str) -> None:
    assert list(lock_problems(text))


def test_developers_have_the_versions_of_users() -> None:
    users, developers = (pins(name) for name in LOCKS)
    assert users.items() <= developers.items()


def test_locks_hold_what_the_project_asks_for() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    locked = [
        *extras["formats"],
        *extras["frames"],
        *extras["optimise"],
        *extras["reports"],
        *extras["web"],
    ]
    users = [*PROJECT["project"]["dependencies"], *locked, "setuptools"]
    for name, wanted in zip(
        LOCKS, (users, [*users, *extras["spark"], *extras["dev"]]), strict=True
    ):
        have = pins(name)
        for requirement in map(Requirement, wanted):
            version = have.get(canonicalize_name(requirement.name))
            assert version is not None, f"{requirement.name} is not in {name}: make lock"
            assert requirement.specifier.contains(version), f"{requirement} and {name}: make lock"


#: Debian 12, on which `make demo` and `make test` must run as they are.
OLDEST_PYTHON = "3.11.2"


def test_locked_versions_run_on_the_oldest_python() -> None:
    asked = {name: distribution(name).metadata["Requires-Python"] for name in pins(LOCKS[1])}
    assert [
        f"{name} needs Python {python}: say so in requirements/constraints.in, then make lock"
        for name, python in asked.items()
        if python and not SpecifierSet(python).contains(OLDEST_PYTHON)
    ] == []


SYSTEMS = {
    "linux": {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"},
    "macos": {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix"},
    "windows": {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt"},
}


def needed_by(package: str, environment: dict[str, str]) -> set[str]:
    """Names of the packages that a package needs in an environment, without its extras."""
    requirements = map(Requirement, distribution(package).requires or ())
    return {
        canonicalize_name(requirement.name)
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate({**environment, "extra": ""})
    }


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_lock_of_users_is_complete_on_every_system(system: str, python: str) -> None:
    """Locks are made on Linux; on Windows some libraries need one more."""
    environment: dict[str, str] = {
        **{name: str(value) for name, value in default_environment().items()},
        **SYSTEMS[system],
        "python_version": python,
        "python_full_version": f"{python}.0",
    }
    locked = pins("requirements.lock")
    needed = {name: needed_by(name, environment) - locked.keys() for name in locked}
    assert {name: missing for name, missing in needed.items() if missing} == {}


def test_a_package_that_only_windows_needs_is_noticed() -> None:
    environment = {name: str(value) for name, value in default_environment().items()}
    assert "colorama" in needed_by("pytest", {**environment, **SYSTEMS["windows"]})
    assert "colorama" not in needed_by("pytest", {**environment, **SYSTEMS["linux"]})


# ---------------------------------------------------------------- every file

# Written in pieces: this file is one of those that are searched.
REGISTRIES = [
    "".join(parts)
    for parts in (
        ("py", "pi.org"),
        ("python", "hosted.org"),
        ("npm", "js.org"),
        ("deb.", "debian.org"),
        ("conda.", "anaconda.org"),
    )
]
PLACES = re.compile(
    "|".join(
        [
            *(re.escape(host) for host in REGISTRIES),
            r"(?<![\w.~])/(?:ro" + r"ot|wor" + r"k)/",
            r"file:///(?:opt|home|srv|mnt)",
            r"https?://\S+/simple\b",
        ]
    ),
    re.IGNORECASE,
)


def repository_files() -> list[Path]:
    """The files that are, or would be, committed."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listing.returncode == 0:
        names = listing.stdout.decode("utf-8").split("\0")
        return [ROOT / name for name in names if name and (ROOT / name).is_file()]
    made = {".venv", "build", "dist", "site", "demo", "__pycache__"}
    return [
        path
        for path in ROOT.rglob("*")
        if path.is_file()
        and not {part for part in path.relative_to(ROOT).parts if part in made or "_cache" in part}
    ]


def places(text: str) -> list[str]:
    return [match.group() for match in PLACES.finditer(text)]


def test_no_file_names_a_registry_or_a_path_of_a_machine() -> None:
    files = repository_files()
    assert ROOT / "pyproject.toml" in files
    found = {
        str(path.relative_to(ROOT)): places(text)
        for path in files
        if places(text := path.read_bytes().decode("utf-8", errors="replace"))
    }
    assert found == {}


@pytest.mark.parametrize(
    "text",
    [
        "see https://" + REGISTRIES[0] + "/project/x",
        "url = 'https://files." + REGISTRIES[1] + "/x.whl'",
        "cd /ro" + "ot/project",
        "open('/wor" + "k/main/a.csv')",
        "--find-links file:///" + "opt/wheels",
        "index = https://index.example" + "/simple",
    ],
)
def test_a_place_is_caught(text: str) -> None:
    assert places(text)


@pytest.mark.parametrize("text", ["place of work/home", "docs/work/x.md", "https://a.example/b"])
def test_an_ordinary_path_is_not(text: str) -> None:
    assert places(text) == []


# ---------------------------------------------------------------- what is shipped and run


def test_every_data_file_of_the_library_is_shipped() -> None:
    library = ROOT / "src" / "sdcensus"
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["sdcensus"]
    shipped = {path for pattern in patterns for path in library.glob(pattern)}
    files = {path for path in repository_files() if path.is_relative_to(library)}
    assert {path for path in files if path.suffix != ".py"} <= shipped
    assert library / "py.typed" in shipped


def test_ci_runs_make_test_and_nothing_else() -> None:
    script = ROOT / ".ci" / "run"
    lines = script.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "#!/usr/bin/env bash"
    assert lines[1:] == [
        "set -euo pipefail",
        'cd "$(dirname "${BASH_SOURCE[0]}")/.."',
        "exec make test",
    ]
    assert os.access(script, os.X_OK)


# ------------------------------------------------------------------ what must be closed


def left_open(source: str) -> list[int]:
    """The lines that open a database of SQLite in a ``with`` that ends a transaction alone.

    Such a connection stays open until Python forgets it; Python 3.13 warns of it.
    """
    return [
        item.context_expr.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.With)
        for item in node.items
        if isinstance(item.context_expr, ast.Call)
        and ast.unparse(item.context_expr.func) == "sqlite3.connect"
    ]


def test_no_connection_to_sqlite_stays_open() -> None:
    found = [
        f"{path.relative_to(ROOT).as_posix()}:{line}"
        for folder in ("src", "tests", "scripts")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line in left_open(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_a_connection_that_stays_open_is_caught() -> None:
    opened = "with sqlite3.connect(path) as database:\n    database.execute('')\n"
    assert left_open(opened) == [1]
    assert (
        left_open(opened.replace("sqlite3.connect(path)", "closing(sqlite3.connect(path))")) == []
    )
