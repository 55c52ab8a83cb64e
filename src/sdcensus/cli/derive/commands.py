"""Commands that make a store from a store, from what pre-tabular methods declare."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from inspect import Parameter as Argument, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdcensus.cli.derive.shown import show_facts, show_report
from sdcensus.cli.shared.console import Output, Stages, typed
from sdcensus.cli.shared.method_options import option_of, really_said
from sdcensus.cli.shared.options import (
    Quiet,
    SecretFile,
    SpokenLanguage,
    Store,
    check_spoken,
    complete_axes,
)
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.method.parameter import Declaration, Parameter, ValueKind, as_option
from sdcensus.model.method.registry import Part, built_in, owned, owners_of, parameters_of
from sdcensus.model.quantities import duration_text
from sdcensus.model.sentences import speak

if TYPE_CHECKING:
    from sdcensus.session.derive import EffectQuestions

ABOUT = """\
The derived store keeps the keys of its records, so that what did not change is published with the
same numbers, and names its lineage, which everything names that is published from it. It appears
when it is complete, or not at all; the same command goes on where a killed one stopped. What was
changed, and for whom, and a report to be signed (html, xlsx) are kept for the office beside it.
"""
_SEVERAL = " Can be given several times."


def _option(kind: Any, *names: str, metavar: str | None, help: str, offered: Any = None) -> Any:
    return Annotated[kind, typer.Option(*names, metavar=metavar, help=help, autocompletion=offered)]


#: What every method is told besides, with what is taken where nothing is said.
COMMON: Mapping[str, tuple[Any, Any]] = {
    "out": (
        _option(Path | None, "--out", metavar="STORE", help="The folder of the store to make."),
        None,
    ),
    "plan": (
        _option(
            bool,
            "--plan",
            metavar=None,
            help="Write no store: show what the method would meet, such as units at risk.",
        ),
        False,
    ),
    "report": (
        _option(
            Path | None,
            "--report",
            metavar="FOLDER",
            help="With --plan: write it as a page and a workbook as well, into a new folder.",
        ),
        None,
    ),
    "secret": (SecretFile, None),
    "office": (
        _option(
            Path | None,
            "--office",
            metavar="FOLDER",
            help="Where the office keeps its report; beside the store when nothing is said.",
        ),
        None,
    ),
    "replace": (
        _option(
            bool,
            "--replace",
            metavar=None,
            help="Put the store in the place of an older one, and keep its pairs.",
        ),
        False,
    ),
    "allow_violations": (
        _option(
            bool,
            "--allow-violations",
            metavar=None,
            help="Make the store also where records break an edit rule that they kept before.",
        ),
        False,
    ),
    "table": (
        _option(
            list[str] | None,
            "--table",
            metavar="AXES",
            help="A table whose change the report measures; households:tenure counts others than"
            f" persons.{_SEVERAL}",
            offered=complete_axes,
        ),
        None,
    ),
    "association": (
        _option(
            list[str] | None,
            "--association",
            metavar="A,B",
            help=f"Two variables whose association the report compares.{_SEVERAL}",
            offered=complete_axes,
        ),
        None,
    ),
    "strength": (
        _option(
            str | None,
            "--strength",
            metavar="NAME",
            help="How the report perturbs tables besides: light, medium, strong.",
        ),
        None,
    ),
    "scheme": (
        _option(
            str | None,
            "--scheme",
            metavar="NAME",
            help="The same by a published scheme, such as CP3.",
        ),
        None,
    ),
    "language": (SpokenLanguage, None),
    "quiet": (Quiet, False),
}


@dataclass(frozen=True, slots=True)
class Family:
    """Methods of one kind under one command.

    Attributes:
        command: What is typed.
        verb: What messages call its ways.
        ways: The words of ``--how`` with the methods that they mean; the first is the usual one.
        spelled: Parameters that have a further name on the command line.
    """

    command: str
    verb: str
    ways: Mapping[str, str]
    spelled: Mapping[str, str] = field(default_factory=dict)

    def registered(self) -> dict[str, Declaration]:
        """The ways that there are."""
        known = built_in(Part.PRE_TABULAR)
        return {way: known[name] for way, name in self.ways.items() if name in known}

    def method(self, how: str) -> Declaration:
        """The method of a way.

        Raises:
            UnknownName: There is no such way.
        """
        ways = self.registered()
        if how not in ways:
            raise UnknownName(self.verb, how, known=ways)
        return ways[how]

    def check(self, how: str, said: Collection[str]) -> None:
        """Refuse options of other ways and say whose they are, and ask for what is needed."""
        method = self.method(how)
        spoken = {name: f"--how {way}" for way, name in self.ways.items()}
        for name in said:
            if method.parameter(name) is None:
                owners = owners_of(name, (Part.PRE_TABULAR,))
                own = ", ".join(spoken[owner] for owner in owners if owner in spoken)
                raise SpecError(
                    f"{self.option(name)} is no option of {spoken[method.name]}. It is for: {own}."
                )
        for parameter in method.takes:
            if parameter.required and parameter.name not in said:
                option = f"{self.option(parameter.name)} {parameter.metavar}"
                raise SpecError(f"{spoken[method.name]} needs {option}: {parameter.sentence()}")

    def option(self, name: str) -> str:
        """A parameter as it is typed after this command."""
        return self.spelled.get(name) or as_option(name, "")

    def parameters(self) -> dict[str, tuple[Parameter, str]]:
        """What may be said about any of the ways, with what the help says about it."""
        ways = self.registered()
        merged = parameters_of(ways.values())
        parameters = {}
        for name, parameter in merged.items():
            owners = [way for way, method in ways.items() if method.parameter(name) is not None]
            kinds = {own.kind for method in ways.values() if (own := method.parameter(name))}
            # Ways that read an option differently read its text themselves.
            kind = parameter.kind if len(kinds) == 1 else ValueKind.TEXT
            sentence = parameter.sentence()
            if len(owners) < len(ways):
                sentence = owned(owners, sentence)
            words = parameter.words if len(kinds) == 1 else ()
            parameters[name] = replace(parameter, kind=kind, words=words, required=False), sentence
        return parameters


def method_command(method: Declaration) -> Callable[..., None]:
    """The command of one method, with the options that it declares."""

    def run(**given: Any) -> None:
        said, common = _taken_apart(given, [parameter.name for parameter in method.takes])
        run_method(method.name, said, **common)

    takes = {parameter.name: (parameter, parameter.sentence()) for parameter in method.takes}
    return _with_options(run, takes, {})


#: Takes what was said where it is no derivation; tells whether it was.
Instead = Callable[[dict[str, Any], dict[str, Any]], bool]


def family_command(
    family: Family,
    about: str,
    *,
    more: Mapping[str, tuple[Any, Any]] | None = None,
    instead: Instead | None = None,
) -> Callable[..., None]:
    """The command of a family of methods, with the options of all of them.

    Args:
        family: The methods.
        about: What the command is for.
        more: Options besides, which only ``instead`` is told.
        instead: Asked first, with what was said about the method and with everything else.
    """
    ways = family.registered()
    usual = next(iter(ways), "")
    how = _option(
        str,
        "--how",
        metavar=f"<{'|'.join(ways)}>",
        help=" ".join(f"{way}: {method.summary}" for way, method in ways.items()),
    )
    parameters = family.parameters()

    def run(**given: Any) -> None:
        said, common = _taken_apart(given, parameters)
        if instead is not None and instead(said, common):
            return
        chosen = common.pop("how") or usual
        for name in more or {}:
            common.pop(name)
        family.check(chosen, said)
        method = family.method(chosen)
        for name, (parameter, _) in parameters.items():
            own = method.parameter(name)
            if name in said and own is not None and own.kind is not parameter.kind:
                said[name] = own.parsed(str(said[name]))
        run_method(method.name, said, **common)

    first = {"how": (how, usual), **(more or {})}
    command = _with_options(run, parameters, first, family.spelled)
    command.__doc__ = f"{about}\n\n{ABOUT}"
    command.__name__ = family.command
    return command


def _taken_apart(
    given: dict[str, Any], names: Iterable[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What was said about a method, and what every command is told."""
    own = {name: given.pop(name) for name in names}
    return really_said(own), given


