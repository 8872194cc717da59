"""Word vectors (word2vec) and paragraph vectors (PV-DM, PV-DBOW) by gensim.

Word vectors: Mikolov et al. (2013), "Efficient estimation of word representations in vector space"; skip-gram or CBOW
with negative sampling. The folder contains ``words.bin`` (word2vec's binary format, which other programs can read) and
``words.json`` (the tokenizer and all options).

Paragraph vectors: Le & Mikolov (2014), "Distributed representations of sentences and documents"; with hierarchical
softmax, PV-DM with concatenated context. Each line of the text is a paragraph. The folder contains ``hidden.npy`` (the
softmax), ``words.npy`` (PV-DM only) and ``paragraphs.json`` (vocabulary, counts, options). PV-DM stores ``dim`` × (1 +
2 × ``window``) numbers for each word: 20 kB by default.

Each epoch runs on one thread, with its own random stream and its part of the falling learning rate. So the same text,
options and versions give the same bytes, whether a training was interrupted or not.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.errors import InputError, MissingExtraError
from embassay.core.randomness import generator
from embassay.core.vectors import DenseVectors
from embassay.models.neural.library import quiet_loggers
from embassay.models.static.paragraphs import build
from embassay.training.options import ParagraphsOptions, WordsOptions
from embassay.training.stage import THERE, Advance, Kind, Stage, Trained, save_arrays
from embassay.training.text import count_words, cut_sentences, read_sentences

if TYPE_CHECKING:
    from gensim.models import Word2Vec

RATE, LAST_RATE = 0.025, 0.0001
"""The learning rate at the start and at the end; it falls linearly in between."""
NEGATIVE = 5
"""The number of random words that each word is contrasted with (negative sampling)."""
GensimStage = Stage[WordsOptions | ParagraphsOptions]


def train(
    text: Path, out: Path, options: WordsOptions | ParagraphsOptions, *, overwrite: bool = False, advance: Advance
) -> Trained:
    """Learn word or paragraph vectors from a text. An interrupted training resumes after its last complete epoch.

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
        For a text, a folder or an option that cannot be used; if gensim is not installed.
    """
    kind: Kind = "words" if isinstance(options, WordsOptions) else "paragraphs"
    command = f"embassay train {kind}"
    if importlib.util.find_spec("gensim") is None:
        if sys.version_info >= (3, 14):
            raise InputError(f"{command} needs gensim, which is not available for Python 3.14; use Python 3.13")
        raise MissingExtraError(command, "words")
    source = read_sentences(text)
    sentences = cut_sentences(source, options.tokens, command)
    vocabulary = count_words(source, sentences, options.min_count)
    # The record contains the chosen min_count if the user gave none.
    settings = {"min_count": vocabulary.min_count, "lower": True}
    libraries = ("gensim", "numpy", "scipy")
    stage: GensimStage = Stage(out, kind, options, {"text": source.sha256}, libraries, overwrite, settings)
    if stage.open():
        return stage.trained(THERE)

    counts = vocabulary.counts
    facts = {"tokens": vocabulary.tokens, "kept": sum(counts.values())}
    if isinstance(options, WordsOptions):
        from gensim.models import Word2Vec

        model = Word2Vec(
            vector_size=options.dim,
            window=options.window,
            sg=int(options.model == "skipgram"),
            negative=NEGATIVE,
            min_count=1,
            workers=1,
            sorted_vocab=0,
            seed=seed_of("words", options.seed, "start"),
        )
        model.build_vocab_from_freq(dict(counts), corpus_count=len(sentences))
        arrays = {"vectors": model.wv.vectors, "hidden": model.syn1neg}
        _train_epochs(stage, model, sentences, arrays, advance)
        write = model.wv.save_word2vec_format
        stage.finish(lambda new: write(str(new / "words.bin"), binary=True), {**facts, "words": len(counts)})
    else:
        from gensim.models.doc2vec import TaggedDocument

        start = seed_of("paragraphs", options.seed, "start")
        model = build(options.model, options.dim, options.window, counts, start)
        model.dv.index_to_key = list(range(len(sentences)))
        model.dv.resize_vectors(seed=seed_of("paragraphs", options.seed, "start of paragraphs"))
        arrays = {"hidden": model.syn1}
        if options.model == "dm":
            arrays["words"] = model.wv.vectors
        documents = [TaggedDocument(words, [place]) for place, words in enumerate(sentences)]
        _train_epochs(stage, model, documents, {**arrays, "paragraphs": model.dv.vectors}, advance)
        words = {"vocabulary": list(counts), "counts": list(counts.values())}
        stage.finish(lambda new: save_arrays(new, arrays), {**facts, **words})
    return stage.trained(*vocabulary.notes)


def _train_epochs(
    stage: GensimStage, model: Word2Vec, items: Sequence[object], arrays: Mapping[str, DenseVectors], advance: Advance
) -> None:
    """Train the remaining epochs, with a checkpoint after each.

    Parameters
    ----------
    items
        The input of gensim: lists of words, or tagged documents.
    arrays
        The arrays of the model that training changes.
    """
    done, kept = stage.resume()
    if done:
        for name, array in arrays.items():
            np.copyto(array, kept[name])
    epochs = stage.recipe.epochs
    step = (RATE - LAST_RATE) / epochs
    for epoch in range(done, epochs):
        # The outcome of an epoch depends only on the arrays, the epoch and the seed. gensim draws from the old
        # interface of numpy.
        model.random = np.random.RandomState(seed_of(stage.kind, stage.recipe.seed, f"epoch {epoch}"))
        # gensim warns about one call of ``train`` per epoch, which is intended here.
        with quiet_loggers("gensim"):
            model.train(
                items,
                total_examples=len(items),
                epochs=1,
                start_alpha=RATE - step * epoch,
                end_alpha=RATE - step * (epoch + 1),
            )
        advance((epoch + 1) * len(items), epochs * len(items))
        stage.keep(epoch + 1, arrays)


def seed_of(kind: str, seed: int, purpose: str) -> int:
    """Return a seed for gensim, below 2**32."""
    return int(generator(seed, f"train {kind}", purpose).integers(2**32))
