"""Options that say how a table is protected, as the methods declare what may be said about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import Parameter as Argument, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from sdcensus.cli.shared.options import complete_axes, complete_variable, listed
from sdcensus.model.method.parameter import (
    Declaration,
    MethodOptions,
    Parameter,
    ValueKind,
    as_option,
)
from sdcensus.model.method.registry import (
    TABULAR,
    Part,
    Registered,
    built_in,
    meaning,
    parameters_of,
    parsed_settings,
    takers_of,
)

_Command = Callable[..., None]

#: What is taken where no method is named.
DEFAULT_METHOD = "cell-key"
_TYPES: Mapping[ValueKind, Any] = {
    ValueKind.WHOLE: int,
    ValueKind.NUMBER: float,
    ValueKind.SHARE: float,
    ValueKind.FILE: Path,
    ValueKind.RELEASE: Path,
    ValueKind.TABLES: list[str],
    ValueKind.LISTS: list[str],
}
_SEVERAL = " Can be given several times."


def _begins(words: Iterable[str]) -> Callable[[str], list[str]]:
    """Offers the shell words to choose from."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


MethodOption = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        help=f"How tables are protected: {', '.join(built_in(Part.METHOD))}.",
        autocompletion=_begins(built_in(Part.METHOD)),
    ),
]
Then = Annotated[
    str,
    typer.Option(
        "--then",
        metavar="STEPS",
        help=f"Steps after the method, comma-separated: {', '.join(built_in(Part.STEP))}.",
    ),
]
#: For what has no option of its own: parameters of methods that other packages bring.
_Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help=f"Anything else that a method takes, such as one of another package.{_SEVERAL}",
    ),
]


def option_of(parameter: Parameter, text: str, names: Sequence[str] = ()) -> Any:
    """The option of a parameter, for typer.

    Args:
        parameter: The parameter.
        text: What the help says about it.
        names: What else the option is called, before its own name.
    """
    offered: Callable[..., Any] | None = None
    if parameter.kind is ValueKind.YES:
        return Annotated[bool, typer.Option(as_option(parameter.name, ""), help=text)]
    if parameter.kind in (ValueKind.TABLES, ValueKind.LISTS):
        text = text + _SEVERAL
        offered = complete_axes if parameter.kind is ValueKind.TABLES else None
    elif parameter.kind is ValueKind.VARIABLE:
        offered = complete_variable
    elif parameter.words:
        offered = _begins(parameter.words)
    option = typer.Option(
        *names,
        as_option(parameter.name, ""),
        metavar=parameter.metavar,
        help=text,
        autocompletion=offered,
    )
    kind = _TYPES.get(parameter.kind, str)
    return Annotated[kind if parameter.required else kind | None, option]


def _options(takers: Iterable[Declaration]) -> dict[str, Any]:
    parameters = parameters_of(takers)
    return {name: option_of(each, meaning(each)) for name, each in parameters.items()}


#: What may be said about cell keys, in the order of the help.
CELL_KEY_OPTIONS: Mapping[str, Any] = _options([built_in(Part.METHOD)[DEFAULT_METHOD]])
#: What may be said about any method and the steps after it.
ALL_OPTIONS: Mapping[str, Any] = {
    **_options(built_in(Part.METHOD).values()),
    "then": Then,
    **_options(built_in(Part.STEP).values()),
    "set_": _Set,
}


class MethodCommand(TyperCommand):
    """A command whose help also shows the methods that other packages bring."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write them above the examples; packages are looked through for the help only."""
        rows = [
            (taker.name, f"{taker.summary} {_set_text(taker)}".strip())
            for part in TABULAR
            for taker in Registered(part).values()
            if taker.package
        ]
        if rows:
            with formatter.section("Of other packages"):
                formatter.write_dl(rows)
        super().format_epilog(ctx, formatter)


def _set_text(taker: Declaration) -> str:
    return " ".join(
        f"--set {parameter.name}={parameter.metavar}: {parameter.sentence()}"
        for parameter in taker.takes
    )


def with_method_options(options: Mapping[str, Any]) -> Callable[[_Command], _Command]:
    """Give a command these options in place of its parameter ``method_options``.

    What was said reaches it there, put together. Options for which the command has a parameter of
    its own it gets by themselves, but the help shows them at their place among the others.

    Raises:
        TypeError: A parameter of a method would hide an option of the command.
    """

    def decorated(command: _Command) -> _Command:
        own = signature(command).parameters
        collected = [name for name in options if name not in own]
        known = {"MethodOptions": MethodOptions}
        hints = get_type_hints(command, localns=known, include_extras=True)
        for name in sorted(own.keys() & options.keys()):
            if hasattr(hints[name], "__metadata__") and hints[name] is not options[name]:
                raise TypeError(
                    f"{command.__name__}: a method has a parameter {name!r}, which would hide"
                    f" {as_option(name, '')} of the command. Call it something else."
                )
        hints |= dict(options)
        arguments: list[Argument] = []
        for name, argument in own.items():
            if name == "method_options":
                arguments += (own.get(option) or _not_said(option, hints) for option in options)
            elif name not in options:
                arguments.append(argument)

        @wraps(command)
        def run(**given: Any) -> None:
            said = {name: given.pop(name) for name in collected}
            command(**given, method_options=_put_together(said, given))

        run.__annotations__ = hints
        run.__signature__ = Signature(  # type: ignore[attr-defined]
            [
                argument.replace(kind=Argument.KEYWORD_ONLY, annotation=hints[argument.name])
                for argument in arguments
            ]
        )
        run.command_class = MethodCommand  # type: ignore[attr-defined]
        return run

    return decorated


def really_said(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that somebody gave; empty lists and no are nothing, and 0 is something.

    Examples:
        >>> really_said({"rate": 0, "farther": False, "profile": ["size"], "earlier": None})
        {'rate': 0, 'profile': ('size',)}
    """
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in options.items()
        if value is not None and value is not False and value != []
    }


def _put_together(said: dict[str, Any], given: Mapping[str, Any]) -> MethodOptions:
    """What was said by options of their own, and by ``--set``."""
    texts = said.pop("set_", None) or ()
    method, then = given.get("method") or DEFAULT_METHOD, listed(given.get("then", ""))
    return MethodOptions(**parsed_settings(texts, takers_of(method, then), said=really_said(said)))


def _not_said(name: str, hints: Mapping[str, Any]) -> Argument:
    default = False if hints[name].__origin__ is bool else None
    return Argument(name, Argument.KEYWORD_ONLY, default=default)
