"""What a method promises about the numbers that it publishes. Each promise has a test."""

from __future__ import annotations

from dataclasses import dataclass, fields

#: Each claim as a sentence, for documentation and for people who choose a method.
SENTENCES = {
    "unbiased": "On average over keys, a published count is the true count.",
    "bounded": "No published count is farther from the truth than a fixed number.",
    "zeros_kept": "A cell without records is published as 0.",
    "zeros_are_true": "A published 0 means that there are no records.",
    "never_negative": "No published count is below 0.",
    "blocked_counts_never_appear": "The counts that the method blocks are never published.",
    "consistent": "The same question has the same number, in every table and every spelling.",
    "by_definition": "Different questions have noise of their own, also about the same people.",
    "additive": "Totals of a table are the sums of its published cells.",
    "distribution": "Deviations have the distribution of the perturbation table.",
    "takes_sparse": "Tables too large to hold whole can be protected.",
    "for_publication": "Meant for publication, not for comparison only.",
}


#: What ``consistent`` says to the office where the definition of a cell takes no part in the draw.
SAME_RECORDS = "The same records give the same number, whatever the question was (set keys)."


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What is promised; false means that nothing is promised, not that it never happens.

    ``consistent`` is about questions where ``by_definition`` holds, else about sets of records.

    Attributes:
        shown_cells_add_up: Whether totals are the sums of their parts wherever all of them are
            shown, although some cells are withheld.
        shown_are_true: Whether every number that is shown is the true count: nothing was changed,
            some cells are not shown.
        codes_put_together: Whether counts are exact, and codes are shown together in the place of
            small ones.
        grows_empty_cells: Whether a cell without records can be published as a number above 0.
        cautions: What to know before relying on it, as sentences.
    """

    unbiased: bool = False
    bounded: bool = False
    zeros_kept: bool = False
    zeros_are_true: bool = False
    never_negative: bool = False
    blocked_counts_never_appear: bool = False
    consistent: bool = False
    by_definition: bool = False
    additive: bool = False
    distribution: bool = False
    takes_sparse: bool = False
    for_publication: bool = True
    shown_cells_add_up: bool = False
    shown_are_true: bool = False
    codes_put_together: bool = False
    grows_empty_cells: bool = False
    cautions: tuple[str, ...] = ()

    def names(self) -> tuple[str, ...]:
        """The names of what is promised.

        Examples:
            >>> Claims(unbiased=True, bounded=True).names()
            ('unbiased', 'bounded', 'for_publication')
        """
        return tuple(
            field.name
            for field in fields(self)
            if field.name in SENTENCES and getattr(self, field.name) is True
        )

    def sentences(self) -> tuple[str, ...]:
        """What is promised, in words for the office."""
        words = SENTENCES
        if not self.by_definition:
            words = {**SENTENCES, "consistent": SAME_RECORDS}
        return tuple(words[name] for name in self.names())
