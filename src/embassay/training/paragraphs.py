"""Paragraph vectors: Le & Mikolov (2014), "Distributed representations of sentences and documents".

PV-DM (with concatenated context) or PV-DBOW, with hierarchical softmax, trained with gensim. Each line of the text is a
paragraph. The folder contains ``hidden.npy`` (the softmax), ``words.npy`` (PV-DM only) and ``paragraphs.json``
(vocabulary, counts, options). PV-DM stores ``dim`` × (1 + 2 × ``window``) numbers for each word: 20 kB by default.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from embassay.models.static.paragraphs import build
from embassay.training.gensim_training import GensimTraining
from embassay.training.options import ParagraphsOptions
from embassay.training.text_folder import save_arrays
from embassay.training.trained import Advance, Trained

if TYPE_CHECKING:
    from gensim.models.doc2vec import Doc2Vec


def train(text: Path, out: Path, options: ParagraphsOptions, *, overwrite: bool = False, advance: Advance) -> Trained:
    """Learn paragraph vectors from a text. An interrupted training resumes after its last complete epoch.

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
    from gensim.models.doc2vec import TaggedDocument

    training = GensimTraining.prepare("paragraphs", text, out, options)
    if training.folder.open(overwrite):
        return training.folder.trained()
    model = _untrained(training, options)
    arrays = {"hidden": model.syn1}
    if options.model == "dm":
        arrays["words"] = model.wv.vectors
    documents = [TaggedDocument(words, [place]) for place, words in enumerate(training.sentences)]
    training.run(model, documents, {**arrays, "paragraphs": model.dv.vectors}, advance)
    counts = training.vocabulary.counts
    facts = {"vocabulary": list(counts), "counts": list(counts.values()), **training.facts}
    training.folder.finish(lambda new: save_arrays(new, arrays), facts)
    return training.trained


def _untrained(training: GensimTraining, options: ParagraphsOptions) -> Doc2Vec:
    """Return a gensim model over the vocabulary, with a vector for each sentence."""
    start = training.seed_of("start")
    model = build(options.model, options.dim, options.window, training.vocabulary.counts, start)
    model.dv.index_to_key = list(range(len(training.sentences)))
    model.dv.resize_vectors(seed=training.seed_of("start of paragraphs"))
    return model