def _with_options(
    run: Callable[..., None],
    takes: Mapping[str, tuple[Parameter, str]],
    first: Mapping[str, tuple[Any, Any]],
    spelled: Mapping[str, str] | None = None,
) -> Callable[..., None]:
    """Give a command the options of parameters, and those that all commands have."""

    def argument(name: str, annotation: Any, default: Any) -> Argument:
        return Argument(name, Argument.KEYWORD_ONLY, default=default, annotation=annotation)

    arguments = [Argument("store", Argument.KEYWORD_ONLY, annotation=Store)]
    arguments += [argument(name, kind, default) for name, (kind, default) in first.items()]
    for name, (parameter, sentence) in takes.items():
        default: Any = Argument.empty if parameter.required else None
        default = False if parameter.kind is ValueKind.YES else default
        further = () if not spelled or name not in spelled else (spelled[name],)
        arguments.append(argument(name, option_of(parameter, sentence, further), default))
    # A method's own option of the same name is meant where it has one.
    arguments += [
        argument(name, kind, default)
        for name, (kind, default) in COMMON.items()
        if name not in takes
    ]
    run.__signature__ = Signature(arguments)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in arguments}
    return run


def run_method(
    method: str,
    said: dict[str, Any],
    *,
    store: Path,
    quiet: bool,
    out: Path | None = None,
    plan: bool = False,
    report: Path | None = None,
    secret: Path | None = None,
    office: Path | None = None,
    replace: bool = False,
    allow_violations: bool = False,
    table: list[str] | None = None,
    association: list[str] | None = None,
    strength: str | None = None,
    scheme: str | None = None,
    language: str | None = None,
) -> None:
    """Run a method, or look at what it would meet."""
    from sdcensus.session.derive import EffectQuestions

    output = Output(quiet=quiet)
    check_spoken(language)
    if plan:
        _run_plan(output, method, said, store, secret, report, language)
        return
    if report is not None:
        raise SpecError(
            "--report goes with --plan. The report on a store is written into the folder of the"
            " office: --office FOLDER."
        )
    if out is None:
        raise SpecError("Name the store to make: --out STORE. Or look first: --plan.")
    questions = EffectQuestions(
        tables=tuple(table or ()),
        associations=tuple(association or ()),
        strength=strength,
        scheme=scheme,
        language=language,
    )
    places = _Places(store, out, secret, office, replace, allow_violations)
    _make(output, method, said, questions, places)


