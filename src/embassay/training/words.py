"""Word vectors by word2vec: Mikolov et al. (2013), "Efficient estimation of word representations in vector space".

Skip-gram (or CBOW) with negative sampling, trained with gensim. The folder contains ``words.bin`` (word2vec's binary
format, which other programs can read) and ``words.json`` (the tokenizer and all options).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from embassay.training.gensim_training import GensimTraining, hash_word
from embassay.training.options import WordsOptions
from embassay.training.trained import Advance, Trained

if TYPE_CHECKING:
    from gensim.models import Word2Vec


def train(text: Path, out: Path, options: WordsOptions, *, overwrite: bool = False, advance: Advance) -> Trained:
    """Learn a vector for each word of a text. An interrupted training resumes after its last complete epoch.

    The same text, options and versions give the same bytes, interrupted or not, because it runs on one thread.

    Parameters
    ----------
    text
        A file with one sentence per line.
    out
        The folder to write.
    overwrite
        Replace another model in the folder.
    advance
        Called with the progress.

    Raises
    ------
    InputError
        For a text, a folder or an option that cannot be used.
    """
    training = GensimTraining.prepare("words", text, out, options)
    if training.folder.open(overwrite):
        return training.folder.trained()
    model = _untrained(training, options)
    arrays = {"vectors": model.wv.vectors, "hidden": model.syn1neg}
    training.run(model, training.sentences, arrays, advance)
    words = list(training.vocabulary.counts)
    training.folder.finish(
        lambda new: _write(new / "words.bin", words, model.wv.vectors), {"words": len(words), **training.facts}
    )
    return training.trained


def _untrained(training: GensimTraining, options: WordsOptions) -> Word2Vec:
    """Return an untrained gensim model with the vocabulary in its order."""
    from gensim.models import Word2Vec

    model = Word2Vec(
        vector_size=options.dim,
        window=options.window,
        sg=int(options.model == "skipgram"),
        negative=options.negative,
        min_count=1,
        workers=1,
        sorted_vocab=0,
        seed=training.seed_of("start"),
        hashfxn=hash_word,
    )
    model.build_vocab_from_freq(dict(training.vocabulary.counts), corpus_count=len(training.sentences))
    return model


def _write(path: Path, words: Sequence[str], vectors: NDArray[np.float32]) -> None:
    """Write word2vec's binary format."""
    with path.open("wb") as file:
        file.write(f"{len(words)} {vectors.shape[1]}\n".encode())
        for word, vector in zip(words, vectors.astype("<f4", copy=False), strict=True):
            file.write(word.encode() + b" " + vector.tobytes() + b"\n")
