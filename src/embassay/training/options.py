"""The options of ``embassay train``: one record for each kind of encoder, shared by command, trainer and model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tokens = Literal["words", "treebank"]


@dataclass(frozen=True)
class WordsOptions:
    """Options of ``embassay train words``.

    Attributes
    ----------
    model
        skipgram: predict the surrounding words from a word; cbow: predict a word from the surrounding words.
    dim
        Number of dimensions.
    window
        Number of context words on each side of a word.
    min_count
        Learn words that occur at least this often. Default: 5, or fewer for a small text.
    epochs
        Number of passes over the text.
    negative
        Number of random words that each word is contrasted with (negative sampling).
    tokens
        Tokenizer for the lower-cased sentences: words, or treebank (nltk).
    seed
        Seed for all random numbers.
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
        dm: predict a word from its sentence and the surrounding words; dbow: from its sentence alone.
    dim
        Number of dimensions.
    window
        Number of context words on each side, for dm.
    min_count
        Learn words that occur at least this often. Default: 5, or fewer for a small text.
    epochs
        Number of passes over the text.
    tokens
        Tokenizer for the lower-cased sentences: words, or treebank (nltk).
    seed
        Seed for all random numbers.
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
        Number of dimensions. Default: 200, or the dimensions of the vectors in --words.
    epochs
        Number of passes over the text.
    trees
        Source of the sentences' trees: right (right-branching), balanced, brackets (each line is a parse), or a file of
        bracketed parses.
    words
        File of word vectors, or a folder of 'embassay train words'. They stay fixed. Default: vectors are learnt.
    normalize
        Scale each inner node to unit length.
    decay
        Weight decay: factor of the squared weights in the loss.
    rate
        Learning rate of AdaGrad.
    seed
        Seed for all random numbers.
    """

    dim: int | None = None
    epochs: int = 10
    trees: str = "right"
    words: str = ""
    normalize: bool = False
    decay: float = 1e-5
    rate: float = 0.01
    seed: int = 0


KINDS = {"words": WordsOptions, "paragraphs": ParagraphsOptions, "urae": UraeOptions}
"""What is trained on a text, with its options."""