@dataclass(frozen=True, slots=True)
class _Places:
    """Where a store comes from and goes, and what may happen there."""

    store: Path
    out: Path
    secret: Path | None
    office: Path | None
    replace: bool
    allow_violations: bool


def _make(
    output: Output,
    method: str,
    said: dict[str, Any],
    questions: EffectQuestions,
    places: _Places,
) -> None:
    from sdcensus.session.derive import derive, earlier_pairs, without_libraries

    language = questions.language
    began = time.perf_counter()
    if places.replace and "earlier" not in said:
        earlier = earlier_pairs(method, places.out, places.office)
        if earlier is not None:
            said = {**said, "earlier": earlier}
            output.note(speak("derive.said.kept_pairs", language, file=str(earlier)))
    missing = without_libraries()
    with all_or_nothing(), Stages(output, "opening the store") as stages:
        derived = derive(
            places.store,
            places.out,
            method,
            said,
            secret=places.secret,
            office=places.office,
            replace=places.replace,
            allow_violations=places.allow_violations,
            questions=None if missing else questions,
            progress=stages,
        )
    took = duration_text(time.perf_counter() - began)
    output.say(f"Made {places.out} in {took}. It is confidential.")
    show_report(output, derived, language)
    output.say(f"Everything published from it names its lineage: {derived.lineage}.")
    output.say(f"What was changed, and for whom, is in {derived.office}, for the office only.")
    if derived.public_papers is not None:
        papers = ", ".join(sorted(path.name for path in derived.public_papers.iterdir()))
        output.say(f"What everybody may read is in {derived.public_papers}: {papers}.")
    if missing:
        output.note(speak("derive.said.no_report", language, why=missing))
    else:
        page, workbook = (str(derived.office / name) for name in derived.report_files)
        output.say(speak("derive.said.report", language, page=page, workbook=workbook))
    output.say(f"Look at it with: sdcensus describe {typed(places.out)}")


def _run_plan(
    output: Output,
    method: str,
    said: dict[str, Any],
    store: Path,
    secret: Path | None,
    folder: Path | None,
    language: str | None,
) -> None:
    from sdcensus.session.derive import foreseen

    with Stages(output, "opening the store") as stages:
        facts, files = foreseen(
            store, method, said, secret=secret, folder=folder, language=language, progress=stages
        )
    for table in facts:
        show_facts(output, table, language)
    if not facts:
        output.say(speak("derive.about.no_plan", language))
    output.say(speak("derive.said.plan", language))
    if files:
        page, workbook = map(str, files)
        output.say(speak("derive.said.plan_files", language, page=page, workbook=workbook))
