"""A plan made ready: everything that it names is there and fits, or every mistake is told."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sdcensus._version import __version__
from sdcensus.documents.plan.document import read_plan
from sdcensus.documents.policy.document import read_policy
from sdcensus.errors import MissingExtra, SpecError
from sdcensus.formats.write import check_formats
from sdcensus.methods.method import Method
from sdcensus.model.confidential import Confidential
from sdcensus.model.perturbation.table import Lookup
from sdcensus.model.plan.plan import Plan, PlanOutput
from sdcensus.model.plan.vocabulary import SYMBOLS
from sdcensus.model.policy.policy import Policy
from sdcensus.model.published.provenance import line_text, lineage_text
from sdcensus.model.published.record_changes import cautions_of_records
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census, open_store
from sdcensus.session.census.lines import original_beside
from sdcensus.session.census.maps import mapped_levels
from sdcensus.session.census.sample import refuse_unweighted_plan
from sdcensus.session.gate.tied_units import TiedTable as TableOfUnits, check_tables
from sdcensus.session.guard.harmony import check_importable
from sdcensus.session.guard.run import (
    DEFAULT_OUTPUT,
    folders_of_plan,
    publication_name,
)
from sdcensus.session.protect.plan_method import (
    PlannedMethods,
    own_protections,
    planned_smallest_group,
    smallest_group_of,
)
from sdcensus.session.protect.table import check_methods
from sdcensus.session.publish.planned import planned_products
from sdcensus.session.publish.products import Heading, Product, spec_key
from sdcensus.session.publish.refusals import (
    check_areas,
    check_large_tables,
    check_linked,
    check_names,
    check_policy,
    check_smallest_group,
)
from sdcensus.session.publish.workplace import MANIFEST, OFFICE_FILE, folder_of, read_json
from sdcensus.store.schema_json import schema_digest

#: Gives the version of a series of numbers, from the office's folder, the plan's own wish, the
#: census, and the name of the publication.
KeyVersion = Callable[[Path, int | None, CensusInfo, str], int | None]
#: Gives the look-up with which a series goes on whose plan names none, from the office's folder,
#: the census, and the name of the publication.
LookupOf = Callable[[Path, CensusInfo, str], str | None]


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Resolved(Confidential):
    """A plan with everything that it names.

    Attributes:
        plan, file: The plan and its document.
        census: The census.
        products: What is published.
        policy, role: What it obeys, if anything.
        output: How it is delivered.
        published, office: Where to.
        heading: What stands above every table.
        methods: How its tables are protected.
        original: The census before its records were changed, for the evaluation.
        smallest_group: Groups that are published below this are not broken down further; tables
            that are protected in a way of their own have their own.
    """

    plan: Plan
    file: Path
    census: Census
    products: tuple[Product, ...]
    policy: Policy | None
    role: str
    output: PlanOutput
    published: Path
    office: Path
    heading: Heading
    methods: PlannedMethods
    original: Census | None = None
    smallest_group: int | None = None

    def __repr__(self) -> str:
        return f"<Resolved {self.file.name}: confidential>"

    @property
    def publication(self) -> str:
        """What tells this publication from others: the census and the name of the plan."""
        return publication_name(self.census.schema.census, self.file)

    def method(self, spec: TableSpec) -> Method:
        """The method of a table; the same one each time."""
        return self.methods.method(spec)

    def smallest_group_of(self, spec: TableSpec) -> int | None:
        """The smallest group of a table."""
        if spec.hash() not in self.methods.own:
            return self.smallest_group
        return smallest_group_of(self.plan, self.methods.protection(spec), self.policy)

    def together(self) -> list[tuple[TableSpec, ...]]:
        """The tables that are protected together."""
        return self.methods.together(self.specs())

    def cautions(self) -> tuple[str, ...]:
        """What to know before relying on what is published, each sentence once."""
        sentences: list[str] = []
        lookup = self.methods.lookup
        if lookup is not None and Lookup(lookup).is_set_key:
            default = replace(self.methods, lookup=None, _made={})
            if any(method.claims().by_definition for method in default.used(self.specs())):
                sentences.append(
                    f"This series goes on with the look-up {lookup!r}, with which it was"
                    " published before this version: numbers that are out stay. Draw all of them"
                    " anew by definition (--revision NAME --rekey), or name the look-up in"
                    " [protect] to keep it for good."
                )
        origin = self.census.origin
        sentences += cautions_of_records(origin.lineage, origin.listed, self.specs())
        for method in self.methods.used(self.specs()):
            sentences += method.claims().cautions
        return tuple(dict.fromkeys(sentences))

    @property
    def imports(self) -> bool:
        """Whether numbers that are out are taken over."""
        return self.plan.protect is not None and self.plan.protect.import_published

    def imports_into(self, spec: TableSpec) -> bool:
        """Whether numbers that are out are taken over into a table."""
        return self.imports and spec.hash() not in self.methods.own

    def specs(self) -> tuple[TableSpec, ...]:
        """Every table that has to be counted, once."""
        by_key = {spec_key(spec): spec for product in self.products for spec in product.specs}
        return tuple(by_key.values())

    def check_identities(self, before: Sequence[TableSpec] = ()) -> tuple[str, ...]:
        """Refuse what shows counts of one kind of unit through another; warn of what is out.

        Args:
            before: Everything that the office has published.
        """
        tables = [
            TableOfUnits(product.name, spec, required=not product.own)
            for product in self.products
            for spec in product.specs
        ]
        own = folder_of(self.office, self.publication)
        published = _published_before(self.published, own)
        return check_tables(self.census.schema, tables, published=published, before=before)

    def labels(self, product: Product) -> bool:
        """Whether files of a product have columns of labels."""
        return product.own if self.output.labels is None else self.output.labels

    def identity(self) -> dict[str, Any]:
        """Everything that decides the files of the publication, as plain values by name."""
        origin, original = self.census.origin, self.original
        policy = "" if self.policy is None else repr(self.policy)
        named = "" if self.plan.policy is None else self.plan.policy.file
        return {
            "the plan": _digest([_file_digest(self.file), self.publication]),
            "the mapping": self._document_digest(self.plan.mapping),
            "the tables": _digest([list(_told(product)) for product in self.products]),
            "the method": self._digest_of_methods(),
            "the policy": _digest([policy, self._document_digest(named), self.role]),
            **({} if self.smallest_group is None else {"the smallest group": self.smallest_group}),
            "the store": _digest([origin.data_version, origin.secret_id]),
            "the schema of the store": schema_digest(self.census.schema),
            "the store before swapping": "" if original is None else original.origin.data_version,
            "the version of sdcensus": __version__,
        }

    def _digest_of_methods(self) -> str:
        """What decides the numbers; tables with methods of their own are told one by one."""
        main = [self.methods.main(of) for of in self.units()]
        own = [
            [
                spec.hash(),
                self.method(spec).name,
                self.method(spec).parameters(),
                self.smallest_group_of(spec),
            ]
            for spec in self.specs()
            if spec.hash() in self.methods.own
        ]
        values = {
            of.value: method.parameters() for of, method in zip(self.units(), main, strict=True)
        }
        names, versions = [each.name for each in main], [each.key_version for each in main]
        return _digest([values, names, versions, *([own] if own else [])])

    def _document_digest(self, name: str) -> str:
        return _file_digest(self.plan.path(name)) if name else ""

    def units(self) -> tuple[Entity, ...]:
        """What is counted, each kind once."""
        return tuple(dict.fromkeys(spec.of for spec in self.specs()))


def _heading(plan: Plan, output: PlanOutput) -> Heading:
    """What stands above and below every table of a plan."""
    signs = tuple((SYMBOLS[name], sign) for name, sign in plan.office.symbols)
    return Heading(source=plan.office.name, date=output.date, signs=signs)


def resolve(
    plan_file: str | Path,
    *,
    out: str | Path | None = None,
    secret: str | Path | Secret | None = None,
    census: Census | None = None,
    memory_limit: str | None = None,
    key_version: KeyVersion | None = None,
    lookup: LookupOf | None = None,
) -> Resolved:
    """Read a plan and everything that it names, and check all of it before any work.

    Args:
        plan_file: The plan: ``.toml``, or an Excel workbook.
        out: The published folder, instead of the one that the plan names.
        secret: The file of the office secret; else ``SDCENSUS_SECRET_FILE`` names it.
        census: The census, if it is not the store that the plan names.
        memory_limit: How much memory the engine duckdb may take.
        key_version: Gives the version of the series of numbers, from the office's folder and
            what the plan says about it.
        lookup: Gives the look-up with which the series goes on if the plan names none.

    Raises:
        DocumentError: The plan, or a document that it names, has mistakes.
        Refused: The policy does not let some tables pass.
    """
    file = Path(plan_file)
    censuses: list[Census] = [] if census is None else [census]

    def schema_of(store: Path) -> Schema:
        if census is None:
            censuses.append(open_store(store, memory_limit=memory_limit))
        return censuses[-1].schema

    plan = read_plan(file, schema_of, files=True)
    opened, info = censuses[-1], censuses[-1].schema.census
    output = plan.output or DEFAULT_OUTPUT
    check_formats(output.formats)
    if output.evaluation and find_spec("xlsxwriter") is None:
        raise MissingExtra("formats", needed_for="The workbook of the evaluation")
    published, office = folders_of_plan(plan, out)
    products = planned_products(plan, opened.schema)
    _check_measures(plan, opened, products)
    check_names([product.name for product in products], output.formats, output.languages)
    policy = None
    if plan.policy is not None:
        policy = read_policy(plan.path(plan.policy.file), opened.schema)
    role = "production" if plan.policy is None else plan.policy.role
    series = publication_name(info, file)
    version = key_version and key_version(office, _asked_version(plan), info, series)
    named = "lookup" in _settings(plan)
    look_up = None if lookup is None or named else lookup(office, info, series)
    resolved = Resolved(
        plan=plan,
        file=file,
        census=opened,
        products=products,
        policy=policy,
        role=role,
        output=output,
        published=published,
        office=office,
        heading=_heading(plan, output),
        methods=PlannedMethods(
            plan=plan,
            census=opened,
            own=own_protections(plan, products),
            policy=policy,
            secret=secret,
            key_version=version,
            lookup=look_up,
        ),
        original=_original(plan, output, opened),
        smallest_group=planned_smallest_group(plan, opened.schema, policy),
    )
    # A secret that only stands in for the office's has made no keys; see ``check_plan``.
    origin = replace(opened.origin, secret_id="") if isinstance(secret, Secret) else opened.origin
    check_methods(resolved.specs(), origin, resolved.method)
    _check_protection(resolved)
    check_policy(resolved.products, resolved.policy, resolved.role)
    resolved.check_identities()
    check_large_tables(products, output.formats, resolved.method, policy, role)
    check_areas(products, output.formats, lambda name: mapped_levels(opened, name))
    return resolved


def _check_protection(resolved: Resolved) -> None:
    """Refuse what methods cannot do together with what else the plan asks for."""
    for of in resolved.units() if resolved.imports else ():
        check_importable(resolved.methods.main(of))
    check_linked(resolved.together(), resolved.method, resolved.policy, resolved.role)
    check_smallest_group(
        resolved.products,
        resolved.methods,
        resolved.smallest_group_of,
        imports=resolved.imports_into,
    )


def _published_before(published: Path, own: Path) -> frozenset[str]:
    """The names of products that are out already, if the office knows of it."""
    if not (own / OFFICE_FILE).is_file():
        return frozenset()
    tables = read_json(published / MANIFEST).get("tables", ())
    return frozenset(str(table.get("name")) for table in tables if isinstance(table, dict))


def _asked_version(plan: Plan) -> int | None:
    """The version of the series of numbers that a plan names."""
    asked = _settings(plan).get("key_version")
    return asked if type(asked) is int else None


def _settings(plan: Plan) -> dict[str, object]:
    """What a plan says about its method."""
    return {} if plan.protect is None else dict(plan.protect.settings)


def _check_measures(plan: Plan, census: Census, products: Sequence[Product]) -> None:
    """Refuse to count the records of a sample where nobody asks for that by name."""
    if plan.measure is None:
        said = {table.name for table in plan.tables if table.measure is not None}
        silent = [product.name for product in products if product.name not in said]
        refuse_unweighted_plan(census, silent)


def _original(plan: Plan, output: PlanOutput, derived: Census) -> Census | None:
    """The census before its records were changed: the one that is named, or stands beside it.

    The code lists of one that is named are those of the other.
    """
    if not output.evaluation:
        return None
    if not output.original_store:
        kept = derived.kept_store
        beside = kept and original_beside(kept.path, kept.manifest.lineage)
        return open_store(beside) if beside else None
    census = open_store(plan.path(output.original_store))
    mine = {
        variable.name: [code.code for code in variable.codes]
        for variable in derived.schema.variables
    }
    theirs = {
        variable.name: [code.code for code in variable.codes]
        for variable in census.schema.variables
    }
    if mine != theirs:
        raise SpecError(
            f"{output.original_store} has other variables or code lists than the store of the plan."
            " Name the store from which that was made by swapping, or leave original_store out."
        )
    _check_line(census, derived)
    return census


def _check_line(original: Census, derived: Census) -> None:
    """Refuse to evaluate with a store from which that of the plan was not made.

    A store without a lineage may have been swapped by other means, before it was loaded.
    """
    before, after = original.store.manifest, derived.store.manifest
    parents = {step.parent for step in after.lineage}
    wrong = before.data_version not in parents if after.lineage else bool(before.lineage)
    if wrong:
        raise SpecError(
            f"{original.store.path} is not the store from which that of the plan was derived: it"
            f" is {line_text(lineage_text(before.lineage))} with the data version"
            f" {before.data_version}. Name that store as original_store, or leave it out."
        )


def _told(product: Product) -> Iterator[object]:
    yield product.name
    yield product.own
    yield [spec_key(spec) for spec in product.specs]


def _file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
