"""What code of the library may not do, as functions from the text of a module to findings."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Finding:
    """One line that breaks a rule."""

    line: int
    text: str


Rule = Callable[[str], Iterator[Finding]]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


POSIX_MODULES = _words("crypt fcntl grp nis posix pty pwd resource spwd syslog termios tty")
POSIX_NAMES = _words(
    """
    os.chown os.fchmod os.fchown os.fork os.forkpty os.getegid os.geteuid os.getgid os.getgroups
    os.getloadavg os.getpgid os.getuid os.killpg os.lchown os.link os.mkfifo os.mknod os.nice
    os.pread os.pwrite os.rename os.renames os.sched_getaffinity os.setsid os.setuid os.statvfs
    os.symlink os.sysconf os.uname os.wait shutil.chown signal.SIGALRM signal.SIGHUP signal.SIGKILL
    signal.SIGPIPE signal.SIGUSR1 signal.SIGUSR2 signal.alarm signal.pause signal.setitimer
    """
)
#: Methods of paths that fail on Windows: over an existing target, or without a privilege.
POSIX_METHODS = frozenset({"rename", "symlink_to"})
POSIX_PATH = re.compile(r"(?<![\w.])/(?:tmp|dev|proc|etc|var)\b")

PICKLING_MODULES = _words("cloudpickle dill joblib marshal pickle _pickle shelve")
PICKLING_WRITERS = frozenset({"numpy.save", "numpy.savez", "numpy.savez_compressed"})

GLOBAL_SETTINGS = _words(
    """
    faulthandler.enable locale.setlocale logging.basicConfig logging.config.dictConfig
    logging.config.fileConfig logging.disable numpy.random.seed numpy.set_printoptions numpy.seterr
    random.seed warnings.filterwarnings warnings.resetwarnings warnings.simplefilter
    """
)
CONSOLE = frozenset({"print", "input", "sys.stdout", "sys.stderr"})
UNFINISHED = re.compile(r"#.*\b(?:TODO|FIXME|XXX|HACK)\b")

_MODE = re.compile(r"[rwxabtU+]+")


def posix_only(source: str) -> Iterator[Finding]:
    """What exists, or works, on POSIX systems only."""
    tree = _parsed(source)
    yield from _imports_of(tree, POSIX_MODULES)
    yield from _uses_of(tree, POSIX_NAMES)
    aliases = _aliases(tree)
    for call in _calls(tree):
        if (
            isinstance(call.func, ast.Attribute)
            and call.func.attr in POSIX_METHODS
            and len(call.args) <= 1
            and not call.keywords
            and "." not in _resolved(call.func, aliases)
        ):
            yield Finding(call.lineno, f".{call.func.attr}()")
    docstrings = _docstrings(tree)
    for node in _nodes(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node not in docstrings
            and POSIX_PATH.search(node.value)
        ):
            yield Finding(node.lineno, f"path {node.value!r}")


def text_without_encoding(source: str) -> Iterator[Finding]:
    """Text files whose encoding, or whose line ends, are those of the machine."""
    tree = _parsed(source)
    aliases = _aliases(tree)
    for call in _calls(tree):
        opening = _as_opening(call, aliases)
        if opening is None:
            continue
        mode, encoded, newline = opening
        if "b" in mode:
            continue
        if not encoded:
            yield Finding(call.lineno, "text without encoding=")
        if not newline and set(mode) & set("wxa"):
            yield Finding(call.lineno, "text written without newline=")


def _as_opening(call: ast.Call, aliases: dict[str, str]) -> tuple[str, bool, bool] | None:
    """Mode of a call that opens a file, and whether it gives the encoding and the line ends."""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    encoded, newline = "encoding" in keywords, "newline" in keywords
    name = _resolved(call.func, aliases)
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    mode = keywords.get("mode")
    match name or method:
        case "open" | "io.open" | "os.fdopen" | "codecs.open" if name:
            default, position, encoding_at = "r", 1, 3
        case "gzip.open" | "bz2.open" | "lzma.open":
            default, position, encoding_at = "b", 1, 3
        case "tempfile.NamedTemporaryFile" | "tempfile.TemporaryFile":
            default, position, encoding_at = "w+b", 0, 2
        case "tempfile.SpooledTemporaryFile":
            default, position, encoding_at = "w+b", 1, 3
        case "io.TextIOWrapper":
            return "r", encoded or len(call.args) > 1, newline
        case _:
            if "." in name or method not in {"open", "read_text", "write_text"}:
                return None
            if method == "read_text":
                return "r", encoded or bool(call.args), newline
            if method == "write_text":
                return "w", encoded or len(call.args) > 1, newline or len(call.args) > 3
            default, position, encoding_at = "r", 0, 2
            first = call.args[0] if call.args else None
            if first is not None and not _is_mode(first):
                return None  # a member of an archive, not a path
    if mode is None and len(call.args) > position:
        mode = call.args[position]
    known = mode.value if isinstance(mode, ast.Constant) and isinstance(mode.value, str) else None
    text = default if mode is None else (known if known is not None else "rw")
    if default == "b" and "t" not in text:
        text += "b"
    return text, encoded or len(call.args) > encoding_at, newline


def _is_mode(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _MODE.fullmatch(node.value) is not None
    )


def pickling(source: str) -> Iterator[Finding]:
    """Formats that run code when they are read."""
    tree = _parsed(source)
    aliases = _aliases(tree)
    yield from _imports_of(tree, PICKLING_MODULES)
    for call in _calls(tree):
        allowed = next((k.value for k in call.keywords if k.arg == "allow_pickle"), None)
        refused = isinstance(allowed, ast.Constant) and allowed.value is False
        if allowed is not None and not refused:
            yield Finding(call.lineno, "allow_pickle=")
        if allowed is None and _resolved(call.func, aliases) in PICKLING_WRITERS:
            yield Finding(call.lineno, "saved without allow_pickle=False")


def console(source: str) -> Iterator[Finding]:
    """Reading from or writing to the console."""
    yield from _uses_of(_parsed(source), CONSOLE)


def global_settings(source: str) -> Iterator[Finding]:
    """Settings that belong to whoever uses the library."""
    yield from _uses_of(_parsed(source), GLOBAL_SETTINGS)


def unfinished(source: str) -> Iterator[Finding]:
    """Marks of something left for later."""
    for node in _nodes(_parsed(source)):
        match node:
            case ast.Raise(
                exc=ast.Name(id="NotImplementedError")
                | ast.Call(func=ast.Name(id="NotImplementedError"))
            ):
                yield Finding(node.lineno, "NotImplementedError")
    for number, line in enumerate(source.splitlines(), start=1):
        if UNFINISHED.search(line):
            yield Finding(number, line.strip())


def libraries(source: str, *, allowed: frozenset[str]) -> Iterator[Finding]:
    """Imports of libraries other than the allowed ones and Python's own."""
    own = allowed | sys.stdlib_module_names | {"sdcensus"}
    for line, name in _imported(_parsed(source)):
        if name.split(".")[0] not in own:
            yield Finding(line, f"import {name}")


