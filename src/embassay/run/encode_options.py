"""The options of ``embassay encode``: one record for the command line and for Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge

from embassay.core.errors import SpecError


@dataclass(frozen=True, kw_only=True)
class EncodeOptions:
    """How texts are encoded.

    Attributes
    ----------
    id
        Column of the ids, which must not repeat.
    text
        Column of the texts.
    dtype
        float32, or float16 (half the size).
    executor
        local: this process. ray: tasks of Ray, on this machine or on the cluster at RAY_ADDRESS.
    workers
        Ray tasks at a time.
    device
        Device of a neural encoder: auto, cpu, cuda, cuda:1 or mps.
    trust_remote_code
        Let the encoder run code from its repository.
    """

    id: str = "id"
    text: str = "text"
    dtype: Literal["float32", "float16"] = "float32"
    executor: Literal["local", "ray"] = "local"
    workers: Annotated[int, Ge(1)] = 1
    device: str = "auto"
    trust_remote_code: bool = False

    def __post_init__(self) -> None:
        """Raise SpecError for options that do not fit together."""
        if self.executor == "local" and self.workers != 1:
            raise SpecError("one process encodes, with all cores; several workers need executor ray")
