"""Vectors that were made elsewhere, looked up by text: an .npz, Parquet or JSON lines file, or a folder of parts.

Each row has a text, its vector, and optionally the role in which the text was encoded. Columns are found by name:
``text`` or ``id``, ``vector`` or ``embedding``, and ``role``, each also in the plural. Encoders receive texts and not
the ids of a corpus, so vectors that are stored by id need ``texts=``, a table of ids and texts.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from embassay.core.errors import EncoderError, SourceError, SpecError, first_line_of, listed, quoted
from embassay.core.parts import PartVectors
from embassay.core.samples.base import ROLES, Role
from embassay.core.store.paths import open_file, source_path
from embassay.core.tables.records import read_table, recognised
from embassay.core.tables.rows import Key, Row, Text, column
from embassay.core.types import Card, Runtime, content_hash
from embassay.core.vectors import DenseVectors, Similarity
from embassay.models.base import Route, spec_of
from embassay.models.exported.parts_encoder import PartsEncoder
from embassay.models.loaded import LoadedEncoder

if TYPE_CHECKING:
    import polars

TARGET = "FILE or FOLDER"
NAMES = {
    "text": ("text", "texts", "sentence"),
    "id": ("id", "ids", "_id"),
    "role": ("role", "roles"),
    "vector": ("vector", "vectors", "embedding", "embeddings"),
}
"""Accepted column names by content; if a file has several of them, the first in this order is used."""
FORMS = ".npz archive (numpy.savez), Parquet, JSON lines (one object per line)"
BOM = b"\xef\xbb\xbf"
DAMAGED = (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError)
"""What numpy raises for an archive that is damaged, has Python objects, or is compressed in another way."""


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
        For vectors stored by id without ``texts=``, and for ``texts=`` where there are no ids.
    """
    place = f"encoder 'vectors:{target}'"
    path = source_path(target)
    if path.is_dir():
        if texts or normalize or similarity != "cosine":
            raise SpecError(f"{place}: a folder of 'embassay encode' takes no option; its manifest has them all")
        return PartsEncoder(target, PartVectors(path))
    columns = _columns(path)
    names = {use: name for use, known in NAMES.items() if (name := recognised(list(columns), known))}
    if "vector" not in names:
        raise SourceError(f"no column of vectors; found {listed(sorted(columns))}", path)
    if "text" not in names and "id" not in names:
        raise SourceError(f"no column of texts or ids; found {listed(sorted(columns))}", path)
    table = source_path(texts) if texts else None
    if table is None and "text" not in names:
        raise SpecError(
            f"{place}: the vectors are stored by id, but encoders receive only texts; "
            "set texts= to a table of ids and texts"
        )
    if table is not None and "id" not in names:
        raise SpecError(f"{place}, option 'texts': cannot be used, because the vectors are stored by text, not by id")
    if table is not None and not table.is_file():
        raise SourceError("no such file", table)
    return VectorsEncoder(target, path, names, runtime, table, texts, normalize, similarity)


def _columns(path: Path) -> dict[str, Callable[[], Any]]:
    """Return what reads each column of a file, by name; the format is known by its first bytes."""
    import polars

    with open_file(path) as file:
        head = file.read(1000)
    if not head:
        raise SourceError("the file is empty", path)
    try:
        if head.startswith(b"PK"):
            form = "an .npz file"
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                return {name: partial(_array, path, name) for name in archive.files}
        if head.startswith(b"PAR1"):
            form = "a Parquet file"
            table = polars.scan_parquet(path, glob=False)
            return {name: partial(_series, table, name) for name in table.collect_schema().names()}
        # Blank lines may come first.
        if head.removeprefix(BOM).lstrip()[:1] in (b"{", b""):
            form = "a file of JSON lines whose fields have the same types"
            content = path.read_bytes().removeprefix(BOM)
            table = polars.read_ndjson(content, infer_schema_length=None).lazy()
            return {name: partial(_series, table, name) for name in table.collect_schema().names()}
    except (*DAMAGED, polars.exceptions.PolarsError) as error:
        raise SourceError(f"not {form}: {first_line_of(error)}", path) from None
    raise SourceError(f"unrecognised format; supported formats: {FORMS}", path)


