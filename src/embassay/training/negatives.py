"""Hard negatives: wrong documents that the base model ranks high.

Roychowdhury et al. (2024, section 2.4) fine-tune on triplets ⟨question, right, [wrong …]⟩. A wrong document must be
less similar to the question than the right one by a margin, so that an unmarked right answer is not taught to be wrong:
Moreira et al. (2024, "NV-Retriever").
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
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
BARE = "questions without a wrong document, used as pairs"
SAME = "documents that repeat the text of a right one"
NEAR = "near duplicates of a right document"
CLOSE = "documents within the margin"
HELD = "documents that answer a held-out question"


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


@dataclass(frozen=True)
class Mined:
    """The triplets to fine-tune on.

    Attributes
    ----------
    triplets
        One for each question and right document.
    left_out
        How many questions and candidates were left out, by reason.
    """

    triplets: tuple[Triplet, ...]
    left_out: Counter[str]

    @property
    def negatives(self) -> int:
        """The number of wrong documents, over all triplets."""
        return sum(len(triplet.wrong) for triplet in self.triplets)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, one sentence for each reason."""
        return tuple(f"when mining negatives: {count:,} {reason}" for reason, count in self.left_out.most_common())


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
) -> Mined:
    """Sample wrong documents for each question from its nearest documents.

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
    left_out: Counter[str] = Counter()
    space = _Space(corpus, questions, encoder, recipe.window)
    # Compared as texts, because a document that may be learnt from can repeat a held-out one.
    held_out_forms = {space.forms[passage] for name in held_out for passage in space.passages_of[name]}
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
        right_passages = sorted(passage for name in rights for passage in space.passages_of[name])
        right_texts = tuple(dict.fromkeys(space.texts[passage] for passage in right_passages))
        nearest = space.nearest_of(row, rights)
        reasons = [space.refused(passage, right_passages, held_out_forms) for passage, _ in nearest]
        for name in dict.fromkeys(question.right):
            passages = space.passages_of[name]
            right = space.texts[passages[int((space.vectors[passages] @ space.question_vectors[row]).argmax())]]
            if (question.question, right) in triplets:
                continue
            similarity = space.right_similarity[row, name]
            # Dot products have no common scale, so the margin is a share of the right document's similarity.
            limit = similarity - recipe.margin * (abs(similarity) if space.by_dot_product else 1)
            candidates = []
            for (passage, of_passage), reason in zip(nearest, reasons, strict=True):
                if reason or of_passage > limit:
                    left_out[reason or CLOSE] += 1
                else:
                    candidates.append(space.texts[passage])
            drawn = sorted(rng.permutation(len(candidates))[: recipe.negatives].tolist())
            wrong = tuple(dict.fromkeys(candidates[number] for number in drawn))
            left_out[BARE] += not wrong
            triplets[question.question, right] = Triplet(question.question, right, wrong, right_texts)

    if left_out[BARE] == len(triplets):
        reasons = [f"{count:,} {reason}" for reason, count in left_out.most_common() if count and reason != BARE]
        raise InputError(
            f"corpus {corpus.name!r}: none of its {len(triplets):,} questions has a hard negative among the "
            f"{recipe.window} nearest documents at a margin of {recipe.margin:g} "
            f"({', '.join(reasons) or 'all are right documents'}); use a larger --window or a smaller --margin, or "
            "--pretrain alone"
        )
    return Mined(tuple(triplets.values()), +left_out)


class _Space:
    """The questions and passages as vectors, and the documents nearest to each question.

    Attributes
    ----------
    passages_of
        For each document the numbers of its passages; all passages are numbered one after the other.
    texts, forms
        The passages, and their normalised texts between two spaces, so that only whole words match in them.
    vectors, unit_vectors
        (passages, d) as the encoder compares them, and at unit length.
    right_similarity
        The similarity of a question and a right document by (row of the question, id of the document).
    """

    def __init__(self, corpus: AnyCorpus, questions: Sequence[Question], encoder: Encoder, window: int):
        names = [document.id for document in corpus.documents]
        self.names = names
        self.texts = [passage for document in corpus.documents for passage in document.passages]
        self.forms = [f" {normalised(text)} " for text in self.texts]
        starts = first_passages(corpus.documents)
        ends = pairwise((*starts.tolist(), len(self.texts)))
        self.passages_of = {name: list(range(*of_document)) for name, of_document in zip(names, ends, strict=True)}
        self.question_vectors = np.asarray(encoder.encode([question.question for question in questions], "query"))
        encoded: DenseVectors = np.asarray(encoder.encode(self.texts, "document"))
        self.unit_vectors = unit(encoded)
        self.by_dot_product = encoder.card.similarity == "dot"
        self.vectors = encoded if self.by_dot_product else self.unit_vectors
        pairs = right_pairs(questions, corpus.documents)
        self.found = search(
            self.question_vectors,
            encoded,
            k=window,
            similarity_function=encoder.card.similarity,
            starts=starts,
            pairs=pairs,
        )
        pairs_of_names = [(row, names[place]) for row, place in pairs.tolist()]
        self.right_similarity = dict(zip(pairs_of_names, self.found.own.tolist(), strict=True))

    def nearest_of(self, row: int, rights: Collection[str]) -> list[tuple[int, float]]:
        """Return the nearest passage of each document that is not right, with its similarity to a question."""
        nearest = []
        for column, place in enumerate(self.found.documents[row].tolist()):
            # If the search returns fewer documents than requested, the remaining places are -1.
            if place >= 0 and self.names[place] not in rights:
                nearest.append((int(self.found.passages[row, column]), float(self.found.similarity[row, column])))
        return nearest

    def refused(self, passage: int, right_passages: Sequence[int], held_out_forms: Collection[str]) -> str:
        """Return why a passage is no negative, however similar it is to the question; empty if it may be one."""
        form = self.forms[passage]
        if any(form in self.forms[right] or self.forms[right] in form for right in right_passages):
            return SAME
        if form in held_out_forms:
            return HELD
        # Near-duplicates of a right passage may also answer the question, so they are no negatives.
        if (self.unit_vectors[right_passages] @ self.unit_vectors[passage]).max() > NEAR_DUPLICATE:
            return NEAR
        return ""