def _imports_of(tree: ast.Module, modules: frozenset[str]) -> Iterator[Finding]:
    for line, name in _imported(tree):
        if name.split(".")[0] in modules:
            yield Finding(line, f"import {name}")


def _uses_of(tree: ast.Module, names: frozenset[str]) -> Iterator[Finding]:
    aliases = _aliases(tree)
    for node in _nodes(tree):
        if isinstance(node, ast.Attribute | ast.Name) and _resolved(node, aliases) in names:
            yield Finding(node.lineno, _resolved(node, aliases))
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if f"{node.module}.{alias.name}" in names:
                    yield Finding(node.lineno, f"{node.module}.{alias.name}")


def _imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    aliases = _aliases(tree)
    for node in _nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.lineno, node.module
        elif isinstance(node, ast.Call) and _resolved(node.func, aliases) in {
            "__import__",
            "importlib.import_module",
        }:
            match node.args:
                case [ast.Constant(value=str() as name), *_]:
                    yield node.lineno, name


# Every rule looks at the same module in turn: it is read and gone through once.


@lru_cache(maxsize=4)
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)


@lru_cache(maxsize=4)
def _nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree))


@lru_cache(maxsize=4)
def _aliases(tree: ast.Module) -> dict[str, str]:
    """What each imported name of a module stands for."""
    names = {}
    for node in _nodes(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.split(".")[0]
                names[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def _resolved(node: ast.expr, aliases: dict[str, str]) -> str:
    """Full dotted name of what an expression names; empty when it is no imported name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    if node.id not in aliases:
        return "" if parts else node.id
    return ".".join([aliases[node.id], *reversed(parts)])


def _calls(tree: ast.Module) -> Iterator[ast.Call]:
    return (node for node in _nodes(tree) if isinstance(node, ast.Call))


def _docstrings(tree: ast.Module) -> set[ast.expr]:
    found: set[ast.expr] = set()
    for node in _nodes(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            match node.body:
                case [ast.Expr(value=ast.Constant(value=str()) as text), *_]:
                    found.add(text)
    return found
