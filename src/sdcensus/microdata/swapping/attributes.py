"""Attribute swapping: persons keep their place and exchange named attributes, as in Austria."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]
