"""The options of ``embassay encode``: one record for the command line and for Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from embassay.core.samples.base import Role
from embassay.run.options import Limit

Positive = Annotated[int, Limit(at_least=1)]


@dataclass(frozen=True, kw_only=True)
class EncodeOptions:
    """How texts are encoded.

    Attributes
    ----------
    id
        Column of the ids, which must not repeat.
    text
        Column of the texts.
    role
        How the texts are used: document, query or text; a model may have a prompt for each.
    dtype
        float32, float16 (half the size) or int8 (a quarter).
    executor
        local: processes of this machine. ray: workers of a Ray cluster.
    ray_address
        HOST:PORT of a running Ray cluster, or auto; by default a new one on this machine.
    workers
        Processes that encode at a time.
    threads
        Threads of each process; fixed when the folder is made.
    device
        Device of a neural encoder: auto, cpu, cuda, cuda:1 or mps.
    trust_remote_code
        Let the encoder run code from its repository.
    """

    id: str = "id"
    text: str = "text"
    role: Role = "document"
    dtype: Literal["float32", "float16", "int8"] = "float32"
    executor: Literal["local", "ray"] = "local"
    ray_address: str | None = None
    workers: Positive = 1
    threads: Positive | None = None
    device: str = "auto"
    trust_remote_code: bool = False
