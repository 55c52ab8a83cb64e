"""Write the list of the methods of this package, and the page of the documentation about them.

    python scripts/methods.py

Methods and steps are registered in ``pyproject.toml``, as those of other packages are. The list
beside ``sdcensus.model.method.registry`` holds what they declare, so that nobody has to load them
to show the help or to read a plan. A test says when it has to be written anew.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from sdcensus.model.method.parameter import Parameter, as_option
from sdcensus.model.method.registry import LIST, Part, Registered, built_in, declaration_of

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "methods" / "parameters.md"
_METHODS_HEAD = """\
# What may be said about methods

This page is made from what the methods declare (`python scripts/methods.py`). A setting stands in
`[protect]` of a plan, an option on the command line.
"""
_ROWS = "| setting | option | values | default | meaning |\n| --- | --- | --- | --- | --- |"


def listing() -> str:
    """The text of the list."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups: dict[str, list[dict[str, object]]] = {part.value: [] for part in Part}
    for group, targets in project["entry-points"].items():
        for name, target in targets.items():
            module, _, attribute = target.partition(":")
            kind = getattr(import_module(module), attribute)
            plain = asdict(declaration_of(kind, name, target))
            plain["takes"] = [
                {
                    key: value
                    for key, value in parameter.items()
                    if value is not False and value not in (None, "", ())
                }
                for parameter in plain["takes"]
            ]
            groups[group].append({key: value for key, value in plain.items() if value})
    return json.dumps(groups, indent=1, ensure_ascii=False) + "\n"


def methods_page() -> str:
    """The page about what may be said about each method and step, in Markdown."""
    lines = [_METHODS_HEAD]
    titles = {
        Part.METHOD: "Methods",
        Part.STEP: "Steps after a method",
        Part.PRE_TABULAR: "Pre-tabular methods",
    }
    for part, title in titles.items():
        lines.append(f"## {title}\n")
        for taker in Registered(part).values():
            lines += [f"### {taker.name}\n", f"{taker.summary}\n", _ROWS]
            lines += [_parameter_row(parameter) for parameter in taker.takes]
            lines.append("")
    return "\n".join(lines)


def _parameter_row(parameter: Parameter) -> str:
    values = ", ".join(f"`{word}`" for word in parameter.words) or parameter.kind.value
    bounds = (parameter.least, parameter.most)
    if None not in bounds:
        values += f" from {parameter.least} to {parameter.most}"
    elif parameter.least is not None:
        values += f", {parameter.least} or more"
    default = "" if parameter.default is None else f"`{parameter.default}`"
    option = as_option(parameter.name, "")
    return f"| `{parameter.name}` | `{option}` | {values} | {default} | {parameter.sentence()} |"


if __name__ == "__main__":
    LIST.write_text(listing(), encoding="utf-8", newline="\n")
    built_in.cache_clear()
    PAGE.write_text(methods_page(), encoding="utf-8", newline="\n")
