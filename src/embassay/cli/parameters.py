"""What several commands share: exit codes, and how their parameters are written on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from embassay.core.errors import SpecError

FINE, WRONG_INPUT, FAILED_IN_PART = 0, 2, 3

Flag = Annotated[bool, Parameter(negative="")]
Flat = Parameter(name="*", negative="")
"""Makes each field of a dataclass an option of the command; its docstring is their help."""
# One value for each -c or -e: otherwise "-c a b" would take the next argument as a corpus too.
Repeated = Parameter(consume_multiple=False, negative="")
Several = Annotated[list[str], Repeated]
OneEncoder = Annotated[str, Parameter(name=("-e", "--encoder"))]
Encoders = Annotated[list[str], Parameter(name=("-e", "--encoder")), Repeated]
Corpora = Annotated[list[str], Parameter(name=("-c", "--corpus")), Repeated]
Diagnostics = Annotated[list[str], Parameter(name=("-d", "--diagnostic")), Repeated]
Out = Annotated[Path, Parameter(name=("-o", "--out"))]


def numbers(flag: str, values: list[str]) -> dict[str, float]:
    """Return the number of each METRIC=X; a name may hold = itself, so the last one counts."""
    pairs = [value.rpartition("=") for value in values]
    try:
        return {name: float(number) for name, _, number in pairs}
    except ValueError:
        raise SpecError(f"--{flag}: write METRIC=X with a number, such as Success@5=0.02") from None
