"""What each setting of controlled rounding changes."""

from __future__ import annotations

from tests.documents.effects import Effect
from tests.documents.effects_of_plans import SEXES, settings_of
from tests.documents.effects_of_searches import AGES, alone, of_method

#: Requirements that a table only keeps if cells may go farther.
ASKED = "protect_below = 4"
PROTECTED = f"extra_steps = 1\n{ASKED}\n"
MORE = "base = 5\nextra_steps = 1\nprotect_below = 9\n"
#: A table that a short search does not finish.
LONG = 'rows = ["ed"]\ncolumns = ["age@ten_year", "married", "sex"]'


def _refused(method: str, without: str, given: str, refused: str = "without") -> Effect:
    effect = settings_of(method, without, given)
    return Effect(effect.without, effect.given, alone, refused)


OF_METHODS: dict[str, Effect] = {
    **of_method(
        "controlled-rounding",
        {
            "base": ("base = 3", "base = 5"),
            "zeros": (MORE, f'{MORE}zeros = "change"', AGES),
            "weights": (PROTECTED, f'{PROTECTED}weights = "totals"'),
            "protect_below": ("extra_steps = 1", PROTECTED),
            "upper_protection": (PROTECTED, f"{PROTECTED}upper_protection = 3"),
            "effort": (
                "base = 2\nextra_steps = 1",
                'base = 2\nextra_steps = 1\neffort = "fast"',
                LONG,
            ),
            "work": ("base = 3", "base = 3\nwork = 0.000001"),
            "seconds": ("base = 7", "base = 7\nseconds = 0.000001"),
            "gap": ("base = 5\ngap = 0", "base = 5\ngap = 0.9", LONG),
        },
    ),
    "controlled-rounding.lower_protection": _refused(
        "controlled-rounding", PROTECTED, f"{PROTECTED}lower_protection = 3", "given"
    ),
    "controlled-rounding.extra_steps": _refused("controlled-rounding", ASKED, PROTECTED),
    "controlled-rounding.infeasible": _refused(
        "controlled-rounding", ASKED, f'{ASKED}\ninfeasible = "widen"'
    ),
    **of_method(
        "controlled-random-rounding",
        {
            "base": ("base = 3", "base = 5", SEXES),
            "key_version": ("", "key_version = 2", SEXES),
        },
    ),
    "controlled-random-rounding.infeasible": _refused(
        "controlled-random-rounding", "", 'infeasible = "widen"'
    ),
}
