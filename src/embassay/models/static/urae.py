"""The unfolding recursive autoencoder (URAE), out of a folder written by ``embassay train urae``.

Socher et al. (2011), "Dynamic pooling and unfolding recursive autoencoders for paraphrase detection"; one of the models
of White et al. (2015), section 3.2.1. A text's vector is the root of its tree: the vectors of two neighbours are merged
until one vector remains. A text of one word has the vector of that word, and an empty text the zero vector. All unknown
words share one learnt vector.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.errors import EncoderError
from embassay.core.samples.base import Role
from embassay.core.store.paths import source_path
from embassay.core.types import Card, Runtime, content_hash, hashes_of
from embassay.core.vectors import DenseVectors
from embassay.models.base import UnknownWords, spec_of
from embassay.models.loaded import LoadedEncoder
from embassay.models.static.autoencoder import Matrices, encode
from embassay.models.static.trained_folder import TrainedRecord, UraeSettings, read_array, read_record
from embassay.models.static.trees import Tree, check_source, identity, joined, parser, words_of
from embassay.models.tokens import TOKENS_VERSION, count_unknown

if TYPE_CHECKING:
    from torch import Tensor

TARGET = "FOLDER"
EXTRA = "hf"
REQUIRES = ("torch",)
UNKNOWN = 0
"""The row of the vector for unknown words."""
BLOCK = 256
"""Number of texts whose trees are computed together."""


def create(target: str, runtime: Runtime, *, trees: str = "") -> UraeEncoder:
    """Look at the folder; the arrays are read when the first text is encoded.

    Parameters
    ----------
    target
        A folder written by ``embassay train urae``.
    trees
        Where a text's tree comes from: a file of bracketed parses, ``right`` (right-branching) or ``balanced``. What it
        was trained with by default. The words of parses are taken as they stand.

    Raises
    ------
    SourceError
        If there is no such folder, or no finished model in it.
    UnknownNameError
        If there is no such source of trees.
    """
    folder = source_path(target)
    record = read_record(folder, "urae", UraeSettings)
    card = Card(spec_of(f"urae:{target}", {"trees": trees}))
    return UraeEncoder(target, card, folder, record, check_source(trees or record.settings.trees))


@dataclass(frozen=True, eq=False)
class UraeModel:
    """The trained arrays, and what parses a text.

    Attributes
    ----------
    row
        The row of each learnt word, from 1.
    words
        (V + 1, d) word vectors; row 0 is the vector of unknown words.
    """

    row: Mapping[str, int]
    words: Tensor
    matrices: Matrices
    parse: Callable[[str], Tree]


@dataclass(frozen=True, eq=False)
class UraeEncoder(LoadedEncoder[UraeModel]):
    """An encoder that folds each text along its tree.

    Attributes
    ----------
    trees
        The source of the trees.
    """

    name: str
    card: Card = field(repr=False)
    folder: Path
    record: TrainedRecord[UraeSettings] = field(repr=False)
    trees: str

    def load(self) -> UraeModel:
        """Read the folder's arrays."""
        import torch

        vocabulary, settings = self.record.vocabulary, self.record.settings
        dim = settings.dim
        shapes = {
            "fold": (dim, 2 * dim),
            "fold_bias": (dim,),
            "unfold": (2 * dim, dim),
            "unfold_bias": (2 * dim,),
            "words": (len(vocabulary) + 1, dim),
        }
        tensors = {
            name: torch.from_numpy(read_array(self.folder / f"{name}.npy", *shape)) for name, shape in shapes.items()
        }
        words = tensors.pop("words")
        row = {word: place for place, word in enumerate(vocabulary, start=1)}
        return UraeModel(row, words, Matrices(**tensors, normalize=settings.normalize), parser(self.trees))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the folder's files and of the source of trees."""
        files = hashes_of(self.folder, ("urae.json", *self.record.files))
        return content_hash(["urae", files, identity(self.trees), TOKENS_VERSION])

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, d) float32; an empty text is a zero row.

        Raises
        ------
        EncoderError
            If a file of the folder is damaged, or a text has no parse.
        """
        import torch

        model = self.model
        matrix = np.zeros((len(texts), model.words.shape[1]), dtype=np.float32)
        # In blocks, because all inner nodes of a block's trees are in memory at once.
        for start in range(0, len(texts), BLOCK):
            trees = [self._parse(text) for text in texts[start : start + BLOCK]]
            rows = [model.row.get(word, UNKNOWN) for tree in trees for word in words_of(tree)]
            merges, roots = joined(trees)
            with torch.inference_mode():
                vectors = encode(model.words[rows], merges, model.matrices)
            places = [place for place, tree in enumerate(trees, start) if tree]
            for place, root in zip(places, roots, strict=True):
                matrix[place] = vectors[root]
        return matrix

    def unknown_words(self, texts: Sequence[str]) -> UnknownWords:
        """Return (unknown tokens, tokens, texts without a known token)."""
        row = self.model.row
        words = [words_of(self._parse(text)) for text in texts]
        return count_unknown(words, lambda word: word in row)

    def _parse(self, text: str) -> Tree:
        try:
            return self.model.parse(text)
        except ValueError as error:
            raise EncoderError(str(error)) from None
