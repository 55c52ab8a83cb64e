"""Which code of a variable stands for men and which for women: by what the schema calls them."""

from __future__ import annotations

from sdcensus.model.schema.variable import Code, Level

_MEN = frozenset(
    {
        *("m", "male", "males", "man", "men"),
        *("h", "hombre", "hombres", "masculino", "varón", "varones"),
        *("homme", "hommes", "masculin"),
        *("mannen", "mannelijk"),
        *("homem", "homens"),
    }
)
_WOMEN = frozenset(
    {
        *("f", "female", "females", "woman", "women"),
        *("mujer", "mujeres", "femenino"),
        *("femme", "femmes", "féminin"),
        *("v", "vrouw", "vrouwen", "vrouwelijk"),
        *("mulher", "mulheres", "feminino"),
    }
)


def men_and_women(level: Level) -> tuple[Code, Code] | None:
    """The code for men and the code for women, in whatever order they stand.

    ``None`` where there are not two codes besides missing ones, or their labels do not say it.
    """
    valid = [code for code in level.codes if not code.is_missing]
    if len(valid) != 2:
        return None
    first, second = valid
    if _called(first, _MEN) and _called(second, _WOMEN):
        return first, second
    if _called(first, _WOMEN) and _called(second, _MEN):
        return second, first
    return None


def _called(code: Code, words: frozenset[str]) -> bool:
    labels = [text for _, text in code.label.by_language] or [code.code]
    return any(text.strip().casefold() in words for text in labels)
