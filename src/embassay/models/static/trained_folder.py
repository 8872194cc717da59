"""The folder of a model written by ``embassay train``: ``KIND.json`` and the files that it names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Generic, Literal, TypeVar

import numpy as np
from annotated_types import Gt

from embassay.core.errors import SourceError
from embassay.core.tables.texts import read_text
from embassay.core.vectors import DenseVectors
from embassay.models.tokens import Cutting

Positive = Annotated[int, Gt(0)]
S = TypeVar("S")
"""The type of the settings."""


@dataclass(frozen=True)
class WordSettings:
    """The options of a training on words that their encoder needs; another value would give other vectors."""

    dim: Positive
    lower: bool
    tokens: Cutting


@dataclass(frozen=True)
class ParagraphSettings(WordSettings):
    """The options of a training of paragraph vectors that their encoder needs."""

    model: Literal["dm", "dbow"]
    window: Positive


@dataclass(frozen=True)
class UraeSettings:
    """The options of a training of the autoencoder that its encoder needs."""

    dim: Positive
    trees: str
    normalize: bool


@dataclass(frozen=True)
class TrainedRecord(Generic[S]):
    """The content of ``KIND.json``.

    Attributes
    ----------
    files
        The names of the model's files.
    vocabulary, counts
        The words that were learnt, and the number of occurrences of each.
    """

    format: Literal[1]
    settings: S
    files: tuple[str, ...]
    vocabulary: tuple[str, ...] = ()
    counts: tuple[Positive, ...] = ()


def read_record(path: Path, kind: str, settings: type[S]) -> TrainedRecord[S]:
    """Return the record of a model of a kind, which has these settings.

    Raises
    ------
    SourceError
        If there is no such folder, its training is not finished, its record is damaged, or a file is missing.
    """
    from pydantic import TypeAdapter, ValidationError

    file = path / f"{kind}.json"
    if not file.exists():
        problem = f"no such model; create it with 'embassay train {kind}'"
        if path.with_name(f"{path.name}.training").is_dir():
            problem = "training is not finished; run the same 'embassay train' command again to continue"
        raise SourceError(problem, file)
    try:
        # mypy knows no type that a variable holds.
        record: TrainedRecord[S] = TypeAdapter(TrainedRecord[settings]).validate_json(  # type: ignore[valid-type]
            read_text(file), strict=True
        )
    except ValidationError as error:
        first = error.errors()[0]
        problem = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise SourceError(f"damaged ({problem}); train again with --overwrite", file) from None
    for name in record.files:
        if not (path / name).is_file():
            raise SourceError("the model file is missing; train again with --overwrite", path / name)
    return record


def read_array(path: Path, *shape: int) -> DenseVectors:
    """Return a float32 array out of a ``.npy`` file.

    Raises
    ------
    SourceError
        If it is damaged, of another shape, or not finite.
    """
    try:
        array: np.ndarray = np.load(path, allow_pickle=False)
        if array.dtype != np.float32 or array.shape != shape or not np.isfinite(array).all():
            raise ValueError(f"{array.dtype} {array.shape}, not finite float32 {shape}")
    except (OSError, ValueError, EOFError) as error:
        raise SourceError(f"damaged ({error}); train again with --overwrite", path) from None
    return array
