"""Vectors that were made elsewhere, looked up by text: a .npy, .npz, Parquet or JSON lines file, or a folder of parts.

Each row has a text, its vector, and optionally the role in which the text was encoded. Columns are found by name:
``text``, ``vector`` or ``embedding``, and ``role``, each also in the plural. Encoders receive texts and not the ids of
a corpus, so a file that has ids, or vectors alone, needs ``texts=``, a table with the texts. A matrix that is given in
Python has one row for each text of a corpus.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from embassay.core.errors import EncoderError, SourceError, SpecError, first_line_of, listed, quoted
from embassay.core.parts import PartVectors
from embassay.core.samples.base import ROLES, Role
from embassay.core.samples.base import Text as RoleAndText
from embassay.core.store.hashes import sha256_of
from embassay.core.store.paths import open_file, source_path
from embassay.core.tables.records import PARQUET, read_table, recognised
from embassay.core.tables.rows import Key, TableRow, Text, column
from embassay.core.types import Card, Runtime, content_hash
from embassay.core.vectors import DenseVectors, Similarity
from embassay.models.base import spec_of
from embassay.models.exported.parts_encoder import PartsEncoder
from embassay.models.loaded import LoadedEncoder

if TYPE_CHECKING:
    from polars import DataFrame, LazyFrame

TARGET = "FILE or FOLDER"
NAMES = {
    "text": ("text", "texts", "sentence"),
    "id": ("custom_id", "id", "ids", "_id"),
    "role": ("role", "roles"),
    "vector": ("vector", "vectors", "embedding", "embeddings"),
}
"""Accepted column names by content; if a file has several of them, the first in this order is used."""
NO_TABLE = "damaged, or not a file of numpy (.npy, .npz), Parquet or JSON lines (one object per line)"
NO_VECTORS = "a vector is a list of numbers, and all vectors have the same length"
NPY, ZIP = b"\x93NUMPY", b"PK"
"""The first bytes of a .npy file, and of an .npz archive."""
StoredVectors = dict[tuple[str, str], DenseVectors]
"""The (d,) vector of each text by its role, which is empty for any role, and the text."""


def create(
    target: str, runtime: Runtime, *, texts: str = "", similarity: Similarity = "cosine"
) -> VectorsEncoder | PartsEncoder:
    """Find the columns of the file; its vectors are read when the first text is encoded.

    Parameters
    ----------
    target
        An ``.npz`` file (arrays ``vectors`` and ``texts``), Parquet or JSON lines (``vector`` and ``text``), each with
        an optional ``role``; with ``texts=``, a file with ``id`` instead of ``text``, the output of OpenAI's batch
        service (JSON lines), or vectors alone (``.npy``); or the folder that ``embassay encode`` made, without options.
    texts
        A table (CSV, TSV, JSON lines, Parquet) of the texts, with an ``id`` if the vectors have ids, otherwise in the
        order of the vectors; a ``role`` is optional.
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
        if texts or similarity != "cosine":
            raise SpecError(f"encoder 'vectors:{target}': a folder of 'embassay encode' takes no option")
        return PartsEncoder(target, PartVectors(path))
    with _readable(path, NO_TABLE):
        names = _read(path).collect_schema().names()
    if not texts and "text" not in names:
        raise SourceError("has vectors, but no texts; set texts= to a table of the texts", path)
    table = source_path(texts) if texts else None
    if table and not table.is_file():
        raise SourceError("no such file", table)
    # The vectors need not be cached.
    card = Card(
        spec_of(f"vectors:{target}", {"texts": texts, "similarity": similarity}), cached=False, similarity=similarity
    )
    files = [path, table] if table else [path]
    return VectorsEncoder(target, card, lambda: ["vectors", *map(sha256_of, files)], lambda: read_vectors(path, table))


