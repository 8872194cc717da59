"""Vectors that were made elsewhere, looked up by text: an .npz, Parquet or JSON lines file, or a folder of parts.

Each row has a text, its vector, and optionally the role in which the text was encoded. Columns are found by name:
``text`` or ``id``, ``vector`` or ``embedding``, and ``role``, each also in the plural. Encoders receive texts and not
the ids of a corpus, so vectors that are stored by id need ``texts=``, a table of ids and texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from embassay.core.store.paths import open_file, source_path
from embassay.core.tables.records import read_table, recognised
from embassay.core.tables.rows import Key, Row, Text, column
from embassay.core.types import Card, Runtime, content_hash
from embassay.core.vectors import DenseVectors, Similarity
from embassay.models.base import spec_of
from embassay.models.exported.parts_encoder import PartsEncoder
from embassay.models.loaded import LoadedEncoder
from embassay.models.neural.derived import unit

if TYPE_CHECKING:
    from polars import DataFrame, LazyFrame

TARGET = "FILE or FOLDER"
NAMES = {
    "text": ("text", "texts", "sentence"),
    "id": ("id", "ids", "_id"),
    "role": ("role", "roles"),
    "vector": ("vector", "vectors", "embedding", "embeddings"),
}
"""Accepted column names by content; if a file has several of them, the first in this order is used."""
FORMS = ".npz archive (numpy.savez), Parquet, JSON lines (one object per line)"
StoredVectors = tuple[Mapping[tuple[str, str], int], DenseVectors]
"""The row of each text by its role, which is empty for any role, and the text; and the (n, d) vectors."""


def create(
    target: str, runtime: Runtime, *, texts: str = "", normalize: bool = False, similarity: Similarity = "cosine"
) -> VectorsEncoder | PartsEncoder:
    """Find the columns of the file; its vectors are read when the first text is encoded.

    Parameters
    ----------
    target
        An ``.npz`` file (arrays ``vectors`` and ``texts``), Parquet or JSON lines (``vector`` and ``text``), each with
        ``id`` in the place of ``text`` where ``texts=`` is given, and with an optional ``role``; or the folder
        that ``embassay encode`` made, without options.
    texts
        A table (CSV, TSV, JSON lines, Parquet) with an id and a text, and an optional role: which text each id is.
    normalize
        Scale vectors to unit length.
    similarity
        Similarity of queries and documents.

    Raises
    ------
    SourceError
        If a file is not there, or has no vectors or nothing to look them up by.
    SpecError
        For options of a folder.
    """
    place = f"encoder 'vectors:{target}'"
    path = source_path(target)
    if path.is_dir():
        if texts or normalize or similarity != "cosine":
            raise SpecError(f"{place}: a folder of 'embassay encode' takes no option; its manifest has them all")
        return PartsEncoder(target, PartVectors(path))
    with _readable(path):
        names = _read(path).collect_schema().names()
    key = "id" if texts else "text"
    if key not in names:
        hint = "; vectors by id need texts=, a table of ids and texts" if "id" in names else ""
        raise SourceError(f"no column of {key}s, called {' or '.join(NAMES[key])}{hint}", path)
    table = source_path(texts) if texts else None
    if table and not table.is_file():
        raise SourceError("no such file", table)
    options = {"texts": texts, "normalize": normalize or None, "similarity": similarity}
    # The vectors need not be cached.
    card = Card(spec_of(f"vectors:{target}", options), cached=False, similarity=similarity)
    return VectorsEncoder(target, card, path, table, normalize)


def _read(path: Path) -> LazyFrame:
    """Return a file as a table of the columns of :data:`NAMES` that it has; its format is known by its first bytes."""
    import polars

    with open_file(path) as file:
        head = file.read(1000)
        if head.startswith(b"PK"):
            known = {name for names in NAMES.values() for name in names}
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files if name.lower() in known}
            # polars panics for them.
            if any(np.iscomplexobj(array) for array in arrays.values()):
                raise SourceError("vectors must be real numbers, not complex ones", path)
            table = polars.LazyFrame(arrays)
        elif head.startswith(b"PAR1"):
            table = polars.scan_parquet(path, glob=False)
        # Blank lines may come first.
        elif head and head.lstrip()[:1] in (b"{", b""):
            table = polars.read_ndjson(path.read_bytes(), infer_schema_length=None).lazy()
        else:
            raise SourceError(f"unrecognised format; supported formats: {FORMS}", path)
    names = table.collect_schema().names()
    name_of = {use: recognised(names, known_names) for use, known_names in NAMES.items()}
    if not name_of["vector"]:
        raise SourceError(f"no column of vectors; found {listed(names)}", path)
    return table.select(polars.col(name).alias(use) for use, name in name_of.items() if name)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn the errors of libraries that read a damaged file, or Python objects, into a SourceError."""
    try:
        yield
    except SourceError:
        raise
    except Exception as error:
        problem = f"damaged, or its rows have different fields, types or lengths: {first_line_of(error)}"
        raise SourceError(problem, path) from None


