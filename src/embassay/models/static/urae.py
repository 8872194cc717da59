"""The unfolding recursive autoencoder (URAE), out of a folder written by ``embassay train urae``.

Socher et al. (2011), "Dynamic pooling and unfolding recursive autoencoders for paraphrase detection"; one of the models
of White et al. (2015), section 3.2.1. A text's vector is the root of its tree: the vectors of two neighbours are merged
until one vector remains. A text of one word has the vector of that word, and an empty text the zero vector. All unknown
words share one learnt vector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.errors import EncoderError, SpecError
from embassay.core.samples.base import Role
from embassay.core.store.paths import source_path
from embassay.core.types import Card, Runtime, content_hash
from embassay.core.vectors import DenseVectors
from embassay.models.base import Route, UnknownWords, spec_of
from embassay.models.loaded import LoadedEncoder
from embassay.models.static.parses import check_source, identity, parse
from embassay.models.static.trained_folder import TrainedFolder
from embassay.models.static.tree_plans import TreePlan
from embassay.models.static.trees import Tree
from embassay.models.static.unfolding import Matrices, roots
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
        Where a text's tree comes from: a file of bracketed parses, ``brackets`` (each text is a bracketed parse),
        ``right`` (right-branching) or ``balanced``. What it was trained with by default. The words of brackets are
        taken as they stand, those of plain texts are cut at punctuation.

    Raises
    ------
    SourceError
        If there is no such folder, or no finished model in it.
    SpecError, MissingExtraError, UnknownNameError
        If nltk for brackets is not installed, or there is no such source of trees; also where it was trained on
        brackets and ``trees`` is not given.
    """
    place = f"encoder 'urae:{target}'"
    folder = TrainedFolder.of(source_path(target), "urae")
    trained = folder.settings.trees
    if not trees and trained == "brackets":
        raise SpecError(
            f"{place}: it was trained on bracketed parses, which plain texts are not: set trees=FILE, a file of the "
            "parses of the texts, or another source of trees"
        )
    return UraeEncoder(target, folder, runtime, check_source(trees or trained, f"{place}, option 'trees'"), trees)


@dataclass(frozen=True, eq=False)
class UraeModel:
    """The trained arrays.

    Attributes
    ----------
    row
        The row of each learnt word, from 1.
    words
        (V + 1, d) float32 word vectors; row 0 is the vector of unknown words.
    """

    row: Mapping[str, int]
    words: DenseVectors
    matrices: Matrices

    @classmethod
    def of(cls, folder: TrainedFolder) -> UraeModel:
        """Read the folder's arrays.

        Raises
        ------
        SourceError
            If an array is damaged, or its shape does not match the others.
        """
        import torch

        vocabulary = folder.record.vocabulary
        dim = folder.settings.dim
        row = {word: place for place, word in enumerate(vocabulary, start=1)}

        def tensor(name: str, *shape: int) -> Tensor:
            return torch.from_numpy(folder.array(name, shape))

        matrices = Matrices(
            fold=tensor("fold.npy", dim, 2 * dim),
            fold_bias=tensor("fold_bias.npy", dim),
            unfold=tensor("unfold.npy", 2 * dim, dim),
            unfold_bias=tensor("unfold_bias.npy", 2 * dim),
            normalize=folder.settings.normalize,
        )
        words = folder.array("words.npy", (len(vocabulary) + 1, dim))
        return cls(row, words, matrices)

    def encode(self, trees: Sequence[Tree]) -> DenseVectors:
        """Return the (n, d) roots of the trees."""
        import torch

        plan = TreePlan.of([tree.shape for tree in trees], unfold=False)
        rows = []
        for tree in trees:
            rows += [self.row.get(word, UNKNOWN) for word in tree.words]
        ordered_rows = np.array(rows, dtype=np.int64)[plan.order]
        leaves = torch.from_numpy(self.words[ordered_rows])
        with torch.inference_mode():
            vectors: DenseVectors = roots(plan, leaves, self.matrices).numpy()
        return vectors


@dataclass(frozen=True, eq=False)
class UraeEncoder(LoadedEncoder[UraeModel]):
    """An encoder that folds each text along its tree.

    Attributes
    ----------
    trees
        The source of the trees.
    requested
        The source that the option names; empty if it is not set.
    """

    name: str
    folder: TrainedFolder
    runtime: Runtime = field(repr=False)
    trees: str
    requested: str

    def load(self) -> UraeModel:
        """Read the folder's arrays."""
        return UraeModel.of(self.folder)

    @property
    def card(self) -> Card:
        """The properties of the encoder that the folder's record contains."""
        return Card(spec_of(f"urae:{self.name}", {"trees": self.requested}))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the folder's files and of the source of trees."""
        return content_hash(["urae", self.folder.hashes(self.runtime), identity(self.trees), TOKENS_VERSION])

    def route(self) -> Route:
        """Return the source of trees, for ``run.json``."""
        return {"trees": identity(self.trees), "device": "cpu"}

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, d) float32; an empty text is a zero row.

        Raises
        ------
        EncoderError
            If a file of the folder is damaged, or a text has no parse.
        """
        model = self.model
        matrix = np.zeros((len(texts), model.words.shape[1]), dtype=np.float32)
        # In blocks, because all inner nodes of a block's trees are in memory at once.
        for start in range(0, len(texts), BLOCK):
            block = slice(start, start + BLOCK)
            matrix[block] = model.encode(self._trees_of(texts[block]))
        return matrix

    def unknown_words(self, texts: Sequence[str]) -> UnknownWords:
        """Return (unknown tokens, tokens, texts without a known token)."""
        row = self.model.row
        words = [tree.words for tree in self._trees_of(texts)]
        return count_unknown(words, lambda word: word in row)

    def _trees_of(self, texts: Sequence[str]) -> list[Tree]:
        try:
            return parse(texts, self.trees)
        except ValueError as error:
            problem, place = error.args
            raise EncoderError(f"{problem} (text {texts[place][:60]!r}); trees=right needs no parse") from None
