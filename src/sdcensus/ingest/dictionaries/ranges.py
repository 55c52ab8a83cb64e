"""The range of a variable as its dictionary gives it, in place of one that was guessed."""

from __future__ import annotations

from sdcensus.ingest.dictionaries.code_texts import common_code
from sdcensus.ingest.dictionaries.entries import DictionaryVariable
from sdcensus.ingest.draft_columns import Profile
from sdcensus.ingest.draft_guesses import Guess, hardly_occur
from sdcensus.model.schema.variable import CodeKind, Role

#: A shorter range than this has codes that somebody may give labels.
_SHORTEST = 10
#: A longer range than this is an amount.
_LONGEST = 1000
_ABOUT_RANGES = ("the range", "the labels are missing", "no label")


def take_over_range(guess: Guess, profile: Profile, entry: DictionaryVariable) -> None:
    """Give a variable of whole numbers the range that its dictionary names.

    Missing codes stay out of it. Values that occur outside widen it, with a note, so that the file
    can be loaded; those that hardly any record has are mistakes, and not stated. The check of the
    dictionary lists them all.
    """
    if not entry.ranges or not profile.whole or guess.role not in (None, Role.KEY):
        return
    missing = {int(code) for code in map(common_code, guess.missing) if _is_whole(code)}
    labelled = [
        int(common_code(code.code))
        for code in entry.codes
        if code.kind is CodeKind.VALID and _is_whole(common_code(code.code))
    ]
    low = min([span.low for span in entry.ranges] + labelled)
    high = max([span.high for span in entry.ranges] + labelled)
    values = [number for number in profile.numbers() if number not in missing]
    top = max([number for number in values if number <= high], default=low)
    above = [number for number in missing if top < number <= high]
    if above and min(above) > top:
        high = min(above) - 1
    outside = [number for number in values if not low <= number <= high]
    wrong = outside if hardly_occur(profile, map(str, outside)) else []
    outside = [] if wrong else outside
    low, high = min([low, *outside]), max([high, *outside])
    if any(low <= number <= high for number in missing) or high - low > _LONGEST:
        return
    if guess.codes is not None and high - low < _SHORTEST and not labelled:
        for number in range(low, high + 1):
            guess.codes.setdefault(str(number), str(number))
        return
    guess.codes, guess.continuous, guess.decimals = None, False, 0
    guess.range = (low, high)
    guess.notes = [
        note for note in guess.notes if not any(words in note for words in _ABOUT_RANGES)
    ]
    guess.notes = [note for note in guess.notes if "an amount" not in note]
    if wrong:
        guess.missing.update({str(number): CodeKind.NOT_STATED for number in wrong})
        listed = " and ".join(map(str, wrong))
        guess.notes.append(
            f"guessed: {listed}, outside the range of the dictionary and in hardly any record, is a"
            " mistake: not stated."
        )
    if outside:
        guess.notes.append("values outside the range of the dictionary occur: see the check of it.")
    if labelled:
        numbers = ", ".join(map(str, labelled[:5])) + (" …" if len(labelled) > 5 else "")
        guess.notes.append(f"the dictionary has a label of its own for {numbers}.")


def _is_whole(text: str) -> bool:
    return text.lstrip("-").isdecimal() and len(text) <= 15
