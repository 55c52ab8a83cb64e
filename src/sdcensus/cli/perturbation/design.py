"""``sdcensus ptable design``: rows of a perturbation from what an office asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.perturbation.options import (
    KeyCount,
    KeyVersion,
    Order,
    Source,
    Strength,
    VarianceMode,
    number,
    office_secret,
)
from sdcensus.cli.perturbation.tables import (
    rows_up_to,
    say_hidden,
    say_written,
    show_figures,
    show_probabilities,
    show_relaxed,
)
from sdcensus.cli.shared.console import Output, Stages, typed
from sdcensus.cli.shared.options import Quiet, SecretFile, examples, listed
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.vocabulary import ExchangeFormat, Relax

if TYPE_CHECKING:
    from sdcensus.model.perturbation.design import PerturbationDesign
    from sdcensus.report.perturbation.summary import Summary
    from sdcensus.session.perturbation.tables import Written

EXAMPLES = examples(
    "sdcensus ptable design --max-deviation 3 --variance 1.5 --stay 0.4 --out pt.csv",
    "sdcensus ptable design --max-deviation 3 --variance 2.01 --blocked 2 --stay 1/3",
    "sdcensus ptable design --strength medium --format sas --out pt.csv",
    "sdcensus ptable design --scheme 'CP3(EU)' --format ons --out pt.csv",
    "sdcensus ptable design --source normal --sigma 1.41",
    "sdcensus ptable design --scheme CP3 --order scrambled --out pt.csv",
)


def design(
    max_deviation: Annotated[
        int | None,
        typer.Option("--max-deviation", metavar="D", help="How far a count may move, up or down."),
    ] = None,
    variance: Annotated[
        float | None,
        typer.Option("--variance", metavar="V", parser=number, help="Variance of the change."),
    ] = None,
    blocked: Annotated[
        int | None,
        typer.Option("--blocked", metavar="B", help="Counts from 1 to B are never published."),
    ] = None,
    stay: Annotated[
        str | None,
        typer.Option(
            "--stay",
            metavar="P",
            help="Smallest probability that a count stays as it is; one, or one for each row from"
            " count 1 on: 0.5,0.4,0.4.",
        ),
    ] = None,
    not_monotone: Annotated[
        bool,
        typer.Option("--not-monotone", help="A smaller change may be rarer than a larger one."),
    ] = False,
    variance_mode: Annotated[
        VarianceMode | None,
        typer.Option("--variance-mode", help="Whether rows may have less variance."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse rows that cannot meet everything.")
    ] = False,
    relax: Annotated[
        Relax | None,
        typer.Option(
            "--relax",
            help="What rows give up that do not reach the variance: stay probability in steps of"
            " 0.05, as the reference does, or as little of it as possible.",
        ),
    ] = None,
    scheme: Annotated[
        str | None,
        typer.Option("--scheme", metavar="NAME", help="A scheme of the literature, such as CP3."),
    ] = None,
    strength: Annotated[
        Strength | None, typer.Option("--strength", help="A scheme in plain words.")
    ] = None,
    source: Annotated[
        Source | None,
        typer.Option(
            "--source",
            help="Rows from elsewhere: a normal distribution cut off at D (--sigma), a two-sided"
            " geometric one (--epsilon), or changes of single units (--units).",
        ),
    ] = None,
    sigma: Annotated[
        float | None,
        typer.Option(
            "--sigma", metavar="S", parser=number, help="Standard deviation of the normal one."
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--epsilon", metavar="E", parser=number, help="How steeply the geometric one falls."
        ),
    ] = None,
    units: Annotated[
        int | None,
        typer.Option("--units", metavar="X", help="How many units of a count change on average."),
    ] = None,
    perturb_zeros: Annotated[
        str | None,
        typer.Option(
            "--perturb-zeros",
            metavar="SHARE",
            help="Let empty cells grow: a share of them to the smallest possible count, or"
            " 1:0.02,2:0.01 for several counts.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the table to a new file.")
    ] = None,
    file_format: Annotated[
        ExchangeFormat, typer.Option("--format", help="The layout of that file.")
    ] = ExchangeFormat.ARGUS,
    key_space: KeyCount = None,
    order: Annotated[
        Order,
        typer.Option(
            "--order", help="In which order the changes stand; scrambled needs the secret."
        ),
    ] = Order.ASCENDING,
    secret: SecretFile = None,
    key_version: KeyVersion = 1,
    quiet: Quiet = False,
) -> None:
    """Design a perturbation table, and write it.

    Say what is wanted in one of four ways: --max-deviation with --variance, --scheme, --strength
    or --source. Rows have the greatest entropy that the wishes allow; what a row cannot meet is
    said. Without --out, the table is only shown.
    """
    from sdcensus.session import perturbation as session

    output = Output(quiet=quiet)
    if out is None and (order is Order.SCRAMBLED or key_space is not None):
        raise SpecError("--order and --key-space are about a file. Say which one: --out FILE.")
    wishes = _Wishes(
        max_deviation=max_deviation,
        variance=variance,
        blocked=blocked,
        stay=stay,
        not_monotone=not_monotone or None,
        variance_mode=variance_mode,
        strict=strict or None,
        relax=relax,
        scheme=scheme,
        strength=strength,
        source=source,
        sigma=sigma,
        epsilon=epsilon,
        units=units,
    )
    _check_wishes(wishes.given())
    with all_or_nothing(), Stages(output, "designing the rows"), _names_as_options():
        designed = wishes.designed()
        if perturb_zeros is not None:
            designed = designed.with_perturbed_zeros(_zeros(perturb_zeros, designed.blocked + 1))
        summary = session.summarise(designed, lookups=False)
        written = None
        if out is not None:
            written = session.write(
                designed,
                out,
                file_format.value,
                modulus=key_space,
                scramble=order is Order.SCRAMBLED,
                secret=office_secret(secret) if order is Order.SCRAMBLED else None,
                key_version=key_version,
            )
    _show(output, designed.name, summary, written)


def _show(output: Output, name: str, summary: Summary, written: Written | None) -> None:
    from sdcensus.report.perturbation.words import in_words

    output.say(f"{name or 'Perturbation table'}: confidential", style="bold")
    output.say(in_words(summary))
    rows = rows_up_to(summary, _COUNTS)
    show_probabilities(output, rows)
    show_figures(output, rows)
    say_hidden(output, summary, rows, "See them with sdcensus ptable show FILE --counts N.")
    output.say(summary.tail)
    show_relaxed(output, summary)
    output.say()
    if written is None:
        output.say("Nothing was written. Write it with --out FILE.")
    else:
        say_written(output, written)
        output.say("See the risk of each look-up, and pictures, with:")
        repeat = f" --repeat {written.repeat}" if written.repeat else ""
        output.command(f"sdcensus ptable show {typed(written.path)}{repeat} --plot FILE.html")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wishes:
    """What is asked for, by the names of the options; ``None`` where nothing was said."""

    max_deviation: int | None
    variance: float | None
    blocked: int | None
    stay: str | None
    not_monotone: bool | None
    variance_mode: VarianceMode | None
    strict: bool | None
    relax: Relax | None
    scheme: str | None
    strength: Strength | None
    source: Source | None
    sigma: float | None
    epsilon: float | None
    units: int | None

    def given(self) -> dict[str, object]:
        """What was said, as it was typed."""
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            f"--{name.replace('_', '-')}": wish for name, wish in said.items() if wish is not None
        }

    def designed(self) -> PerturbationDesign:
        """The rows; wishes were checked before."""
        from sdcensus.session import perturbation as session

        if self.scheme is not None:
            return session.scheme(self.scheme)
        if self.strength is not None:
            return session.strength(self.strength.value)
        if self.source is Source.NORMAL:
            limit = _NORMAL_LIMIT if self.max_deviation is None else self.max_deviation
            return session.truncated_normal(self.sigma or 0.0, limit=limit)
        if self.source is Source.GEOMETRIC:
            return session.two_sided_geometric(self.epsilon or 0.0, self.max_deviation or 0)
        if self.source is Source.PER_UNIT:
            return session.per_unit_deviations(self.units or 0)
        return session.design(
            self.max_deviation or 0,
            self.variance or 0.0,
            self.blocked or 0,
            stay=_stays(self.stay),
            monotone=not self.not_monotone,
            variance_mode=(self.variance_mode or VarianceMode.AT_MOST).value.replace("-", "_"),
            strict=bool(self.strict),
            relax=(self.relax or Relax.REFERENCE).value,
        )


#: Rows of counts up to this one are shown.
_COUNTS = 20

#: Where a normal distribution is cut off, as in the study that proposed it.
_NORMAL_LIMIT = 5
_WAYS = ("--scheme", "--strength", "--source")
_OF_SOURCE = {
    Source.NORMAL: ("--sigma", ("--max-deviation",)),
    Source.GEOMETRIC: ("--epsilon", ("--max-deviation",)),
    Source.PER_UNIT: ("--units", ()),
}


def _check_wishes(given: dict[str, object]) -> None:
    """Refuse options that contradict each other, and wishes that are not complete."""
    ways = [name for name in _WAYS if name in given]
    if len(ways) > 1:
        raise SpecError(f"{' and '.join(ways)} contradict each other. Leave one of them away.")
    if not ways:
        own = [name for name in ("--sigma", "--epsilon", "--units") if name in given]
        if own:
            where = next(source for source, (name, _) in _OF_SOURCE.items() if name == own[0])
            raise SpecError(f"{own[0]} belongs to --source {where}. Add it, or leave it away.")
        missing = [name for name in ("--max-deviation", "--variance") if name not in given]
        if len(missing) == 2:
            raise SpecError(
                "Say what is wanted: --max-deviation and --variance, or --scheme, --strength or"
                " --source."
            )
        if missing:
            raise SpecError(f"{missing[0]} is needed as well.")
        return
    allowed: tuple[str, ...] = ()
    if ways == ["--source"]:
        needed, optional = _OF_SOURCE[Source(str(given["--source"]))]
        allowed = (needed, *optional)
        if needed not in given:
            raise SpecError(f"--source {given['--source']} needs {needed} as well.")
        if given["--source"] is Source.GEOMETRIC and "--max-deviation" not in given:
            raise SpecError("--source geometric needs --max-deviation as well.")
    rest = [name for name in given if name not in (*ways, *allowed)]
    if rest:
        raise SpecError(
            f"{ways[0]} {given[ways[0]]} already says what {' and '.join(rest)} would. Leave one"
            " of them away."
        )


@contextmanager
def _names_as_options() -> Iterator[None]:
    """Let messages about parameters of Python name the options that the user typed."""
    try:
        yield
    except UnknownName:
        raise
    except SpecError as error:
        text = re.sub(r"\b(max_deviation|variance|blocked|stay)=", r"--\1 ", str(error))
        text = re.sub(r"^(variance|blocked|stay)\b", r"--\1", text)
        text = re.sub(r"(?<!-)\bmax_deviation\b", "--max_deviation", text)
        text = text.replace("--max_deviation", "--max-deviation")
        raise SpecError(text.replace("Without strict", "Without --strict")) from None


def _stays(text: str | None) -> float | list[float] | None:
    if text is None:
        return None
    try:
        values = [float(Fraction(number)) for number in listed(text)]
        if not values:
            raise ValueError
    except (ValueError, ZeroDivisionError, OverflowError):
        raise SpecError(
            f"--stay {text!r} is no probability. Write it as 0.4 or 2/5, or several of them with"
            " commas between, one for each row."
        ) from None
    return values[0] if len(values) == 1 else values


def _zeros(text: str, smallest: int) -> dict[int, float]:
    """What empty cells become, and how likely."""
    try:
        if ":" not in text:
            return {smallest: float(Fraction(text))}
        pairs = [pair.split(":") for pair in listed(text)]
        shares = {int(target): float(Fraction(share)) for target, share in pairs}
        if len(shares) != len(pairs):
            raise ValueError
        return shares
    except (ValueError, ZeroDivisionError, OverflowError):
        raise SpecError(
            f"--perturb-zeros {text!r} is not understood. Write the share of empty cells that grow,"
            " such as 0.02, or counts with their shares, such as 1:0.02,2:0.01."
        ) from None