def of_matrix(name: str, matrix: ArrayLike, texts: Sequence[RoleAndText], similarity: Similarity) -> VectorsEncoder:
    """Return the encoder that looks up the vector of each text in a matrix with one row for each text.

    Raises
    ------
    SpecError
        If the matrix has another shape, or an entry that is no finite number.
    """
    try:
        rows = np.asarray(matrix, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise SpecError(f"the matrix of {name!r} is not an array of numbers: {error}") from None
    if rows.ndim != 2 or len(rows) != len(texts) or not rows.size or not np.isfinite(rows).all():
        raise SpecError(
            f"the matrix of {name!r} must have the shape ({len(texts)}, d), one row of finite numbers for each of "
            f"corpus.texts(); it has {rows.shape}, or a number that is not finite"
        )
    # Little-endian, so that the fingerprint is the same on every machine.
    digest = hashlib.sha256(np.ascontiguousarray(rows, dtype="<f4").tobytes()).hexdigest()
    card = Card(f"matrix:{name}", cached=False, similarity=similarity)
    content = [card.spec, [digest, rows.shape, texts]]
    return VectorsEncoder(name, card, lambda: content, lambda: dict(zip(texts, rows, strict=True)))


def _read(path: Path) -> LazyFrame:
    """Return a file as a table of the columns of :data:`NAMES` that it has; its format is known by its content."""
    import polars

    with open_file(path) as file:
        head = file.peek(len(NPY))
        if head.startswith(PARQUET):
            table = polars.scan_parquet(path, glob=False)
        elif head.startswith((NPY, ZIP)):
            try:
                loaded = np.load(file, allow_pickle=False)
                arrays = dict(loaded) if head.startswith(ZIP) else {"vector": loaded}
            except ValueError as error:
                hint = "save texts with dtype=str, and vectors with dtype=float32"
                raise SourceError(f"cannot be loaded ({error}); {hint}", path) from None
            # polars panics for them.
            if any(map(np.iscomplexobj, arrays.values())):
                raise SourceError("vectors must be real numbers, not complex ones", path)
            table = polars.LazyFrame(arrays)
        else:
            table = polars.read_ndjson(path, infer_schema_length=None).lazy()
    if "response" in table.collect_schema():
        # Each line of OpenAI's batch service is the answer to a request.
        results = polars.col("response").struct.field("body").struct.field("data").list
        vectors = results.eval(polars.element().struct.field("embedding"))
        table = table.with_columns(vector=vectors).explode("vector")
    names = table.collect_schema().names()
    name_of = {use: recognised(names, known_names) for use, known_names in NAMES.items()}
    if not name_of["vector"]:
        known = " or ".join(NAMES["vector"])
        raise SourceError(f"no column of vectors, called {known}; it has {listed(names)}", path)
    return table.select(polars.col(name).alias(use) for use, name in name_of.items() if name)


@contextmanager
def _readable(path: Path, problem: str) -> Iterator[None]:
    """Turn the errors of libraries into a SourceError that begins with this problem."""
    import polars

    try:
        yield
    except SourceError:
        raise
    # A panic of polars is not an Exception.
    except (Exception, polars.exceptions.PanicException) as error:
        raise SourceError(f"{problem}: {first_line_of(error)}", path) from None


class TextRow(TableRow):
    """A text, and the id of its vector."""

    unique = False
    id: Key = column(*NAMES["id"], default="")
    text: Text = column(*NAMES["text"])
    role: Role | None = column(*NAMES["role"], default=None)


@dataclass(frozen=True, eq=False, repr=False)
class VectorsEncoder(LoadedEncoder[StoredVectors]):
    """An encoder that looks up the vectors of texts.

    Attributes
    ----------
    content
        Returns what identifies the vectors.
    load
        Returns the vectors.
    """

    name: str
    card: Card
    content: Callable[[], object]
    load: Callable[[], StoredVectors]

    @cached_property
    def fingerprint(self) -> str:
        """A hash of what identifies the vectors."""
        return content_hash(self.content())

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
                f"{self.name}: {len(missing):,} of {len(set(texts)):,} texts without a vector for the role {role}; "
                f"the first is {quoted(next(iter(missing)))}"
            )
        return np.array(vectors)


def read_vectors(path: Path, table: Path | None) -> StoredVectors:
    """Return the vectors of a file by role and text; equal rows may stand in it more than once.

    Parameters
    ----------
    table
        The table of texts; None if the file has them itself.

    Raises
    ------
    SourceError
        For vectors that are no lists of finite numbers of one length, for an unknown role, and for a text with two
        vectors.
    """
    import polars

    with _readable(path, NO_TABLE):
        frame = _read(path).collect()
    with _readable(path, NO_VECTORS):
        if table:
            frame = _with_texts(frame, table)
        vectors = frame["vector"].cast(polars.List(polars.Float32))
        matrix = vectors.list.to_array(len(vectors[0])).to_numpy()
        texts = frame["text"].cast(polars.String)
        roles = frame["role"].fill_null("") if "role" in frame else [""] * len(texts)
    vector_of: StoredVectors = {}
    for role, text, vector in zip(roles, texts, matrix, strict=True):
        # A missing number is NaN.
        if not np.isfinite(vector).all():
            raise SourceError(f"the vector of {quoted(text)} has NaN, infinity, or too few numbers", path)
        if role and role not in ROLES:
            raise SourceError(f"a role is {', '.join(ROLES)} or empty, not {quoted(role)}", path)
        if not np.array_equal(vector_of.setdefault((role, text), vector), vector):
            raise SourceError(f"{quoted(text)} has two different vectors", path)
    return vector_of


def _with_texts(vectors: DataFrame, path: Path) -> DataFrame:
    """Return the texts of a table with their vectors, by id, or row by row if the vectors have no ids.

    Raises
    ------
    SourceError
        If no id has a vector, or there are more or fewer texts than vectors without ids.
    """
    import polars

    rows = [(row.key, row.text, row.role) for row in read_table(path).select(TextRow)]
    texts = polars.DataFrame(rows, ["key", "text", "role"], orient="row")
    if "id" not in vectors.columns:
        if len(texts) != len(vectors):
            raise SourceError(f"has {len(texts):,} texts for {len(vectors):,} vectors without ids", path)
        return texts.with_columns(vectors["vector"])
    by_id = vectors.select(polars.col("id").cast(polars.String).alias("key"), "vector")
    found = texts.join(by_id, on="key")
    if found.is_empty():
        # 7 is not 007.
        shown = f"vectors have ids such as {quoted(by_id['key'][0])}, the table {quoted(texts['key'][0])}"
        raise SourceError(f"none of its ids has a vector; {shown}", path)
    return found
