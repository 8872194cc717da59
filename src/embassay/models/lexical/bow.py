"""Bag of words: one dimension for each word of the corpus, punctuation included, counts, lower-cased.

Source: the baselines BOW and PCA BOW of White et al. (2015), section 3.2.4: ``tokens=treebank`` and ``pca=300``.
"""

from __future__ import annotations

from embassay.core.types import Runtime
from embassay.models.lexical.counts import LexicalEncoder, lexical_encoder
from embassay.models.limits import CountOrZero
from embassay.models.tokens import Cutting


def create(target: str, runtime: Runtime, *, tokens: Cutting = "words", pca: CountOrZero = 0) -> LexicalEncoder:
    """Make the encoder; it learns its words from each corpus.

    Parameters
    ----------
    tokens
        How lower-cased texts are tokenised: ``words`` (words and single punctuation marks) or ``treebank`` (the Penn
        Treebank's rules, through nltk).
    pca
        Keep this many dimensions by PCA, learnt from the corpus's texts, and where a diagnostic trains on folds from
        the training texts of each; fewer where the texts have fewer; 0 for no PCA.

    Raises
    ------
    MissingExtraError
        If nltk is wanted and not installed.
    """
    return lexical_encoder("bow", tokens, pca)
