"""Paragraph vectors: Le & Mikolov (2014), "Distributed representations of sentences and documents".

PV-DM (with the context concatenated) or PV-DBOW, with hierarchical softmax, through gensim: each line of the text is a
paragraph. The folder holds ``hidden.npy`` (the softmax), for PV-DM ``words.npy``, and ``paragraphs.json`` (vocabulary,
counts, settings). PV-DM takes ``dim`` × (1 + 2 × ``window``) numbers for each word: 20 kB by default.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from embassay.encoders.checks import check_whole
from embassay.encoders.static.paragraph_model import Kind, build
from embassay.encoders.tokens import Cutting
from embassay.errors import SpecError
from embassay.training import gensim_epochs as gensim
from embassay.training.shared import THERE, Advance, Trained, TrainingFolder, array, read_sentences
from embassay.training.vocabulary import Vocabulary, count_words, cut_sentences

WHAT = "embassay train paragraphs"


def train(
    text: Path,
    out: Path,
    *,
    model: Kind = "dm",
    dim: int = 300,
    window: int = 8,
    min_count: int | None = None,
    epochs: int = 20,
    tokens: Cutting = "words",
    seed: int = 0,
    overwrite: bool = False,
    advance: Advance,
) -> Trained:
    """Learn to tell words from paragraphs; a training that was stopped goes on after its last whole epoch.

    The same text, settings and versions give the same bytes, stopped or not: it runs on one thread.

    Parameters
    ----------
    text
        A file with one sentence a line.
    out
        The folder to write.
    model
        ``dm``: PV-DM, a word is told from its paragraph and the words around it, concatenated; ``dbow``: PV-DBOW,
        from its paragraph alone.
    dim
        Number of dimensions.
    window
        How many words to each side are the context of PV-DM.
    min_count
        How often a word has to occur; 5, or less where fewer than 90 % of the text would be left.
    epochs
        How often the text is read.
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
    check_whole(WHAT, dim=dim, window=window, epochs=epochs)
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
        "tokens": tokens,
        "lower": True,
        "seed": seed,
    }
    folder = TrainingFolder(out, "paragraphs", settings, sentences, gensim.made_with())
    trained = Trained(out, f"paragraphs:{out}", words.notes)
    if folder.open(overwrite):
        return replace(trained, notes=(THERE,))
    learnt = _learn(folder, settings, words, cut, advance)
    files = {"hidden.npy": array(learnt.syn1), **({"words.npy": array(learnt.wv.vectors)} if model == "dm" else {})}
    facts = {
        "vocabulary": list(words.counts),
        "counts": list(words.counts.values()),
        "tokens": words.tokens,
        "kept": sum(words.counts.values()),
    }
    folder.finish(files, facts)
    return trained


def _learn(
    folder: TrainingFolder, settings: dict[str, Any], words: Vocabulary, cut: list[list[str]], advance: Advance
) -> Any:
    """Return gensim's trained model."""
    from gensim.models.doc2vec import TaggedDocument

    epochs, seed = settings["epochs"], settings["seed"]
    start = gensim.seed_of(seed, "train paragraphs", "start")
    model = build(settings["model"], settings["dim"], settings["window"], words.counts, start)
    model.dv.index_to_key = list(range(len(cut)))
    model.dv.resize_vectors(seed=gensim.seed_of(seed, "train paragraphs", "start of paragraphs"))
    trained = {"hidden": model.syn1, "paragraphs": model.dv.vectors}
    if settings["model"] == "dm":
        trained["words"] = model.wv.vectors
    done, arrays = folder.resume()
    for name in trained if done else ():
        np.copyto(trained[name], arrays[name])
    documents = [TaggedDocument(own, [place]) for place, own in enumerate(cut)]
    for epoch in range(done, epochs):
        gensim.train_epoch(model, documents, epoch, epochs, seed, "train paragraphs", advance)
        folder.keep(epoch + 1, trained)
    return model
