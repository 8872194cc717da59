"""Word vectors by word2vec: Mikolov et al. (2013), "Efficient estimation of word representations in vector space".

Skip-gram (or CBOW) with negative sampling, through gensim. The folder holds ``words.bin`` (word2vec's binary form,
which other programs read too) and ``words.json`` (how words were cut, and all settings).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from embassay.encoders.checks import check_whole
from embassay.encoders.tokens import Cutting
from embassay.errors import SpecError
from embassay.training import gensim_epochs as gensim
from embassay.training.shared import THERE, Advance, Trained, TrainingFolder, read_sentences
from embassay.training.vocabulary import Vocabulary, count_words, cut_sentences

WHAT = "embassay train words"


def train(
    text: Path,
    out: Path,
    *,
    model: Literal["skipgram", "cbow"] = "skipgram",
    dim: int = 300,
    window: int = 5,
    min_count: int | None = None,
    epochs: int = 5,
    negative: int = 5,
    tokens: Cutting = "words",
    seed: int = 0,
    overwrite: bool = False,
    advance: Advance,
) -> Trained:
    """Learn a vector for each word of a text; a training that was stopped goes on after its last whole epoch.

    The same text, settings and versions give the same bytes, stopped or not: it runs on one thread.

    Parameters
    ----------
    text
        A file with one sentence a line.
    out
        The folder to write.
    model
        ``skipgram``: a word tells the words around it; ``cbow``: they tell the word.
    dim
        Number of dimensions.
    window
        How many words to each side a word is learnt with, at most.
    min_count
        How often a word has to occur; 5, or less where fewer than 90 % of the text would be left.
    epochs
        How often the text is read.
    negative
        Words drawn at random that each word is told apart from.
    tokens
        How lower-cased sentences are cut: ``words`` (words and single punctuation marks) or ``treebank``.
    seed
        Of all random draws, 0 or more.
    overwrite
        Replace another model that the folder holds.
    advance
        Is told how far it is.

    Raises
    ------
    InputError
        For a text, a folder or an option that cannot be used.
    """
    check_whole(WHAT, dim=dim, window=window, epochs=epochs, negative=negative)
    if seed < 0:
        raise SpecError(f"{WHAT}, option 'seed': must be 0 or more, is {seed}")
    gensim.require_gensim(WHAT)
    sentences = read_sentences(text)
    cut = cut_sentences(sentences, tokens, WHAT)
    words = count_words(sentences, cut, min_count)
    settings = {
        "model": model,
        "dim": dim,
        "window": window,
        "min_count": words.min_count,
        "epochs": epochs,
        "negative": negative,
        "tokens": tokens,
        "lower": True,
        "seed": seed,
    }
    folder = TrainingFolder(out, "words", settings, sentences, gensim.made_with())
    trained = Trained(out, f"words:{out}", words.notes)
    if folder.open(overwrite):
        return replace(trained, notes=(THERE,))
    vectors = _vectors(folder, settings, words, cut, advance)
    facts = {"words": len(words.counts), "tokens": words.tokens, "kept": sum(words.counts.values())}
    folder.finish({"words.bin": lambda file: _write(file, list(words.counts), vectors)}, facts)
    return trained


def _vectors(
    folder: TrainingFolder, settings: dict[str, Any], words: Vocabulary, cut: list[list[str]], advance: Advance
) -> Any:
    """Return the (words, dim) vectors, in the order of the vocabulary."""
    from gensim.models import Word2Vec

    epochs, seed = settings["epochs"], settings["seed"]
    model = Word2Vec(
        vector_size=settings["dim"],
        window=settings["window"],
        sg=int(settings["model"] == "skipgram"),
        negative=settings["negative"],
        min_count=1,
        workers=1,
        sorted_vocab=0,
        seed=gensim.seed_of(seed, "train words", "start"),
        hashfxn=gensim.hash_word,
    )
    model.build_vocab_from_freq(dict(words.counts), corpus_count=len(cut))
    done, arrays = folder.resume()
    if done:
        model.wv.vectors[:] = arrays["vectors"]
        model.syn1neg[:] = arrays["hidden"]
    for epoch in range(done, epochs):
        gensim.train_epoch(model, cut, epoch, epochs, seed, "train words", advance)
        folder.keep(epoch + 1, {"vectors": model.wv.vectors, "hidden": model.syn1neg})
    return model.wv.vectors


def _write(file: BinaryIO, words: list[str], vectors: Any) -> None:
    """Write word2vec's binary form."""
    file.write(f"{len(words)} {vectors.shape[1]}\n".encode())
    for word, row in zip(words, np.asarray(vectors, dtype="<f4"), strict=True):
        file.write(word.encode() + b" " + row.tobytes() + b"\n")
