"""An encoder of vectors that were made elsewhere, one for each text of a corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from embassay.core.errors import EncoderError, SpecError
from embassay.core.samples.base import Role, Text
from embassay.core.types import Card
from embassay.core.vectors import Similarity
from embassay.models.objects.calls import CallEncoder


def of_matrix(name: str, matrix: ArrayLike, texts: Sequence[Text], similarity: Similarity) -> CallEncoder:
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
    row = {text: place for place, text in enumerate(texts)}

    def look_up(contents: list[str], role: Role) -> object:
        try:
            return rows[[row[role, content] for content in contents]]
        except KeyError as error:
            raise EncoderError(f"{name} has no vector of {error.args[0]}: it is not in the corpus") from None

    # Little-endian, so that the fingerprint is the same on every machine.
    digest = hashlib.sha256(np.ascontiguousarray(rows, dtype="<f4").tobytes()).hexdigest()
    card = Card(spec=f"matrix:{name}", cached=False, similarity=similarity)
    content = [digest, rows.shape, [list(text) for text in texts]]
    return CallEncoder(name, card, lambda: content, lambda: look_up)
