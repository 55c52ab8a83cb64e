"""Ids of records: the texts of their columns, the form in which they compare, their digests.

Links are ids of other records: how they match, and which form would help where they do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.errors import InputError
from sdcensus.ingest.readers import open_reader
from sdcensus.kernels.keys.record_keys import record_digests
from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.file_problems import Advice, Adviser
from sdcensus.model.schema.id_forms import (
    EMPTY_FRACTION,
    LARGEST_FLOAT_ID,
    WHOLE_NUMBER,
    IdForm,
    LinkRule,
)
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.text import Text

Integers = npt.NDArray[Any]
#: No id that is proposed has more digits.
MOST_ID_DIGITS = 40


@dataclass(frozen=True, slots=True)
class IdDigests:
    """The ids of a batch of records.

    Attributes:
        digests: The digest of each id in its form.
        empty: Which ids are incomplete.
        bad: Which cannot be used.
        after: Where a form is declared: the digests after each rule but the last.
    """

    digests: Integers
    empty: Integers
    bad: Integers
    after: Mapping[LinkRule, Integers] = field(default_factory=dict)


class IdParts:
    """Canonical ids of records: constant parts, then columns, joined by ``|``."""

    def __init__(
        self,
        columns: Sequence[str],
        *,
        prefix: Sequence[str],
        widths: Mapping[str, int],
        form: IdForm,
        file: str,
        secret: bytes,
        tag: str,
    ) -> None:
        self.columns = tuple(columns)
        self._prefix = tuple(prefix)
        self._widths = widths
        self._form = form
        self._file = file
        self._secret = secret
        self._tag = tag

    def digests(self, batch: pa.RecordBatch) -> IdDigests:
        """The ids of the records of a batch."""
        written = [self._written(batch, part) for part in range(len(self.columns))]
        empty = np.zeros(batch.num_rows, dtype=bool)
        bad = np.zeros(batch.num_rows, dtype=bool)
        for part in written:
            empty |= _mask(pc.or_kleene(pc.is_null(part), pc.equal(part, "")))
            bad |= _mask(pc.match_substring_regex(part, r"\||^-"))
        for name, part in zip(self.columns, written, strict=True):
            if not pa.types.is_string(batch.column(name).type) and name in self._widths:
                bad |= _mask(pc.greater(pc.utf8_length(part), self._widths[name]))
            bad |= _inexact(batch.column(name))
        after: dict[LinkRule, Integers] = {}
        parts = written
        digests = self._digests(parts)
        for rule, texts in in_forms(written, self._form):
            after[rule] = digests
            if not all(new.equals(old) for new, old in zip(texts, parts, strict=True)):
                digests = self._digests(texts)
            parts = texts
        for at, part in enumerate(parts):
            if self._form.width(at):
                whole = pc.match_substring_regex(part, WHOLE_NUMBER)
                wide = pc.greater(pc.utf8_length(part), self._form.width(at))
                bad |= _mask(pc.and_(whole, wide))
        return IdDigests(digests, empty, bad & ~empty, after)

    def _digests(self, parts: Sequence[pa.Array]) -> Integers:
        whole = [*(pa.scalar(text) for text in self._prefix), *parts]
        return _digests(_join(whole, "|"), secret=self._secret, tag=self._tag)

    def _written(self, batch: pa.RecordBatch, part: int) -> pa.Array:
        name = self.columns[part]
        array = batch.column(name)
        if pa.types.is_string(array.type):
            return pc.utf8_trim_whitespace(array)
        width = self._widths.get(name)
        if self._form.width(part) and (width is None or not pa.types.is_integer(array.type)):
            return number_texts(array)
        if width is None or not pa.types.is_integer(array.type):
            what = "numbers" if pa.types.is_integer(array.type) else "decimal numbers"
            raise InputError(
                f"{self._file}: the id column {name!r} holds {what}, whose text is not fixed."
                " Declare how many digits it has, in the entry of the units that it identifies:"
                f" id_width = 4 (a list with a number for each column of the id); or store {name!r}"
                " as text."
            )
        # Behind the sign, if there is one: an id that begins with it is refused.
        return pc.utf8_zero_fill(array.cast(pa.string()), width=width)


def part_after(name: str, rule: LinkRule) -> str:
    """The column of the parts with the digests of ids after a rule, of which there are more."""
    return f"{name}.after-{rule.name.lower()}"


def number_texts(array: pa.Array) -> pa.Array:
    """Ids that are stored as numbers, as texts: whole numbers without a fraction."""
    if not pa.types.is_floating(array.type):
        return array.cast(pa.string())
    exact = pc.if_else(pa.array(~_inexact(array)), array, None)
    return pc.coalesce(exact.cast(pa.int64()).cast(pa.string()), array.cast(pa.string()))


def _inexact(array: pa.Array) -> Integers:
    """Which floats are no whole numbers, or too large to be told from their neighbours."""
    if not pa.types.is_floating(array.type):
        return np.zeros(len(array), dtype=bool)
    whole = pc.equal(pc.trunc(array), array)
    small = pc.less_equal(pc.abs(array), float(LARGEST_FLOAT_ID))
    return ~_mask(pc.or_kleene(pc.is_null(array), pc.and_kleene(whole, small)))


def in_forms(
    written: Sequence[pa.Array], form: IdForm
) -> Sequence[tuple[LinkRule, list[pa.Array]]]:
    """The parts of ids after each further rule of a form; with each the rule before it."""
    forms: list[tuple[LinkRule, list[pa.Array]]] = []
    parts = list(written)
    for before, rule in zip(form.rules, form.rules[1:], strict=False):
        parts = [_after(part, rule, form.width(at)) for at, part in enumerate(parts)]
        forms.append((before, parts))
    return forms


def _after(part: pa.Array, rule: LinkRule, width: int) -> pa.Array:
    """One part of ids after a rule; arrays that it does not change are passed on."""
    if rule is LinkRule.LETTERS:
        return pc.ascii_upper(part)
    if not width:
        return part
    whole = pc.match_substring_regex(part, WHOLE_NUMBER)
    if rule is LinkRule.WHOLE:
        changed = pc.replace_substring_regex(part, EMPTY_FRACTION, "")
    else:
        changed = pc.utf8_zero_fill(pc.ascii_ltrim(part, "0"), width=width)
    return pc.if_else(whole, changed, part)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LinkMatches(Confidential):
    """How the links from records of one kind to those of another match. Confidential.

    Attributes:
        child, parent: The kind of the records that name another, and of those that they name.
        columns: The columns that name it.
        form: The form in which ids are compared.
        matches: How many records found theirs by each rule, in the order of the rules.
        unmatched: How many name one that there is none of.
        unnamed: How many name none.
        alone: How many of the parents are named by nobody.
    """

    child: Entity
    parent: Entity
    columns: tuple[str, ...]
    form: IdForm
    matches: tuple[tuple[LinkRule, int], ...]
    unmatched: int
    unnamed: int
    alone: int

    def __repr__(self) -> str:
        return f"<links of {self.child.plural} to {self.parent.plural}: confidential>"


def form_adviser(schema: Schema, child: Entity, parent: Entity, usual: Adviser) -> Adviser:
    """What helps against links that lead nowhere: a form in which more of them match, if any."""

    def advise(values: Sequence[str], complete: bool) -> Advice:
        advice = usual(values, complete)
        helpful = None if schema.entity(parent).form.declared else _helpful(schema, child, parent)
        if helpful is None:
            return advice
        setting, number = helpful
        gaps = {"setting": setting, "parent": parent.value, "number": f"{number:,}"}
        return replace(advice, remedy=Text.named("load.remedy.link.form").filled(**gaps))

    return advise


def _helpful(schema: Schema, child: Entity, parent: Entity) -> tuple[str, int] | None:
    """The simplest form in which most links are found that are none as written, and how many."""
    spec, above = schema.entity(child), schema.entity(parent)
    columns = spec.link if parent is spec.within and spec.link else above.id
    ids, links = (
        _texts(schema, schema.entity(kind).derived_from or kind, names)
        for kind, names in ((parent, above.id), (child, columns))
    )
    widths = tuple(max(map(most_digits, pair)) for pair in zip(ids, links, strict=True))
    as_written = _matching(ids, links, IdForm())
    best, chosen = as_written, IdForm()
    for form in (IdForm(widths), IdForm((), any_case=True), IdForm(widths, any_case=True)):
        found = _matching(ids, links, form)
        known = joined(ids, form)
        distinct = pc.count_distinct(known).as_py()
        if found > best and distinct == pc.count_distinct(joined(ids, IdForm())).as_py():
            best, chosen = found, form
    if best == as_written:
        return None
    several = len(chosen.widths) > 1
    digits = str(list(chosen.widths)) if several else "".join(map(str, chosen.widths))
    settings = [f"id_width = {digits}"] * any(chosen.widths)
    settings += ["id_any_case = true"] * chosen.any_case
    return ", ".join(settings), best - as_written


def _texts(schema: Schema, home: Entity, columns: Sequence[str]) -> list[pa.Array]:
    file = next(file for file in schema.files if file.entity is home)
    batches = list(open_reader(file.source).batches(list(dict.fromkeys(columns))))
    return [
        pa.concat_arrays([plain_texts(batch.column(name)) for batch in batches]) for name in columns
    ]


def _matching(ids: Sequence[pa.Array], links: Sequence[pa.Array], form: IdForm) -> int:
    named = joined(links, form).drop_null()
    return int(pc.sum(pc.is_in(named, value_set=joined(ids, form))).as_py() or 0)


def most_digits(texts: pa.Array) -> int:
    """How many digits the whole numbers among some texts have at most."""
    whole = texts.filter(pc.match_substring_regex(texts, WHOLE_NUMBER))
    lengths = pc.utf8_length(pc.replace_substring_regex(whole, EMPTY_FRACTION, ""))
    return min(int(pc.max(lengths).as_py() or 0), MOST_ID_DIGITS)


def joined(parts: Sequence[pa.Array], form: IdForm) -> pa.Array:
    """Ids as one text each, in a form; null where a part is empty."""
    texts = list(parts)
    for _, changed in in_forms(parts, form):
        texts = changed
    return pc.binary_join_element_wise(*texts, "|")


def plain_texts(array: pa.Array) -> pa.Array:
    """The texts of one column of ids, without blanks around them."""
    return pc.utf8_trim_whitespace(array) if pa.types.is_string(array.type) else number_texts(array)


def content_digests(
    batch: pa.RecordBatch, columns: Sequence[str], prefix: Sequence[str], *, secret: bytes, tag: str
) -> Integers:
    """Digest of everything that a record says, for records without an id."""
    parts = [pc.utf8_trim_whitespace(batch.column(name).cast(pa.string())) for name in columns]
    # A separator that no field holds, so that fields cannot run into each other.
    constant = [pa.scalar(text) for text in ("content", *prefix)]
    return _digests(_join([*constant, *parts], "\x1f"), secret=secret, tag=tag)


def ranked_digests(digests: Integers, *, secret: bytes, tag: str) -> Integers:
    """Tell records apart that say the same: by their rank among each other."""
    order = np.argsort(digests, kind="stable")
    ordered = digests[order]
    fresh = np.ones(ordered.size, dtype=bool)
    fresh[1:] = ordered[1:] != ordered[:-1]
    start = np.maximum.accumulate(np.where(fresh, np.arange(ordered.size), 0))
    rank = np.empty(ordered.size, dtype=np.int64)
    rank[order] = np.arange(ordered.size) - start
    texts = [pa.array(digests).cast(pa.string()), pa.array(rank).cast(pa.string())]
    return _digests(_join(texts, "|"), secret=secret, tag=tag)


def _join(parts: Sequence[pa.Array | pa.Scalar], mark: str) -> pa.Array:
    return pc.binary_join_element_wise(*parts, mark, null_handling="replace", null_replacement="")


def _digests(texts: pa.Array, *, secret: bytes, tag: str) -> Integers:
    _, offsets, data = texts.buffers()
    kind = np.dtype(np.int64 if pa.types.is_large_string(texts.type) else np.int32)
    places: Integers = np.frombuffer(offsets, dtype=kind)
    places = places[texts.offset : texts.offset + len(texts) + 1]
    content = np.frombuffer(data, dtype=np.uint8) if data else np.zeros(0, dtype=np.uint8)
    return record_digests(places, content, secret=secret, entity_tag=tag)


def _mask(array: pa.Array) -> Integers:
    mask: Integers = pc.fill_null(array, False).to_numpy(zero_copy_only=False).astype(bool)
    return mask
