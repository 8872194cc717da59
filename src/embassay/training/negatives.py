"""Hard negatives: wrong documents that the base model ranks high.

In come a corpus, its training questions and the base; out come triplets ⟨question, right, [wrong …]⟩, on which
Roychowdhury et al. (2024, section 2.4) fine-tune. A wrong document must be less similar to the question than the right
one by a margin, so that an unmarked right answer is not taught to be wrong: Moreira et al. (2024, "NV-Retriever").
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from embassay.core.errors import InputError
from embassay.core.randomness import generator
from embassay.core.samples.retrieval import Question, first_passages, right_pairs
from embassay.core.types import AnyCorpus, Encoder
from embassay.core.vectors import DenseVectors
from embassay.models.neural.derived import unit
from embassay.search.exact.top import search
from embassay.training.options import FinetuneOptions

NEAR_DUPLICATE = 0.95
"""A document whose cosine to a right document is above this is treated as a duplicate of it."""


@dataclass(frozen=True)
class Triplet:
    """A question, a text that answers it, and texts that do not. Without wrong texts it is a pair.

    Attributes
    ----------
    rights
        All passages of the documents that answer questions with this text.
    """

    question: str
    right: str
    wrong: tuple[str, ...]
    rights: tuple[str, ...] = ()


def normalised(text: str) -> str:
    """Return a text in Unicode NFKC and lower case, without punctuation unless it contains nothing else."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", folded)) or folded.strip()


def mine(
    corpus: AnyCorpus,
    questions: Sequence[Question],
    encoder: Encoder,
    recipe: FinetuneOptions,
    held_out: Collection[str] = (),
) -> tuple[Triplet, ...]:
    """Return a triplet for each question and right document, with wrong documents sampled from the nearest ones.

    A candidate is one of the ``window`` nearest documents and not a right document of any question with the same text.
    Its text does not equal, contain or occur in the text of a right document, and its cosine to a right one is at most
    0.95. It is less similar to the question than the right document by at least the ``margin``: a difference of
    cosines, or, if the encoder compares by dot product, a share of the right document's similarity. At most
    ``negatives`` candidates are chosen at random. A document with several passages is represented by the passage
    nearest to the question. A question without a candidate is kept as a pair.

    Parameters
    ----------
    corpus
        The corpus whose documents are searched.
    questions
        The training questions, each with a right document.
    held_out
        Ids of documents that are never used as negatives, nor are other documents with the same text.

    Raises
    ------
    InputError
        If no question has a wrong document.
    """
    names = [document.id for document in corpus.documents]
    # All passages are numbered one after the other.
    texts = [passage for document in corpus.documents for passage in document.passages]
    # Between two spaces, so that only whole words match.
    forms = [f" {normalised(text)} " for text in texts]
    starts = first_passages(corpus.documents)
    ends = pairwise((*starts.tolist(), len(texts)))
    passages_of = {name: list(range(*of_document)) for name, of_document in zip(names, ends, strict=True)}
    question_vectors = np.asarray(encoder.encode([question.question for question in questions], "query"))
    encoded: DenseVectors = np.asarray(encoder.encode(texts, "document"))
    unit_vectors = unit(encoded)
    by_dot_product = encoder.card.similarity == "dot"
    vectors = encoded if by_dot_product else unit_vectors
    pairs = right_pairs(questions, corpus.documents)
    hits = search(
        question_vectors,
        encoded,
        k=recipe.window,
        similarity_function=encoder.card.similarity,
        starts=starts,
        pairs=pairs,
    )
    right_similarity = {
        (row, names[place]): similarity
        for (row, place), similarity in zip(pairs.tolist(), hits.own.tolist(), strict=True)
    }
    # Compared as texts, because a document that may be learnt from can repeat a held-out one.
    held_out_forms = {forms[passage] for name in held_out for passage in passages_of[name]}
    # Questions of one text share their right documents.
    rights_of: defaultdict[str, set[str]] = defaultdict(set)
    for question in questions:
        rights_of[normalised(question.question)].update(question.right)

    triplets: dict[tuple[str, str], Triplet] = {}
    for row, question in enumerate(questions):
        # A random stream for each question, so that its sample does not depend on the others.
        rng = generator(recipe.seed, "hard negatives", question.id)
        rights = rights_of[normalised(question.question)]
        # In the order of the documents, because the order of a set differs between processes.
        right_passages = sorted(passage for name in rights for passage in passages_of[name])
        right_texts = tuple(dict.fromkeys(texts[passage] for passage in right_passages))
        # The nearest passage of each document that is wrong, however similar it is to the question.
        nearest = []
        for column, place in enumerate(hits.documents[row].tolist()):
            # If the search returns fewer documents than requested, the remaining places are -1.
            if place < 0 or names[place] in rights:
                continue
            passage = int(hits.passages[row, column])
            form = forms[passage]
            repeats = any(form in forms[right] or forms[right] in form for right in right_passages)
            # Near-duplicates of a right passage may also answer the question, so they are no negatives.
            cosine = (unit_vectors[right_passages] @ unit_vectors[passage]).max()
            if not repeats and form not in held_out_forms and cosine <= NEAR_DUPLICATE:
                nearest.append((texts[passage], float(hits.similarity[row, column])))
        for name in dict.fromkeys(question.right):
            passages = passages_of[name]
            right_text = texts[passages[int((vectors[passages] @ question_vectors[row]).argmax())]]
            if (question.question, right_text) in triplets:
                continue
            similarity = right_similarity[row, name]
            # Dot products have no common scale, so the margin is a share of the right document's similarity.
            limit = similarity - recipe.margin * (abs(similarity) if by_dot_product else 1)
            candidates = [text for text, of_text in nearest if of_text <= limit]
            drawn = sorted(rng.permutation(len(candidates))[: recipe.negatives].tolist())
            wrong = tuple(dict.fromkeys(candidates[number] for number in drawn))
            triplets[question.question, right_text] = Triplet(question.question, right_text, wrong, right_texts)

    if not any(triplet.wrong for triplet in triplets.values()):
        raise InputError(
            f"corpus {corpus.name!r}: none of its {len(triplets):,} questions has a hard negative among the "
            f"{recipe.window} nearest documents at a margin of {recipe.margin:g}; use a larger --window or a smaller "
            "--margin, or --pretrain alone"
        )
    return tuple(triplets.values())
