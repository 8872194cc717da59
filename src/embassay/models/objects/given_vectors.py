"""An encoder of vectors that were made elsewhere, one for each text of a corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from embassay.core.errors import EncoderError, SpecError
from embassay.core.samples.base import Role, Text
from embassay.core.types import Card, content_hash
from embassay.core.vectors import DenseVectors, Similarity
from embassay.models.base import BaseEncoder


@dataclass(frozen=True)
class MatrixEncoder(BaseEncoder):
    """Looks up the vector of each text in a matrix.

    Attributes
    ----------
    matrix
        (n, d) float32.
    row
        By (role, text) the row of the matrix.
    """

    name: str
    matrix: DenseVectors
    row: Mapping[Text, int]
    fingerprint: str
    card: Card

    @classmethod
    def of(cls, name: str, matrix: ArrayLike, texts: Sequence[Text], similarity: Similarity) -> MatrixEncoder:
        """Make the encoder of a matrix with one row for each text.

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
        fingerprint = content_hash([digest, rows.shape, [list(text) for text in texts]])
        card = Card(spec=f"matrix:{name}", cached=False, similarity=similarity)
        return cls(name, rows, {text: row for row, text in enumerate(texts)}, fingerprint, card)

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return the (n, d) rows of the texts.

        Raises
        ------
        EncoderError
            For a text that is not of the corpus.
        """
        try:
            rows = [self.row[role, text] for text in texts]
        except KeyError as error:
            raise EncoderError(f"{self.name} has no vector of {error.args[0]}: it is not in the corpus") from None
        return self.matrix[rows]
