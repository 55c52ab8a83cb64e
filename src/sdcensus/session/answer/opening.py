"""Opening the table builder: what it offers, and whether its noise withstands all of that."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sdcensus.documents.policy.document import read_policy
from sdcensus.errors import Refused
from sdcensus.methods.method import Method
from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.plan.plan import Plan
from sdcensus.model.policy.policy import Policy, UserRole
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret, SubSecret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from sdcensus.session.answer.budgets import open_menu
from sdcensus.session.answer.checks import check_opening
from sdcensus.session.answer.service import TableService
from sdcensus.session.answer.sum_methods import sum_methods
from sdcensus.session.census.census import Census, open_census
from sdcensus.session.census.sample import refuse_unweighted_menu
from sdcensus.session.office.secret import find_any_secret, find_lookup_secret
from sdcensus.session.policy.small_codes import refuse_undecided
from sdcensus.session.protect.smallest_group import in_force
from sdcensus.session.protect.table import build_method, check_methods, exempting, takes_option

if TYPE_CHECKING:
    from sdcensus.session.guard.served_series import ServedSeries


def open_service(
    store: str | Path | Census,
    policy: str | Path | Policy,
    *,
    plan: str | Path | None = None,
    method: str = "cell-key",
    options: MethodOptions | None = None,
    sums: MethodOptions | None = None,
    secret: str | Path | Secret | SubSecret | None = None,
    key_version: int | None = None,
    source: str = "",
    registry: str | Path | None = None,
    progress: Progress = no_progress,
) -> TableService:
    """Open a census to questions of the public, if its noise withstands all that may be asked.

    Args:
        store: The store, or an exported census.
        policy: What may be asked.
        plan: A plan of the office whose method is used, so that both publish the same numbers:
            with the version of keys, the look-up and the smallest group of what is out.
        method: The method, where no plan says it.
        options: What is said about the method.
        sums: What is said about the method for sums, where no plan says it.
        secret: The look-up secret or the office secret, or the file of either; of the office
            secret only the look-up secret is kept.
        key_version: The version of the series of numbers; by default the plan's, or that of the
            look-up secret.
        source: Whose numbers these are, where no plan names its office.
        registry: The folder in which the office records what it publishes, where no plan says it:
            what is closed there is not served.
        progress: Told how far it is.

    Raises:
        Refused: The noise is too small for what the policy opens, or it would give people away;
            the message says what would do. Or what is served would not be what the plan has
            published.
    """
    progress("opening the store", 0.0)
    census = store if isinstance(store, Census) else open_census(store)
    census.verify(progress)
    rules = policy if isinstance(policy, Policy) else read_policy(policy, census.schema)
    planned = None if plan is None else _read_plan(Path(plan), census)
    published = None
    if plan is not None and planned is not None:
        published = _published_series(planned, Path(plan), census, key_version)
    lookup, version = _drawn_by(secret, key_version, planned, options, published)
    methods = _methods(census, rules, planned, method, options, lookup, version, published)
    if published is not None:
        published.refuse_set_keys(methods)
    of_sums = sum_methods(
        census, rules, methods, plan=planned, options=sums, secret=lookup, version=version
    )
    smallest = None
    if planned is not None and planned.protect is not None:
        smallest = planned.protect.smallest_group
    if published is not None:
        published.refuse_smaller_group(in_force(rules, UserRole.PUBLIC, smallest))
    _refuse_closed(rules, census, methods, registry, published)
    opening = check_opening(
        rules,
        census,
        methods,
        sums=of_sums,
        smallest_group=smallest,
        planned=planned is not None,
        progress=progress,
    )
    refuse_undecided(rules, census)
    refuse_unweighted_menu(census, rules)
    service = TableService(
        census,
        rules,
        methods,
        sums=of_sums,
        source=planned.office.name if planned and planned.office.name else Text.of(source),
        date=planned.output.date if planned and planned.output else "",
        budgets=opening.budgets,
        sum_budgets=opening.sums,
        gate=opening.gate,
        smallest_group=smallest,
        planned=planned is not None,
    )
    service.office = None if published is None else published.office
    progress("finding what can be offered", 0.8)
    _ = service.catalogue
    progress("ready", 1.0)
    return service


def _refuse_closed(
    policy: Policy,
    census: Census,
    methods: Mapping[Entity, Method],
    registry: str | Path | None,
    published: ServedSeries | None,
) -> None:
    """Refuse to show what the office has closed in what it has published."""
    from sdcensus.session.guard.closed import entries_out
    from sdcensus.session.guard.run import REGISTRY_FOLDER, read_lock
    from sdcensus.session.guard.served_menus import refuse_closed_cells
    from sdcensus.store.registry import Registry

    office = None if published is None else published.office
    folders = {} if registry is None else {Path(registry): ""}
    if office is not None and (office / REGISTRY_FOLDER).is_dir():
        folders[office / REGISTRY_FOLDER] = read_lock(office).series_of(census.schema.census)
    menus = [menu for of in methods if (menu := open_menu(policy, of)) is not None]
    for folder, series in folders.items():
        opened = Registry.open(folder)
        entries = entries_out(opened, series) if series else list(opened.latest())
        if any(entry.closes for entry in entries):
            refuse_closed_cells(policy.name, menus, opened.products(entries), census.schema)


def _read_plan(path: Path, census: Census) -> Plan:
    # Here and not above: a server without a plan starts faster without all that reads one.
    from sdcensus.documents.plan.document import read_plan

    return read_plan(path, lambda _: census.schema)


def _published_series(
    plan: Plan, file: Path, census: Census, key_version: int | None
) -> ServedSeries:
    """How the plan has published, which is how it is served."""
    from sdcensus.session.guard.served_series import ServedSeries

    series = ServedSeries.of(plan, file, census)
    said = {} if plan.protect is None else dict(plan.protect.settings)
    asked = said.get("key_version")
    for version in (key_version, asked if type(asked) is int else None):
        series.refuse_version(version)
    series.refuse_lookup(said.get("lookup"))
    series.refuse_other_records(census)
    return series


def _drawn_by(
    secret: str | Path | Secret | SubSecret | None,
    key_version: int | None,
    plan: Plan | None,
    options: MethodOptions | None,
    published: ServedSeries | None,
) -> tuple[SubSecret, int]:
    """The look-up secret, and the version of the series of numbers."""
    given = secret if isinstance(secret, Secret | SubSecret) else find_any_secret(secret)
    if key_version is None and published is not None:
        key_version = published.key_version
    version = key_version if key_version is not None else _said_version(plan, options, given)
    return find_lookup_secret(given, version=version), version


def _methods(
    census: Census,
    policy: Policy,
    plan: Plan | None,
    name: str,
    options: MethodOptions | None,
    lookup: SubSecret,
    version: int,
    published: ServedSeries | None,
) -> dict[Entity, Method]:
    """The method for each kind of unit; it must give one answer to the same question."""
    methods: dict[Entity, Method] = {}
    for spec in census.schema.entities:
        of = spec.entity
        if not policy.counts(of):
            continue  # weighted counts are offered, and these units have no weight
        if plan is not None:
            from sdcensus.session.protect.plan_method import planned_method

            method = planned_method(
                plan,
                census,
                of,
                secret=lookup,
                key_version=version,
                lookup=None if published is None else published.lookup,
            )
        else:
            said = options or MethodOptions()
            if takes_option(name, (), "key_version"):
                said = said.also(key_version=version)
            method = build_method(name, census, of=of, options=said, secret=lookup)
        if not method.has_own_noise:
            raise Refused(
                f"The table builder protects tables by cell keys, and not by"
                f" {method.described_name!r}: every cell must have the same number in every table,"
                " and noise whose look budget can be computed. Take the method 'cell-key' (rounding"
                " too is one: --scheme RR3), without steps after it."
            )
        methods[of] = exempting(method, policy)
    check_methods(
        [TableSpec(of=of, axes=()).measured(policy.answers, census.schema) for of in methods],
        census.origin,
        lambda spec: methods[spec.of],
    )
    return methods


def _said_version(
    plan: Plan | None,
    options: MethodOptions | None,
    secret: Secret | SubSecret,
) -> int:
    if plan is not None and plan.protect is not None:
        said = dict(plan.protect.settings).get("key_version")
        if type(said) is int:
            return said
    asked = None if options is None else options.given().get("key_version")
    if type(asked) is int:
        return asked
    return secret.version if isinstance(secret, SubSecret) else 1