def _array(path: Path, name: str) -> np.ndarray:
    """Read an array of an archive; Python objects are never loaded."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return np.asarray(archive[name])
    except DAMAGED as error:
        problem = f"damaged: {error}"
        if "allow_pickle" in str(error):
            remedy = "an array of float32" if name in NAMES["vector"] else "texts with dtype=str"
            problem = f"contains Python objects (a pickle), which are never loaded; save {remedy}"
        raise SourceError(problem, path, None, name) from None


def _series(table: polars.LazyFrame, name: str) -> polars.Series:
    return table.select(name).collect()[name]


class StoredVectors(NamedTuple):
    """Vectors by role and text.

    Attributes
    ----------
    row
        The row of each text, by the :func:`digest` of its role (empty for any role) and text. Texts are not stored.
    matrix
        (n, d) float32.
    """

    row: dict[bytes, int]
    matrix: DenseVectors

    def find(self, text: str, role: str) -> int | None:
        """Return the row of a text in a role, otherwise of the text without a role; None if there is neither."""
        return self.row.get(digest(role, text), self.row.get(digest("", text)))


def digest(role: str, text: str) -> bytes:
    """Return a 16-byte hash of a text in a role."""
    return blake2b(f"{role}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


@dataclass(frozen=True)
class VectorsEncoder(LoadedEncoder[StoredVectors]):
    """An encoder that looks up the vectors of texts in a file.

    Attributes
    ----------
    columns
        The name of each column, by its content: ``vector``; ``text`` or ``id`` or both; ``role`` if there is one.
    """

    name: str
    path: Path
    columns: dict[str, str]
    runtime: Runtime = field(repr=False)
    texts: Path | None = None
    texts_name: str = ""
    normalize: bool = False
    similarity: Similarity = "cosine"

    @property
    def card(self) -> Card:
        """The properties of the encoder that are known without reading the file. Its vectors need not be cached."""
        options = {"texts": self.texts_name, "normalize": self.normalize or None, "similarity": self.similarity}
        return Card(spec_of(f"vectors:{self.name}", options), cached=False, similarity=self.similarity)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the content of the files, and of ``normalize``."""
        files = [self.runtime.sha256(path) for path in (self.path, self.texts) if path]
        return content_hash(["vectors", files, self.normalize])

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, d) float32.

        Raises
        ------
        EncoderError
            If a text has no vector, with the first such text and how many there are; or if the file cannot be read.
        """
        rows = [self.model.find(text, role) for text in texts]
        missing = list(dict.fromkeys(text for text, row in zip(texts, rows, strict=True) if row is None))
        if missing:
            other_roles = [other for other in ROLES if digest(other, missing[0]) in self.model.row]
            raise EncoderError(
                f"{self.path}: {len(missing):,} of {len(set(texts)):,} texts have no vector for the role {role}; "
                f"the first is {quoted(missing[0])}"
                + (f" (it has one for {' and '.join(other_roles)})" if other_roles else "")
            )
        vectors = self.model.matrix[np.array(rows, dtype=np.int64)]
        if not self.normalize:
            return vectors
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
        # A zero vector stays zero.
        return np.asarray(vectors / np.where(lengths == 0, 1, lengths), dtype=np.float32)

    def batches(self, texts: Sequence[str], role: Role) -> Any:
        """Yield all texts at once, so that those without a vector are counted before any vector is used."""
        yield range(len(texts)), self.encode(texts, role)

    def route(self) -> Route:
        """Return facts about the file, for ``run.json``; empty before the first text is encoded."""
        if not self.is_loaded:
            return {}
        rows, dim = self.model.matrix.shape
        return {"known_by": "id" if self.texts else "text", "rows": rows, "dim": dim}

    def load(self) -> StoredVectors:
        """Read the file; the first of equal rows counts.

        Raises
        ------
        SourceError
            With the row, for vectors that are no lists of finite numbers of one length, for keys that are no texts, and
            for a text with two vectors.
        """
        key = "id" if self.texts else "text"
        columns = _columns(self.path)
        matrix = self._matrix(columns[self.columns["vector"]]())
        keys = self._texts(columns, key, len(matrix))
        roles = self._texts(columns, "role", len(matrix)) if "role" in self.columns else [None] * len(matrix)
        row: dict[bytes, int] = {}
        for number, (name, role) in enumerate(zip(keys, roles, strict=True)):
            if name is None:
                raise self._error(number, "must be a text, is null", key)
            if key == "id" and role:
                problem = "a row with an id cannot have a role; give the role in the table texts="
                raise self._error(number, problem, "role")
            if role and role not in ROLES:
                raise self._error(number, f"must be one of {', '.join(ROLES)}, is {role!r}", "role")
            first = row.setdefault(digest(role or "", name), number)
            if not np.array_equal(matrix[first], matrix[number]):
                raise self._error(number, f"this {key} already has a different vector in row {first + 1}", key)
        return StoredVectors(_by_text(self.texts, row, matrix) if self.texts else row, matrix)

    def _matrix(self, values: np.ndarray | polars.Series) -> DenseVectors:
        """Return the (n, d) float32 vectors of a column."""
        if not isinstance(values, np.ndarray):
            values = self._stacked(values)
        if values.ndim != 2 or values.dtype.kind not in "fiu":
            problem = f"must be an (n, d) array of real numbers, is {values.dtype} {values.shape}"
            raise SourceError(problem, self.path, None, self.columns["vector"])
        if not values.size:
            raise SourceError("has no rows" if not len(values) else "has no numbers", self.path)
        with np.errstate(over="ignore"):
            matrix = values.astype(np.float32)
        finite = np.isfinite(matrix).all(axis=1)
        if not finite.all():
            raise self._error(int(finite.argmin()), "contains NaN or infinity", "vector")
        return matrix

    def _stacked(self, column: polars.Series) -> np.ndarray:
        """Return the (n, d) vectors of a column of lists; a missing number is NaN."""
        import polars

        kind = column.dtype
        if not isinstance(kind, (polars.List, polars.Array)) or not kind.inner.is_numeric():
            raise SourceError(f"must hold lists of numbers, holds {kind}", self.path, None, self.columns["vector"])
        if isinstance(kind, polars.Array):
            column = column.arr.to_list()
        lengths = column.list.len().fill_null(0).to_numpy()
        width = int(lengths[0]) if len(lengths) else 0
        if (lengths != width).any():
            place = int((lengths != width).argmax())
            raise self._error(place, f"has {lengths[place]} numbers, the first row has {width}", "vector")
        numbers = column.explode().cast(polars.Float64).fill_null(float("nan"))
        return np.asarray(numbers.to_numpy()[: width * len(lengths)]).reshape(len(lengths), width)

    def _texts(self, columns: Mapping[str, Callable[[], Any]], use: str, count: int) -> list[str | None]:
        """Return a column of texts; whole numbers are texts where ids are."""
        values = np.asarray(columns[self.columns[use]]())
        is_text = values.dtype.kind in ("UOiu" if use == "id" else "UO")
        if values.shape != (count,) or not is_text:
            problem = f"must be an array of {count:,} texts, is {values.dtype} {values.shape}"
            raise SourceError(problem, self.path, None, self.columns[use])
        return [value if value is None else str(value) for value in values.tolist()]

    def _error(self, number: int, problem: str, use: str) -> SourceError:
        return SourceError(f"row {number + 1}: {problem}", self.path, None, self.columns[use])


class TextRow(Row):
    """Which text an id is."""

    unique = False
    id: Key = column(*NAMES["id"])
    text: Text = column(*NAMES["text"])
    role: Role | None = column(*NAMES["role"], default=None)


def _by_text(texts: Path, row_of_id: dict[bytes, int], matrix: DenseVectors) -> dict[bytes, int]:
    """Return the row of each text in a table of ids and texts; ids without a vector are left out."""
    row_of_text: dict[bytes, int] = {}
    rows = list(read_table(texts).select(TextRow))
    for row in rows:
        place = row_of_id.get(digest("", row.id))
        if place is None:
            continue
        # Without a role, the text is for every role.
        first = row_of_text.setdefault(digest(row.role or "", row.text), place)
        if not np.array_equal(matrix[first], matrix[place]):
            problem = f"the text of id {row.id!r} also has another id with a different vector: {quoted(row.text)}"
            raise row.error(problem, "text")
    if not row_of_text:
        raise SourceError(f"no id of the table has a vector, such as {rows[0].id!r}", texts)
    return row_of_text
