"""Types of numbers that are options of encoders and retrievers; a number out of its limits is refused as it is read."""

from __future__ import annotations

import math
from typing import Annotated

from annotated_types import Ge, Gt, Le, Lt

Count = Annotated[int, Ge(1)]
CountOrZero = Annotated[int, Ge(0)]
Amount = Annotated[float, Gt(0), Lt(math.inf)]
AmountOrZero = Annotated[float, Ge(0), Lt(math.inf)]
Share = Annotated[float, Ge(0), Le(1)]
