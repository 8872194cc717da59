"""Vectors that were made elsewhere, looked up by text: an .npz, Parquet or JSON lines file, or a folder of parts.

Each row has a text, its vector, and optionally the role in which the text was encoded. Encoders receive texts and not
the ids of a corpus, so vectors that are stored by id need ``texts=``, a table of ids and texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from embassay.core.errors import EncoderError, SourceError, SpecError, quoted
from embassay.core.parts import PartVectors
from embassay.core.samples.base import Role
from embassay.core.store.paths import source_path
from embassay.core.types import Card, Runtime, content_hash
from embassay.core.vectors import DenseVectors, Indices, Similarity, VectorBatch
from embassay.models.base import Route, spec_of
from embassay.models.exported.parts_encoder import PartsEncoder
from embassay.models.exported.vector_files import ROWS, VectorFile, recognise
from embassay.models.exported.vector_index import TextVectors, read_vectors
from embassay.models.loaded import LoadedEncoder

TARGET = "FILE or FOLDER"


def create(
    target: str,
    runtime: Runtime,
    *,
    texts: str = "",
    normalize: bool = False,
    similarity: Similarity = "cosine",
) -> VectorsEncoder | PartsEncoder:
    """Look at the beginning of the file; it is read when the first text is encoded.

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
    file = recognise(path)
    table = source_path(texts) if texts else None
    if table is None and file.key == "id":
        raise SpecError(
            f"{place}: the vectors are stored by id, but encoders receive only texts; "
            "set texts= to a table of ids and texts"
        )
    if table is not None and "id" not in file.names:
        raise SpecError(f"{place}, option 'texts': cannot be used, because the vectors are stored by text, not by id")
    if table is not None and not table.is_file():
        raise SourceError("no such file", table)
    return VectorsEncoder(target, file, runtime, table, texts, normalize, similarity)


@dataclass(frozen=True)
class VectorsEncoder(LoadedEncoder[TextVectors]):
    """An encoder that looks up the vectors of texts in a file."""

    name: str
    file: VectorFile
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
        files = [self.runtime.sha256(path) for path in (self.file.path, self.texts) if path]
        return content_hash(["vectors", files, self.normalize])

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, d) float32.

        Raises
        ------
        EncoderError
            If a text has no vector, with the first such text and how many there are; or if the file cannot be read.
        """
        return self._taken(self._rows(texts, role))

    def batches(self, texts: Sequence[str], role: Role) -> Iterator[VectorBatch]:
        """Yield (indices into ``texts``, their (m, d) float32 vectors), after checking that every text has a vector.

        Raises
        ------
        EncoderError
            As :meth:`encode`.
        """
        rows = self._rows(texts, role)
        for start in range(0, len(texts), ROWS):
            places = np.arange(start, min(start + ROWS, len(texts)))
            yield places, self._taken(rows[places])

    def load(self) -> TextVectors:
        """Read the file."""
        return read_vectors(self.file, self.texts)

    def route(self) -> Route:
        """Return facts about the file, for ``run.json``; empty before the first text is encoded."""
        if not self.is_loaded:
            return {}
        rows, dim = self.model.matrix.shape
        known_by = "id" if self.texts else "text"
        return {
            "form": self.file.kind,
            "known_by": known_by,
            "rows": rows,
            "dim": dim,
        }

    def _rows(self, texts: Sequence[str], role: Role) -> Indices:
        """Return the (n,) rows of the texts in the file; raise EncoderError if a text has no vector."""
        rows = []
        # A dictionary lists each missing text once, in the order of the texts.
        missing_texts: dict[str, None] = {}
        for text in texts:
            row = self.model.find(text, role)
            if row is None:
                missing_texts[text] = None
            else:
                rows.append(row)
        if missing_texts:
            missing = list(missing_texts)
            message = (
                f"{self.file.path}: {len(missing):,} of {len(set(texts)):,} texts have no vector for the role {role}; "
                f"the first is {quoted(missing[0])}"
            )
            if other_roles := self.model.roles(missing[0]):
                message += f" (it has one for {' and '.join(other_roles)})"
            raise EncoderError(message)
        return np.array(rows, dtype=np.int64)

    def _taken(self, rows: Indices) -> DenseVectors:
        """Return the (m, d) float32 vectors of some rows, at unit length if ``normalize`` is set."""
        vectors = self.model.matrix[rows]
        if not self.normalize:
            return vectors
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
        # A zero vector stays zero.
        lengths[lengths == 0] = 1
        return np.asarray(vectors / lengths, dtype=np.float32)
