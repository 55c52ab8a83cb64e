"""Codes and labels of categories that were put together, as readers and file formats take them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sdcensus.model.catalogue import LANGUAGES
from sdcensus.model.schema.variable import Code
from sdcensus.model.sentences import speak
from sdcensus.model.text import Text

#: Up to so many labels are written out.
_MOST_LISTED = 3
#: Between the codes of a code: letters, digits and this are allowed in every format.
_JOIN = "_"


def put_together(
    codes: Sequence[Code],
    *,
    ordered: bool,
    parent: Code | None,
    whole: bool,
    taken: Collection[str],
) -> Code:
    """One code for several, with a label that says what it stands for.

    Args:
        codes: The codes, in the order of the code list.
        ordered: Whether their order means something: the first and the last then say all.
        parent: The code that holds them, where there is one.
        whole: Whether they are all that it holds: then it names them.
        taken: Codes that stand already.
    """
    if len(codes) == 1:
        return codes[0]
    if whole and parent is not None and parent.code not in taken:
        return parent
    ends = [codes[0], codes[-1]] if ordered or len(codes) > _MOST_LISTED else codes
    text = _JOIN.join(code.code for code in ends)
    while text in taken:
        text += "x"
    lower, upper = codes[0].lower, codes[-1].upper
    numbered = ordered and lower is not None
    spoken = dict.fromkeys(tongue for code in codes for tongue, _ in code.label.by_language)
    label = Text.of(
        {tongue: _label(codes, parent, ordered, tongue) for tongue in spoken or LANGUAGES}
    )
    return Code(
        text, label, codes[0].kind, lower if numbered else None, upper if numbered else None
    )


def _label(codes: Sequence[Code], parent: Code | None, ordered: bool, language: str) -> str:
    names = [code.label.show(language) or code.code for code in codes]
    if len(names) <= _MOST_LISTED:
        return " + ".join(names)
    spoken = language if language in LANGUAGES else None
    if ordered:
        return speak("coarsening.from_to", spoken, first=names[0], last=names[-1])
    if parent is None:
        return speak("coarsening.other", spoken)
    return speak("coarsening.other_of", spoken, name=parent.label.show(language) or parent.code)
