"""The options of ``embassay train``: one record for each kind of encoder, used by command, trainer and model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tokens = Literal["words", "treebank"]
Trees = Literal["right", "balanced", "link-parser", "brackets"]


@dataclass(frozen=True)
class WordsOptions:
    """Options of ``embassay train words``.

    Attributes
    ----------
    model
        skipgram: a word tells the words around it; cbow: they tell the word.
    dim
        Number of dimensions.
    window
        How many words to each side a word is learnt with.
    min_count
        How often a word has to occur; 5, or less for a small text.
    epochs
        How often the text is read.
    negative
        Random words that each word is told apart from.
    tokens
        How lower-cased sentences are cut: words, or treebank (nltk).
    seed
        Of every random draw.
    """

    model: Literal["skipgram", "cbow"] = "skipgram"
    dim: int = 300
    window: int = 5
    min_count: int | None = None
    epochs: int = 5
    negative: int = 5
    tokens: Tokens = "words"
    seed: int = 0


@dataclass(frozen=True)
class ParagraphsOptions:
    """Options of ``embassay train paragraphs``.

    Attributes
    ----------
    model
        dm: a word is told from its sentence and the words around it; dbow: from its sentence alone.
    dim
        Number of dimensions.
    window
        How many words to each side are the context, for dm.
    min_count
        How often a word has to occur; 5, or less for a small text.
    epochs
        How often the text is read.
    tokens
        How lower-cased sentences are cut: words, or treebank (nltk).
    seed
        Of every random draw.
    """

    model: Literal["dm", "dbow"] = "dm"
    dim: int = 300
    window: int = 8
    min_count: int | None = None
    epochs: int = 20
    tokens: Tokens = "words"
    seed: int = 0


@dataclass(frozen=True)
class UraeOptions:
    """Options of ``embassay train urae``.

    Attributes
    ----------
    dim
        Number of dimensions; 200, or that of the vectors in --words.
    epochs
        How often the text is read.
    trees
        Where a sentence's tree comes from: right (right-branching), balanced, link-parser (the program), brackets.
    words
        File of word vectors, or a folder that 'embassay train words' wrote; they stay as they are. Learnt otherwise.
    normalize
        Scale each inner node to unit length.
    decay
        Weight of the squared weights in the loss.
    rate
        Learning rate of AdaGrad.
    seed
        Of every random draw.
    """

    dim: int | None = None
    epochs: int = 10
    trees: Trees = "right"
    words: str = ""
    normalize: bool = False
    decay: float = 1e-5
    rate: float = 0.01
    seed: int = 0
