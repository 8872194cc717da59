"""Vectors that were made elsewhere, looked up by text: an .npz, Parquet or JSON lines file, or a folder of parts.

Each row has a text, its vector, and optionally the role in which the text was encoded. Columns are found by name:
``text``, ``vector`` or ``embedding``, and ``role``, each also in the plural.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from embassay.core.errors import EncoderError, SourceError, SpecError, first_line_of, listed, quoted
from embassay.core.parts import PartVectors
from embassay.core.samples.base import ROLES, Role
from embassay.core.store.hashes import sha256_of
from embassay.core.store.paths import source_path
from embassay.core.tables.records import is_parquet, recognised
from embassay.core.types import Card, Runtime, content_hash
from embassay.core.vectors import DenseVectors, Similarity
from embassay.models.base import spec_of
from embassay.models.exported.parts_encoder import PartsEncoder
from embassay.models.loaded import LoadedEncoder

if TYPE_CHECKING:
    from polars import LazyFrame

TARGET = "FILE or FOLDER"
NAMES = {
    "text": ("text", "texts", "sentence"),
    "role": ("role", "roles"),
    "vector": ("vector", "vectors", "embedding", "embeddings"),
}
"""Accepted column names by content; if a file has several of them, the first in this order is used."""
FORMS = "an .npz archive (numpy.savez), Parquet or JSON lines (one object per line)"
StoredVectors = dict[tuple[str, str], DenseVectors]
"""The (d,) vector of each text by its role, which is empty for any role, and the text."""


def create(target: str, runtime: Runtime, *, similarity: Similarity = "cosine") -> VectorsEncoder | PartsEncoder:
    """Find the columns of the file; its vectors are read when the first text is encoded.

    Parameters
    ----------
    target
        An ``.npz`` file (arrays ``vectors`` and ``texts``), Parquet or JSON lines (``vector`` and ``text``), each with
        an optional ``role``; or the folder that ``embassay encode`` made, without options.
    similarity
        Similarity of queries and documents.

    Raises
    ------
    SourceError
        If a file is not there, or has no vectors or no texts.
    SpecError
        For options of a folder.
    """
    path = source_path(target)
    if path.is_dir():
        if similarity != "cosine":
            raise SpecError(f"encoder 'vectors:{target}': a folder of 'embassay encode' has its similarity itself")
        return PartsEncoder(target, PartVectors(path))
    with _readable(path):
        _read(path)
    # The vectors need not be cached.
    card = Card(spec_of(f"vectors:{target}", {"similarity": similarity}), cached=False, similarity=similarity)
    return VectorsEncoder(target, card, path)


def _read(path: Path) -> LazyFrame:
    """Return a file as a table of the columns of :data:`NAMES` that it has; its format is known by its content."""
    import polars

    if is_parquet(path):
        table = polars.scan_parquet(path, glob=False)
    elif zipfile.is_zipfile(path):
        with np.load(path, allow_pickle=False) as archive:
            table = polars.LazyFrame(dict(archive))
    else:
        table = polars.read_ndjson(path, infer_schema_length=None).lazy()
    names = table.collect_schema().names()
    name_of = {use: recognised(names, known_names) for use, known_names in NAMES.items()}
    for use in ("vector", "text"):
        if not name_of[use]:
            raise SourceError(f"no column of {use}s, called {' or '.join(NAMES[use])}; it has {listed(names)}", path)
    return table.select(polars.col(name).alias(use) for use, name in name_of.items() if name)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn the errors of libraries that read a damaged file, or Python objects, into a SourceError."""
    import polars

    try:
        yield
    except SourceError:
        raise
    # A panic of polars is not an Exception.
    except (Exception, polars.exceptions.PanicException) as error:
        problem = f"not {FORMS}, damaged, or its rows have different fields, types or lengths: {first_line_of(error)}"
        raise SourceError(problem, path) from None


@dataclass(frozen=True)
class VectorsEncoder(LoadedEncoder[StoredVectors]):
    """An encoder that looks up the vectors of texts in a file."""

    name: str
    card: Card
    path: Path

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the content of the file."""
        return content_hash(["vectors", sha256_of(self.path)])

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, d) float32.

        Raises
        ------
        EncoderError
            If a text has no vector, with the first such text and how many there are; or if the file cannot be read.
        """
        # A vector of a role goes before one of any role.
        vectors = [self.model.get((role, text), self.model.get(("", text))) for text in texts]
        missing = {text: None for text, vector in zip(texts, vectors, strict=True) if vector is None}
        if missing:
            raise EncoderError(
                f"{self.path}: {len(missing):,} of {len(set(texts)):,} texts have no vector for the role {role}; "
                f"the first is {quoted(next(iter(missing)))}"
            )
        return np.array(vectors)

    def batches(self, texts: Sequence[str], role: Role) -> Any:
        """Yield all texts at once, so that those without a vector are counted before any vector is used."""
        yield range(len(texts)), self.encode(texts, role)

    def load(self) -> StoredVectors:
        """Read the file; equal rows may stand in it more than once.

        Raises
        ------
        SourceError
            For vectors that are no lists of finite numbers of one length, for an unknown role, and for a text with two
            vectors.
        """
        import polars

        with _readable(self.path):
            frame = _read(self.path).collect()
            vectors = frame["vector"].cast(polars.List(polars.Float32))
            matrix = vectors.list.to_array(len(vectors[0])).to_numpy()
            texts = frame["text"].cast(polars.String)
            roles = frame["role"].fill_null("") if "role" in frame else [""] * len(texts)
        vector_of: StoredVectors = {}
        for role, text, vector in zip(roles, texts, matrix, strict=True):
            # A missing number is NaN.
            if not np.isfinite(vector).all():
                raise SourceError(f"the vector of {quoted(text)} has NaN, infinity, or too few numbers", self.path)
            if role and role not in ROLES:
                raise SourceError(f"a role is {', '.join(ROLES)} or empty, not {quoted(role)}", self.path)
            if not np.array_equal(vector_of.setdefault((role, text), vector), vector):
                raise SourceError(f"{quoted(text)} has two different vectors", self.path)
        return vector_of