class TextRow(Row):
    """Which text an id is."""

    unique = False
    id: Key = column(*NAMES["id"])
    text: Text = column(*NAMES["text"])
    role: Role | None = column(*NAMES["role"], default=None)


@dataclass(frozen=True)
class VectorsEncoder(LoadedEncoder[StoredVectors]):
    """An encoder that looks up the vectors of texts in a file.

    Attributes
    ----------
    texts
        The table of ids and texts.
    """

    name: str
    card: Card
    path: Path
    texts: Path | None
    normalize: bool

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the content of the files, and of ``normalize``."""
        files = [sha256_of(path) for path in (self.path, self.texts) if path]
        return content_hash(["vectors", files, self.normalize])

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, d) float32.

        Raises
        ------
        EncoderError
            If a text has no vector, with the first such text and how many there are; or if the file cannot be read.
        """
        row_of, matrix = self.model
        # A vector of a role goes before one of any role.
        rows = [row_of.get((role, text), row_of.get(("", text))) for text in texts]
        missing = list(dict.fromkeys(text for text, row in zip(texts, rows, strict=True) if row is None))
        if missing:
            raise EncoderError(
                f"{self.path}: {len(missing):,} of {len(set(texts)):,} texts have no vector for the role {role}; "
                f"the first is {quoted(missing[0])}"
            )
        vectors = matrix[np.array(rows, dtype=np.int64)]
        return unit(vectors) if self.normalize else vectors

    def batches(self, texts: Sequence[str], role: Role) -> Any:
        """Yield all texts at once, so that those without a vector are counted before any vector is used."""
        yield range(len(texts)), self.encode(texts, role)

    def load(self) -> StoredVectors:
        """Read the file; equal rows may stand in it more than once.

        Raises
        ------
        SourceError
            For vectors that are no lists of finite numbers of one length, for a row without a text, for an unknown
            role, and for a text with two vectors.
        """
        import polars

        with _readable(self.path):
            frame = _read(self.path).collect()
            if self.texts:
                frame = _join_texts(frame, self.texts)
            rows = frame["vector"].cast(polars.List(polars.Float32))
            matrix = rows.list.to_array(len(rows[0])).to_numpy()
            texts = frame["text"].cast(polars.String).to_list()
            roles = frame["role"].to_list() if "role" in frame else [None] * len(texts)
        # A missing number is NaN.
        if not np.isfinite(matrix).all():
            row = np.isfinite(matrix).all(axis=1).argmin()
            raise SourceError(f"the vector of {quoted(texts[row])} has NaN, infinity, or too few numbers", self.path)
        row_of: dict[tuple[str, str], int] = {}
        for row, (role, text) in enumerate(zip(roles, texts, strict=True)):
            if text is None or (role and role not in ROLES):
                problem = f"each row must have a text, and a role of {', '.join(ROLES)} or none; row {row + 1} has not"
                raise SourceError(problem, self.path)
            first = row_of.setdefault((role or "", text), row)
            if not np.array_equal(matrix[first], matrix[row]):
                raise SourceError(f"{quoted(text)} has two different vectors", self.path)
        return row_of, matrix


def _join_texts(vectors: DataFrame, path: Path) -> DataFrame:
    """Return the vectors of the texts in a table, by its ids. An id without a vector counts only if its text is needed.

    Raises
    ------
    SourceError
        If no id has a vector.
    """
    import polars

    columns = {"id": polars.String, "text": polars.String, "role": polars.String}
    rows = [(row.id, row.text, row.role) for row in read_table(path).select(TextRow)]
    by_id = vectors.select(polars.col("id").cast(polars.String), "vector")
    frame = polars.DataFrame(rows, columns, orient="row").join(by_id, on="id")
    if frame.is_empty():
        # 7 is not 007.
        shown = f"vectors have ids such as {by_id['id'][0]!r}, the table {rows[0][0]!r}"
        raise SourceError(f"none of its ids has a vector; {shown}", path)
    return frame
