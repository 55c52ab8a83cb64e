"""By which rules the links between records were found: one line, and a table, for each link."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdcensus.ingest.id_parts import LinkMatches
from sdcensus.model.schema.id_forms import LinkRule
from sdcensus.model.text import Text
from sdcensus.report.load.blocks import Listing, Words


def link_line(link: LinkMatches, words: Words) -> str:
    """How many records found theirs by each rule, and how many did not."""
    number = words.number
    parts = [
        _small("link_as_written", words, number=number(records))
        if rule is LinkRule.AS_WRITTEN
        else f"{number(records)} {_rule(link, rule, words)}"
        for rule, records in link.matches
        if records or rule is LinkRule.AS_WRITTEN
    ]
    for key, records in (("link_unmatched", link.unmatched), ("link_unnamed", link.unnamed)):
        if records:
            parts.append(_small(key, words, number=number(records)))
    return words("link_line", parts=", ".join(parts), **_gaps(link, words))


def link_rules(matches: Sequence[LinkMatches], words: Words) -> Iterator[Listing]:
    """The same as a table, where a schema declares a form in which ids compare."""
    rows = tuple(
        (words("link", **_gaps(link, words)), _rule(link, rule, words), words.number(records))
        for link in matches
        if link.form.declared
        for rule, records in link.matches
    )
    if rows:
        yield Listing(words("rules_caption"), tuple(map(words, ("units", "rule", "records"))), rows)


def _rule(link: LinkMatches, rule: LinkRule, words: Words) -> str:
    both = rule is LinkRule.LETTERS and any(link.form.widths)
    key = "rule_zeros_letters" if both else f"rule_{rule.name.lower()}"
    return _small(key, words, digits=", ".join(str(width) for width in link.form.widths if width))


def _small(key: str, words: Words, **gaps: str) -> str:
    """Words inside a sentence."""
    return Text.named(f"load.report.{key}").filled(**gaps).show(words.language)


def _gaps(link: LinkMatches, words: Words) -> dict[str, str]:
    return {"children": words.units(link.child), "parents": words.units(link.parent)}
