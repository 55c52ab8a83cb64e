"""How much all allowed tables together say about one cell: a sum over choices of variables."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]


@compiled
def sum_of_choices(
    start: Int64,
    variable: Int64,
    weight: Float64,
    member: Int64,
    complete: Int64,
    required: int,
    most: int,
    patience: int,
) -> tuple[float, int]:
    """Sum the products of weights over all allowed choices of at most one option per variable.

    The options of a variable stand together. Choices are built one variable at a time, in the
    order of the variables; whatever breaks a limit is not continued, since every limit is broken
    by all larger choices as well.

    Args:
        start: Where the options of each variable begin; one more than there are variables.
        variable: The variable of each option.
        weight: The factor of each option.
        member: For each forbidden combination and option, the members (as bits) that it brings.
        complete: For each forbidden combination all its bits; a choice may not have them all.
        required: So many variables, the first ones, are in every choice.
        most: The most variables of a choice.
        patience: After so many choices it is given up.

    Returns:
        The sum, and how many choices there are; -1 where there are too many.
    """
    options = weight.size
    combinations = complete.size
    following = np.zeros(most + 1, np.int64)
    product = np.ones(most + 1, np.float64)
    brought = np.zeros((most + 1, combinations), np.int64)
    total, choices = 0.0, 0
    if required == 0:
        total, choices = 1.0, 1
    depth = 0
    if most == 0:
        return total, choices
    while depth >= 0:
        option = following[depth]
        end = start[depth + 1] if depth < required else options
        if option >= end:
            depth -= 1
            continue
        following[depth] = option + 1
        allowed = True
        for one in range(combinations):
            bits = brought[depth, one] | member[one, option]
            brought[depth + 1, one] = bits
            if bits == complete[one]:
                allowed = False
                break
        if not allowed:
            continue
        value = product[depth] * weight[option]
        if depth + 1 >= required:
            total += value
            choices += 1
            if choices > patience:
                return total, -1
        if depth + 1 < most:
            depth += 1
            product[depth] = value
            following[depth] = start[variable[option] + 1]
    return total, choices
