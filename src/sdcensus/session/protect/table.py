"""A protected table: its method by name, what it may count, its notes, its files, its audit."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sdcensus.errors import OutputError, Refused, SecretError, SpecError
from sdcensus.formats.write import check_new, table_target, write_table
from sdcensus.formats.write.squares import square_axis, write_squares
from sdcensus.methods.method import Method
from sdcensus.methods.notes import notes_for
from sdcensus.model.cube.cube import Accumulators, Cube, Origin
from sdcensus.model.linked.elsewhere import NOTHING_ELSEWHERE, CellsElsewhere
from sdcensus.model.method.parameter import Declaration, MethodOptions
from sdcensus.model.method.registry import Part, checked_options, load, takers_of
from sdcensus.model.perturbation.table import PerturbationTable
from sdcensus.model.policy.policy import Policy
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.protected import Protected
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret, SubSecret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from sdcensus.session.census.census import Census
from sdcensus.session.census.maps import outlines_in
from sdcensus.session.census.sample import refuse_unweighted_table
from sdcensus.session.census.secret_file import SECRET_VARIABLE, find_secret
from sdcensus.session.office.confidential_output import (
    check_target,
    remarks_file,
    write_audit,
)
from sdcensus.session.protect.counting import counting
from sdcensus.session.protect.detail import check_size
from sdcensus.session.protect.linked import (
    linked_method,
    protect_together,
    refuse_smallest_group,
)
from sdcensus.store.registry import Registry


@dataclass(frozen=True, slots=True, repr=False)
class AskedOfCensus:
    """What a method is built from: what was said about it, the census, and the secret.

    Attributes:
        values: What was said, checked.
        census: The census whose tables are protected.
        of: What is counted in them.
        named: The secret or its file, if one was named.
    """

    values: Mapping[str, Any]
    census: Census
    of: Entity
    named: Path | Secret | SubSecret | None

    def __repr__(self) -> str:
        return f"<AskedOfCensus: {', '.join(self.values)}>"

    @property
    def schema(self) -> Schema:
        """Of the census."""
        return self.census.schema

    def secret(self, *, needed: bool = False) -> Secret | SubSecret | None:
        """The secret at hand, if one is given or its file is named, or if there must be one."""
        if isinstance(self.named, SubSecret):
            return self.named
        if needed or self.named is not None or os.environ.get(SECRET_VARIABLE):
            return find_secret(self.named)
        return None

    def office_secret(self, method: str) -> Secret:
        """The office secret itself, for a method that draws for more than look-ups."""
        if isinstance(self.named, SubSecret):
            raise SecretError(
                f"{method} draws for more than look-ups: it needs the office secret, not a secret"
                " for one purpose."
            )
        return find_secret(self.named)

    def tables(self, texts: Sequence[str]) -> list[TableSpec]:
        """Tables that are written as comma-separated axes."""
        axes = [[axis.strip() for axis in text.split(",") if axis.strip()] for text in texts]
        return [self.census.spec(*by, of=self.of) for by in axes]

    def perturbation(
        self, file: Path, *, allow_bias: bool, repeat: int | None
    ) -> PerturbationTable:
        """The perturbation table in a file."""
        from sdcensus.session.perturbation.tables import read

        return read(file, allow_bias=allow_bias, repeat=repeat)

    def earlier(self, path: Path) -> CellsElsewhere:
        """The cells that an earlier release shows and closes."""
        from sdcensus.session.protect.earlier import read_earlier

        return read_earlier(path)

    def of_taker(self, taker: Declaration) -> AskedOfCensus:
        """The same with what one of a method and its steps takes."""
        names = {parameter.name for parameter in taker.takes}
        values = {name: value for name, value in self.values.items() if name in names}
        return AskedOfCensus(values, self.census, self.of, self.named)


def build_method(
    name: str,
    census: Census,
    *,
    of: str | Entity = Entity.PERSON,
    then: Sequence[str] = (),
    options: MethodOptions | None = None,
    secret: str | Path | Secret | SubSecret | None = None,
) -> Method:
    """A method by its name, with the steps after it.

    Args:
        name: Of a method of this package, or of one that is installed.
        census: The census whose tables it shall protect.
        of: What is counted in them.
        then: Names of steps, in their order.
        options: What is said about the method and the steps; refused where it belongs to none.
        secret: The office secret or its file; else ``SDCENSUS_SECRET_FILE`` names it.
    """
    takers = takers_of(name, then)
    values = checked_options(name, then, options or MethodOptions())
    entity = of if isinstance(of, Entity) else Entity.parse(of)
    named = Path(secret) if isinstance(secret, str) else secret
    asked = AskedOfCensus(values, census, entity, named)
    method: Method = load(Part.METHOD, name).build(asked.of_taker(takers[0]))
    if not then:
        return method
    from sdcensus.methods.pipeline import Pipeline

    steps = [load(Part.STEP, taker.name).build(asked.of_taker(taker)) for taker in takers[1:]]
    return Pipeline(method, *steps)


def takes_option(name: str, then: Sequence[str], option: str) -> bool:
    """Whether a method, or a step after it, has an option.

    Examples:
        >>> takes_option("conventional-rounding", (), "key_version")
        False
    """
    return any(taker.parameter(option) is not None for taker in takers_of(name, then))


def exempting(method: Method, policy: Policy) -> Method:
    """The same method, publishing exactly what the policy says is exact in every product.

    Raises:
        SpecError: The method changes every number.
        Refused: The policy is locked, and the method would publish more than it exactly.
    """
    if policy.lock:
        _refuse_further(method, policy)
    if not policy.exempt:
        return method
    exact = method.exempting(policy.exempt_specs())
    if exact is None:
        raise SpecError(
            f"The policy {policy.name!r} has totals that are published exactly in every product,"
            f" which the method {method.first.name!r} cannot. Take the method 'cell-key', or"
            " take [exempt] out of the policy."
        )
    return exact


def _refuse_further(method: Method, policy: Policy) -> None:
    """What is said about a method cannot loosen a locked policy."""
    known = {table.hash() for table in policy.exempt_specs()}
    further = [table.title for table in method.exempt_tables if table.hash() not in known]
    if further:
        raise Refused(
            f"The policy {policy.name!r} is locked, and would be looser: {', '.join(further)} would"
            " be published exactly. Take 'exempt' out, or have it decided in [exempt] of the"
            " policy."
        )


def check_methods(
    specs: Sequence[TableSpec], origin: Origin, method: Callable[[TableSpec], Method]
) -> None:
    """Refuse tables that their method will not protect, and keys of another secret.

    Args:
        specs: The tables.
        origin: Where their numbers will come from.
        method: Gives the method of a table.
    """
    for spec in specs:
        refuse_other_codes(method(spec), spec)
        # One zero for all cells: methods look at what a cube is before they look at its numbers.
        nothing = np.broadcast_to(np.zeros((), dtype=np.int64), spec.shape)
        keys = np.broadcast_to(np.zeros((), dtype=np.uint32), spec.shape)
        weight = nothing if spec.measure.is_weighted else None
        method(spec).check(Cube(spec, origin, Accumulators(nothing, keys, weight)))


def refuse_other_codes(method: Method, spec: TableSpec) -> None:
    """Refuse a method that shows other codes than those of the table that is promised.

    Raises:
        Refused: It chooses codes by true counts, which a person decides once.
    """
    if method.first.changes_codes:
        raise Refused(
            f"{spec.title}: the method {method.first.name!r} chooses by true counts which codes are"
            " put together, and what is published or served has the codes that are asked for. Run"
            " it once with 'sdcensus protect', look at the codes, and declare them as a level of"
            " the schema, or ask for the coarser levels; then publish that table."
        )


#: How a condition that is no universe can be asked for.
_INSTEAD = (
    'Or ask for it in a plan (where = "..."), or in the table builder: it is then a sum of'
    " published values."
)


def published_spec(
    census: Census,
    *by: str,
    of: str | Entity = Entity.PERSON,
    where: str | None = None,
    measure: str | None = None,
) -> TableSpec:
    """A table that is to be published: its condition is a universe of the schema, or codes.

    Args:
        census: The census.
        *by: The axes.
        of: What is counted.
        where: The condition, or the name of a universe.
        measure: How it is counted; by default as the census says.

    Raises:
        Refused: The records are a weighted sample, and nobody says what is counted. Or nothing
            declares the condition; the lines that would are part of what is said.
    """
    spec = census.spec(*by, of=of, universe=where, measure=measure)
    if measure is None:
        refuse_unweighted_table(census)
    if spec.universe.everything:
        return spec
    from sdcensus.documents.schema.universes import check_counted

    try:
        check_counted(spec.universe, census.schema, _INSTEAD)
    except Refused as error:
        raise Refused(f"In the condition {where!r}: {error}") from None
    return spec


def protect_table(
    census: Census,
    spec: TableSpec,
    method: Method,
    *,
    engine: str | None = None,
    smallest_group: int | None = None,
    elsewhere: CellsElsewhere = NOTHING_ELSEWHERE,
    progress: Progress = no_progress,
) -> Protected:
    """Count a table, protect it, and add the notes that its readers need.

    Groups that are published below ``smallest_group`` are not broken down further. A method that
    looks at all cells at once is told what other products show and close of them (``elsewhere``),
    and tells how far it is.
    """
    from sdcensus.session.protect.smallest_group import GroupRule

    rule = GroupRule(smallest_group)
    progress(f"counting {spec.title}", 0.0)
    if linked_method(method) is not None:
        if rule:
            refuse_smallest_group(method)
        (protected,) = protect_together(
            census, [spec], method, engine=engine, elsewhere=elsewhere, progress=progress
        )
    else:
        tabulate = counting(census, method, engine=engine)
        cube = tabulate(rule.counted(spec))
        progress("protecting", 0.0)
        protected = rule.protect(spec, method, tabulate, counted=cube)
    return noted(protected, method)


def noted(protected: Protected, method: Method) -> Protected:
    """A protected table with the notes that its readers need."""
    lineage, listed = protected.provenance.lineage, protected.audit.cube.origin.listed
    notes = notes_for(protected.table, method.claims(), lineage=lineage, listed=listed)
    notes = (*notes, *protected.table.notes)
    return replace(protected, table=replace(protected.table, notes=notes))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedFiles:
    """Where a protected table goes.

    Attributes:
        out: The new file of the published table.
        format: Its format, where the ending of the file does not tell it.
        title: What stands above the table; by default what it shows, in words.
        language: The language of labels.
        audit: The new file of the audit.
        confidential: Must be true for an audit.
        squares: A new file of the published value of every square of a grid, by its group.
        registry: The folder in which the office records what it publishes; made if it is missing.
            A table that contradicts what was published before is refused.
    """

    out: Path | None = None
    format: str | None = None
    title: Text | None = None
    language: str | None = None
    audit: Path | None = None
    confidential: bool = False
    registry: Path | None = None
    squares: Path | None = None

    def check(self) -> tuple[Path, ...]:
        """Refuse early what could not be written in the end.

        Returns:
            The public files that will be written: the table, and what stands beside it.
        """
        public = () if self.out is None else table_target(self.out, self.format).files
        if self.squares is not None:
            check_new(self.squares)
            if self.out is None:
                raise SpecError("--squares goes with the published table: --out FILE.")
            if self.squares.resolve() in [path.resolve() for path in public]:
                raise OutputError("The published table and its squares need files of their own.")
            public = (*public, self.squares)
        if not public and self.registry is not None:
            raise SpecError("--registry records what is published: --out FILE.")
        if not public and self.format is not None:
            raise SpecError("--format is the format of the published table: --out FILE.")
        if self.audit is not None:
            check_target(self.audit, confidential=self.confidential, what="An audit")
            check_new(remarks_file(self.audit))
            if self.audit.resolve() in [path.resolve() for path in public]:
                raise OutputError("The published table and its audit need files of their own.")
        return public

    def _of_audit(self) -> tuple[Path, ...]:
        return () if self.audit is None else (self.audit, remarks_file(self.audit))

    def check_size(self, census: Census, spec: TableSpec) -> None:
        """Refuse to write a table of very many cells about which nobody was asked.

        Raises:
            Unconfirmed: It has more cells than are written without a word.
        """
        if self.squares is not None:
            square_axis(spec)
        if self.out is None:
            return
        format = table_target(self.out, self.format).format.name
        records, languages = census.rows(spec.of), census.schema.census.languages[:1]
        check_size(spec, (format,), records=records, labels=True, languages=languages)

    def elsewhere(self, spec: TableSpec, method: Method) -> CellsElsewhere:
        """What is out, as far as it is recorded: which cells of a table are shown and closed.

        Nothing for a method that looks at every cell for itself.
        """
        known = self.registry is not None and self.registry.exists()
        if self.registry is None or not known or linked_method(method) is None:
            return NOTHING_ELSEWHERE
        registry = Registry.open(self.registry)
        return CellsElsewhere.of(registry.products(registry.latest()), [spec])

    def write(self, protected: Protected, census: Census | None = None) -> tuple[Path, ...]:
        """Write the published table, and apart from it the audit: all of them or none.

        Args:
            protected: The table.
            census: Its census, whose maps formats with shapes are drawn by.

        Returns:
            The public files.
        """
        table, provenance, public = protected.table, protected.provenance, self.check()
        registry = None
        if self.registry is not None:
            opened = Registry.open if self.registry.exists() else Registry.create
            registry = opened(self.registry)
            registry.refuse_conflicts(table, provenance, protected.closing)
        try:
            if self.audit is not None:
                write_audit(
                    protected,
                    self.audit,
                    confidential=self.confidential,
                    language=self.language,
                )
            if self.out is not None:
                write_table(
                    table,
                    self.out,
                    provenance=provenance,
                    format=self.format,
                    title=self.title,
                    language=self.language,
                    outlines=None if census is None else outlines_in(census),
                )
            if self.squares is not None:
                write_squares(table, self.squares)
            if registry is not None:
                registry.add(
                    table,
                    provenance=provenance,
                    name=public[0].name,
                    closes=protected.closing,
                )
        except BaseException:
            for path in (*public, *self._of_audit()):
                path.unlink(missing_ok=True)
            raise
        return public
