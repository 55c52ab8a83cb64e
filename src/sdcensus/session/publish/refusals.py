"""What is refused before any work: names that collide, tables too large for what is asked."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence

from sdcensus.errors import Refused, SpecError
from sdcensus.formats.write import files_of
from sdcensus.formats.write.streamed import check_streamed_formats
from sdcensus.methods.method import CellMethod, Method
from sdcensus.model.cube.layout import Layout
from sdcensus.model.cube.sparse_cube import LARGEST_DENSE_GRID
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.plan.plan import PlanOutput
from sdcensus.model.policy.policy import Policy
from sdcensus.model.published.area_outlines import square_of
from sdcensus.model.published.table_format import all_formats, table_format
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.measures import FigureOf
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import LANGUAGES
from sdcensus.model.vocabulary import AmountFigure
from sdcensus.session.census.census import Census
from sdcensus.session.figures.asked import FiguresProduct
from sdcensus.session.policy import (
    Outcome,
    Verdict,
    amount_policy,
    ask,
    refused_measure,
    told_of_amount,
)
from sdcensus.session.protect.detail import check_size
from sdcensus.session.protect.linked import refuse_smallest_group
from sdcensus.session.protect.plan_method import PlannedMethods
from sdcensus.session.protect.smallest_group import GroupRule, judging_method, too_large
from sdcensus.session.publish.products import Product, TableProduct
from sdcensus.session.publish.workplace import MANIFEST

#: Tables that a message names.
_MOST_NAMED = 5
#: Refused tables that a message lists.
_MOST_LISTED = 10
#: File systems allow no longer names, in bytes.
LONGEST_NAME = 255


def check_names(names: Sequence[str], formats: Sequence[str], languages: Sequence[str]) -> None:
    """Refuse names of products whose files would be one file on some system.

    Args:
        names: The products.
        formats, languages: In which files are written.

    Examples:
        >>> check_names(["ages", "Ages"], ["csv"], [])
        Traceback (most recent call last):
        ...
        sdcensus.errors.SpecError: 'ages' and 'Ages' would both be written to 'Ages.about.json' ...
    """
    owners = {_folded(file): -1 for file in _own_files(languages)}
    for at, name in enumerate(names):
        files = {file for format in formats for file in files_of(name, format, languages)}
        for file in sorted(files):
            if len(file.encode()) > LONGEST_NAME:
                raise SpecError(f"{name!r} is too long for the name of a file. Take a shorter one.")
            owner = owners.setdefault(_folded(file), at)
            if owner < 0:
                raise SpecError(
                    f"A table cannot be called {name!r}: {file!r} is a file of the publication"
                    " itself. Give it another name."
                )
            if owner != at:
                raise SpecError(
                    f"{names[owner]!r} and {name!r} would both be written to {file!r} (case does"
                    " not matter in names of files). Give one of them another name."
                )


def check_areas(
    products: Sequence[Product], formats: Sequence[str], mapped: Callable[[str], Collection[str]]
) -> None:
    """Refuse formats for maps where a table has no areas whose shapes are known.

    Args:
        products: What is published.
        formats: In which formats.
        mapped: Gives the levels of a variable that there is a map of.
    """
    for_maps = [name for name in formats if table_format(name).areas]
    if not for_maps:
        return

    def drawn(axis: Axis) -> bool:
        squares = any(square_of(code.code) is not None for code in axis.codes[:3])
        return squares or any(level.name in mapped(axis.variable.name) for level in axis.levels)

    without = [
        product.name
        for product in products
        if not any(drawn(axis) for spec in product.specs for axis in spec.axes)
    ]
    if without:
        raise SpecError(
            f"The format {for_maps[0]!r} is for maps, and these tables have no areas whose shapes"
            f" are known: {', '.join(without)}. Take the format out of [output], put a grid or a"
            " geography with a map on their axes, or publish them by a plan of their own."
        )


def check_large_tables(
    products: Sequence[Product],
    formats: Sequence[str],
    method: Callable[[TableSpec], Method],
    policy: Policy | None,
    role: str,
) -> None:
    """Refuse tables that are too large to be held where something needs them whole.

    Args:
        products: What is published.
        formats: In which formats.
        method: Gives the method of a table.
        policy, role: What it obeys, if anything.
    """
    for product in products:
        large = [spec for spec in product.specs if spec.cells > LARGEST_DENSE_GRID]
        if not large:
            continue
        if not isinstance(product, TableProduct):
            raise SpecError(
                f"{product.name}: a table behind it has {large[0].cells:,} cells and is too large"
                " to be held whole. Take coarser areas or fewer variables."
            )
        check_streamed_formats(formats, product.name)
        used = method(large[0])
        if used.steps or not isinstance(used.first, CellMethod):
            raise SpecError(
                f"{product.name}: the table has {large[0].cells:,} cells and is too large to be"
                f" held whole, which {used.described_name!r} needs. Take fewer or coarser axes, or"
                " the method 'cell-key' alone."
            )
        if policy is None:
            continue
        part = ask(policy, large[0], role=role).outcome is Outcome.WITHHELD
        if part or policy.online_for(role).on_values:
            raise Refused(
                f"{product.name}: the table has {large[0].cells:,} cells and is too large to be"
                f" held whole, so the rules of the policy {policy.name!r} on published numbers and"
                " on single codes cannot be applied to it. Take fewer or coarser axes."
            )


def check_linked(
    together: Sequence[Sequence[TableSpec]],
    method: Callable[[TableSpec], Method],
    policy: Policy | None,
    role: str,
) -> None:
    """Refuse tables that cannot be protected together, before any work.

    Args:
        together: Tables that are protected together.
        method: Gives the method of a table.
        policy, role: What they obey, if anything.
    """
    for specs in together:
        LinkedTables.to_count(specs)
        if policy is not None and policy.online_for(role).on_values:
            names = ", ".join(spec.title for spec in specs[:_MOST_NAMED])
            raise Refused(
                f"{names}: the policy {policy.name!r} has rules on published numbers, and"
                f" {method(specs[0]).first.name!r} decides about all cells at once: what such a"
                " rule hides beside could be computed from the rest. Publish these tables under a"
                " role without such rules, or by another method."
            )


def check_sizes(
    products: Sequence[Product],
    output: PlanOutput,
    census: Census,
    labels: Callable[[Product], bool],
) -> None:
    """Refuse tables of very many cells about which nobody was asked.

    Args:
        products: What is published.
        output: How it is delivered.
        census: The census.
        labels: Says whether files of a product have columns of labels.

    Raises:
        Unconfirmed: A table has more cells than are written without a word.
    """
    for product in products:
        for spec in product.specs if isinstance(product, TableProduct) else ():
            check_size(
                spec,
                output.formats,
                records=census.rows(spec.of),
                labels=labels(product),
                languages=output.languages or census.schema.census.languages,
                name=product.name,
            )


def check_smallest_group(
    products: Sequence[Product],
    methods: PlannedMethods,
    smallest_group: Callable[[TableSpec], int | None],
    *,
    imports: Callable[[TableSpec], bool],
) -> None:
    """Refuse what cannot obey the rule of the smallest group.

    Args:
        products: What is published.
        methods: How tables are protected.
        smallest_group: Gives the smallest group of a table, if there is a rule for it.
        imports: Says whether numbers are taken over that other methods made.
    """
    for product in products:
        for spec in product.specs:
            smallest = smallest_group(spec)
            if smallest is None:
                continue
            if imports(spec):
                raise SpecError(
                    "smallest_group reads the numbers that the method of the plan publishes, and"
                    " import_published takes others over: what is hidden would not follow from what"
                    " is shown. Leave one of the two out."
                )
            refuse_smallest_group(methods.method(spec))
            judging_method(methods.method(spec), methods.judging(spec))
            counted = GroupRule(smallest).counted(spec)
            if max(counted.cells, Layout(counted).size) > LARGEST_DENSE_GRID:
                raise Refused(f"{product.name}: {too_large(spec, smallest)}")


def _own_files(languages: Sequence[str]) -> Iterator[str]:
    """Files of a publication that belong to no table."""
    yield MANIFEST
    yield "notes.html"
    for language in (*LANGUAGES, *languages):
        yield f"notes.{language}.html"
    # Names that would be read as the publication's own, in whatever format.
    for name in ("manifest", "notes"):
        for format in all_formats():
            yield from format.files(name, tuple(languages))


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def check_policy(products: Sequence[Product], policy: Policy | None, role: str) -> None:
    """Refuse before any work what a policy does not let pass by code lists alone.

    Args:
        products: What is published.
        policy, role: What they obey, if anything.

    Raises:
        Refused: Some of them do not pass.
    """
    if policy is None:
        return
    refused = []
    for product in products:
        for verdict in _verdicts(policy, product, role):
            if verdict.outcome is Outcome.REFUSED:
                refused.append(f"{product.name}: " + "\n    ".join(verdict.lines()))
                break
    if refused:
        more = len(refused) - _MOST_LISTED
        lines = [f"  {line}" for line in refused[:_MOST_LISTED]]
        lines += [f"  and {more} more"] if more > 0 else []
        raise Refused(
            f"The policy {policy.name!r} does not let {len(refused)} of"
            f" {len(products)} products pass for the role {role!r}:\n" + "\n".join(lines)
        )


def _verdicts(policy: Policy, product: Product, role: str) -> Iterator[Verdict]:
    """What a policy says of a product, by code lists: of its tables, and of its amounts.

    An amount of which the policy says nothing is closed to those who ask, and no plan has to open
    it to them in order to publish it.
    """
    groups = product.specs[0]
    for figure in _amounts_of(product):
        rule = policy.amount_rule(figure.amount)
        if rule is None:
            continue
        if groups.amount is None:  # a percentile: its classes are no groups
            axes = [axis for axis in groups.axes if axis.variable.name != figure.amount]
            groups = groups.with_axes(axes)
        reason = refused_measure(policy, figure, groups.of)
        verdict = ask(amount_policy(policy, rule), groups, role=role)
        yield told_of_amount(policy, figure, verdict if reason is None else Verdict((reason,)))
    for spec in product.specs:
        yield ask(policy, spec, role=role)


def _amounts_of(product: Product) -> tuple[FigureOf, ...]:
    """What a product tells of which amounts."""
    if isinstance(product, FiguresProduct):
        return product.amounts
    return tuple(
        FigureOf(AmountFigure.SUM, spec.amount.name)
        for spec in product.specs
        if spec.amount is not None
    )
