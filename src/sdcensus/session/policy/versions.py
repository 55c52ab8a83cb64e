"""The finest versions of a table that a policy lets pass."""

from __future__ import annotations

from sdcensus.model.policy.policy import Policy, UserRole
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.policy.code_rules import passes
from sdcensus.session.policy.lattice import CoarserVersions
from sdcensus.session.policy.online import show as decide
from sdcensus.session.policy.value_rules import Publish
from sdcensus.session.policy.verdict import Outcome

#: How many versions are given at most, and how many are published to see whether they pass.
MOST_VERSIONS = 8
MOST_PUBLISHED = 60


def publishable_versions(
    policy: Policy,
    spec: TableSpec,
    role: str | UserRole = UserRole.PUBLIC,
    show: Publish | None = None,
    *,
    most: int = MOST_VERSIONS,
    most_published: int = MOST_PUBLISHED,
) -> tuple[TableSpec, ...]:
    """The finest versions of a table that may be published, those that keep most first.

    A version has coarser areas, coarser categories, fewer variables or fewer conditions. None of
    those that are given tells everything that another one tells. A table that passes as it is, is
    its only version.

    Args:
        policy: The policy.
        spec: The table.
        role: For whom it is published.
        show: Gives the published table of a specification. With it rules on published numbers
            are checked as well: a version passes if no area of it is withheld.
        most: How many versions at most.
        most_published: How many tables are published at most while looking.
    """
    left = most_published

    def answered(version: TableSpec) -> bool:
        nonlocal left
        if not passes(policy, version, role):
            return False
        if show is None:
            return True
        if left <= 0:
            return False
        left -= 1
        verdict = decide(policy, show(version), role=role, published=show).verdict
        return verdict.outcome is Outcome.ALLOWED

    if answered(spec):
        return (spec,)
    return tuple(CoarserVersions(policy, spec, role).finest(answered, most=most))
