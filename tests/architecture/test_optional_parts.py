"""The core works where only the core is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: Libraries that come with an extra, or that only developers have.
OPTIONAL = (
    *("pyreadstat", "python_calamine", "xlsxwriter"),
    *("pyspark", "py4j", "ortools"),
    *("starlette", "uvicorn", "jinja2", "orjson", "sqlalchemy", "psycopg"),
    *("altair", "vl_convert"),
    *("pandas", "polars", "hypothesis", "pytest", "cell_key_perturbation"),
)

#: The server needs its extra, and the tools for tests need hypothesis; both may say so at once.
MAY_NEED_MORE = ("sdcensus.web", "sdcensus.testing")

BLOCK = """
import importlib, pkgutil, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
        return None

sys.meta_path.insert(0, Absent())
sys.path[:0] = {paths!r}
"""

IMPORT_ALL = f"""
import sdcensus, sdcensus.cli

skipped = {MAY_NEED_MORE!r}
names = [
    found.name
    for found in pkgutil.walk_packages(sdcensus.__path__, "sdcensus.", onerror=lambda name: None)
    if not found.name.startswith(skipped) and not found.name.endswith("__main__")
]
for name in names:
    importlib.import_module(name)
print(len(names))
"""


def run_without_extras(code: str, *paths: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh Python that has no optional library, and in which warnings are errors."""
    before = BLOCK.format(blocked=OPTIONAL, paths=[str(path) for path in paths])
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", before + code],
        capture_output=True,
        check=False,
        encoding="utf-8",
    )


def test_the_core_imports_without_the_extras() -> None:
    done = run_without_extras(IMPORT_ALL, ROOT / "src")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20


def test_an_import_of_an_optional_library_at_the_top_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "eager.py").write_text("import xlsxwriter", encoding="utf-8", newline="\n")
    (tmp_path / "lazy.py").write_text(
        "def write():\n    import xlsxwriter", encoding="utf-8", newline="\n"
    )
    eager = run_without_extras("import eager", tmp_path)
    assert eager.returncode != 0
    assert "No module named 'xlsxwriter'" in eager.stderr
    assert run_without_extras("import lazy", tmp_path).returncode == 0
