"""The unfolding recursive autoencoder (URAE), out of a folder written by ``embassay train urae``.

Socher et al. (2011), "Dynamic pooling and unfolding recursive autoencoders for paraphrase detection"; one of the models
of White et al. (2015), section 3.2.1. A text's vector is the root of its tree: the vectors of two neighbours are merged
until one vector remains. A text of one word has the vector of that word, and an empty text the zero vector. All unknown
words share one learnt vector.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.samples.base import Role
from embassay.core.store.paths import source_path
from embassay.core.types import Card, Runtime, content_hash, hashes_of
from embassay.core.vectors import DenseVectors
from embassay.models.base import UnknownWords, spec_of
from embassay.models.loaded import LoadedEncoder
from embassay.models.static.autoencoder import Matrices, encode
from embassay.models.static.trained_folder import TrainedRecord, UraeSettings, read_array, read_record
from embassay.models.static.trees import Tree, identity, joined, parser, words_of
from embassay.models.tokens import TOKENS_VERSION, count_unknown

if TYPE_CHECKING:
    from torch import Tensor

TARGET = "FOLDER"
EXTRA = "hf"
REQUIRES = ("torch",)
UNKNOWN = 0
"""The row of the vector for unknown words."""


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
        If there is no such folder, or no finished model in it; if the file has other than parses.
    UnknownNameError
        If there is no such source of trees.
    """
    folder = source_path(target)
    record = read_record(folder, "urae", UraeSettings)
    card = Card(spec_of(f"urae:{target}", {"trees": trees}))
    source = trees or record.settings.trees
    return UraeEncoder(target, card, folder, record, identity(source), parser(source))


@dataclass(frozen=True, eq=False, repr=False)
class UraeEncoder(LoadedEncoder[tuple["Tensor", Matrices]]):
    """An encoder that folds each text along its tree; it loads the (V + 1, d) word vectors and the other matrices.

    Attributes
    ----------
    trees
        What the trees depend on.
    parse
        Returns the tree of a text, or raises EncoderError.
    """

    name: str
    card: Card
    folder: Path
    record: TrainedRecord[UraeSettings]
    trees: str
    parse: Callable[[str], Tree]

    @cached_property
    def row(self) -> Mapping[str, int]:
        """The row of each learnt word, from 1; row 0 is the vector of unknown words."""
        return {word: place for place, word in enumerate(self.record.vocabulary, start=1)}

    def load(self) -> tuple[Tensor, Matrices]:
        """Read the folder's arrays."""
        import torch

        settings = self.record.settings
        dim = settings.dim
        shapes = {
            "fold": (dim, 2 * dim),
            "fold_bias": (dim,),
            "unfold": (2 * dim, dim),
            "unfold_bias": (2 * dim,),
            "words": (len(self.record.vocabulary) + 1, dim),
        }
        tensors = {
            name: torch.from_numpy(read_array(self.folder / f"{name}.npy", *shape)) for name, shape in shapes.items()
        }
        words = tensors.pop("words")
        return words, Matrices(**tensors, normalize=settings.normalize)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the folder's files and of the source of trees."""
        files = hashes_of(self.folder, ("urae.json", *self.record.files))
        return content_hash(["urae", files, self.trees, TOKENS_VERSION])

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, d) float32; an empty text is a zero row.

        Raises
        ------
        EncoderError
            If a file of the folder is damaged, or a text has no parse.
        """
        import torch

        words, matrices = self.model
        vectors = np.zeros((len(texts), words.shape[1]), dtype=np.float32)
        for place, text in enumerate(texts):
            tree = self.parse(text)
            if tree:
                rows = [self.row.get(word, UNKNOWN) for word in words_of(tree)]
                merges, (root,) = joined([tree])
                with torch.inference_mode():
                    vectors[place] = encode(words[rows], merges, matrices)[root]
        return vectors

    def unknown_words(self, texts: Sequence[str]) -> UnknownWords:
        """Return (unknown tokens, tokens, texts without a known token)."""
        return count_unknown((words_of(self.parse(text)) for text in texts), lambda word: word in self.row)
