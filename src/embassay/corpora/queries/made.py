"""Queries for documents that have no questions: sentences that are taken out of their passages.

A sentence is taken out of its passage and is the query, the rest of the passage is right. This is the inverse cloze
task (Lee, Chang & Toutanova 2019, section 4). It works in any language.

These are no real questions: docs/generating.md says how far they agree.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from embassay.core.errors import SpecError
from embassay.core.randomness import generator
from embassay.core.samples.retrieval import length
from embassay.corpora.io.documents import SourceDocument
from embassay.corpora.io.passages import HEADING, Cutter, collapsed, whole_sentences, word_count
from embassay.corpora.queries.leaks import RUN, leak
from embassay.corpora.queries.passages import Passage, near_passages, passages_of, selected, tokens
from embassay.corpora.queries.sampling import evenly
from embassay.corpora.retrieval.answers import written

SOURCE = "queries made from sentences of the documents (inverse cloze)"
"""What a corpus of such queries says of its source."""
AGREEMENT = (
    "rank correlation of 24 candidates with real questions, by Success@5 and nDCG@10, in three samples: XQuAD 0.67 to "
    "0.86 and 0.76 to 0.81, TeleQuAD 0.86 to 0.90 and 0.82 to 0.91; they tell weak candidates from strong ones, do not "
    "choose among the best, and understate word matching (bm25); see docs/generating.md"
)
"""How far results agree with those of real questions, for data cards; measured by tools/made_questions.py."""
REAL_ADD = "real questions (questions=FILE) would add what people ask and the words that they use"
LONGEST = 40
"""The maximum number of words of a query."""
LETTERS = 0.7
"""The minimum share of letters among the characters of a sentence without white space; others are tables or code."""
MARGIN = 2
"""The number of passages that are tried for each query that is needed, because some have no suitable sentence."""
NO_SENTENCE = f"a passage without a sentence of {RUN} to {LONGEST} words that no other text repeats"
_MARKS = re.compile(
    r"(?P<code>`+[^`]+`+)|!?\[(?P<words>[^\]]{0,500})\]\([^)\s]{0,300}(?:\s[^)]{0,300})?\)|<[^<>]{1,200}>|\{#[^{}]{1,200}\}|"
    r"[`*]+|(?<!\w)_(?=[^\s_](?:[^_]*[^\s_])?_(?!\w))|(?<=[^\s_])_(?!\w)"
)
"""Code, links, tags and emphasis. Other underscores are part of names: ``_build``, ``__name__``."""
_ITEM = re.compile(r"\A(?:[-*+•–]|\d+[.)]|[A-Z]?\d*(?:\.\d+)+\.?)\s+")


@dataclass(frozen=True)
class MadeQuery:
    """A query that was made from a document.

    Attributes
    ----------
    id
        ``cloze:`` and the id of the passage that it was made from.
    right
        The passage that it was made from, then its near-duplicates, all without the sentence.
    """

    id: str
    text: str
    right: tuple[Passage, ...]


@dataclass(frozen=True)
class MadeQueries:
    """Queries, and the passages to search, from which they are removed.

    Attributes
    ----------
    rejected
        The number of passages without a query, by the reason.
    """

    queries: tuple[MadeQuery, ...]
    passages: tuple[Passage, ...]
    rejected: Counter[str]


class _Sentence(NamedTuple):
    """A sentence that may be a query: as it is asked, as its passage has it, and its runs of words."""

    text: str
    source: str
    runs: set[str]

    def removed_from(self, passage: Passage) -> Passage:
        """Return a passage without the sentence, with any white space between its words."""
        body = written(self.source).sub("", passage.body)
        # The spaces before and after the sentence become one.
        return replace(passage, body=re.sub(r"(?<=\S) {2,}(?=\S)", " ", body).strip())


def made_queries(
    sources: Sequence[SourceDocument],
    *,
    passages: str = "paragraph",
    count: int | None = None,
    seed: int = 0,
    language: str = "en",
    share: float = 0.6,
) -> MadeQueries:
    """Make queries from sentences of documents, at most one of each passage, from which it is removed.

    Near-duplicates of the passage are right too; the sentence is removed from them as well. A sentence is left out if
    it shares a run of words with any other passage, which would be a better match than the right one.

    Parameters
    ----------
    passages
        ``document``, ``paragraph`` or a number of words.
    count
        Keep at most N randomly chosen queries, evenly over the units; all by default.
    language
        The language whose rules decide where a sentence ends.
    share
        See :func:`~embassay.corpora.queries.leaks.leak`.

    Raises
    ------
    SpecError
        If the passages are sentences.
    """
    if Cutter(passages).way == "sentence":
        raise SpecError("a sentence cannot be taken out of a passage of one sentence; use passages=paragraph")
    rejected = Counter[str]()
    all_passages = passages_of(sources, passages)
    near_of = near_passages(all_passages)
    to_ask = selected(all_passages, rejected)
    tried = evenly(to_ask, lambda passage: passage.unit, None if count is None else MARGIN * count, seed, "passages")
    suitable = [_suitable_sentences(passage, language) for passage in tried]
    # The groups of near-duplicates in which each run of words of these sentences occurs.
    runs = {run for candidates in suitable for sentence in candidates for run in sentence.runs}
    groups_of = defaultdict(set)
    for passage in all_passages:
        for run in _runs(tokens(passage.text)) & runs:
            groups_of[run].add(passage.group)

    stream = generator(seed, "queries", "cloze")
    queries = []
    for passage, candidates in zip(tried, suitable, strict=True):
        for place in stream.permutation(len(candidates)).tolist():
            sentence = candidates[place]
            right = tuple(map(sentence.removed_from, near_of[passage.group]))
            is_unique = all(groups_of[run] == {passage.group} for run in sentence.runs)
            # A sentence with a colon at its end introduces a list or a quotation, which is what it is about.
            if not is_unique or sentence.text.endswith((":", "：")) or not all(passage.long for passage in right):
                continue
            if not any(leak(sentence.text, "", passage.text, share) for passage in right):
                queries.append(MadeQuery(f"cloze:{passage.id}", sentence.text, right))
                break
        else:
            rejected[NO_SENTENCE] += 1
    drawn = evenly(queries, lambda query: query.right[0].unit, count, seed, "sentence")
    rejected["a sentence that was not drawn (--count)"] = len(queries) - len(drawn)
    # Only the passages of the queries that are drawn lose a sentence.
    shortened = {passage.id: passage for query in drawn for passage in query.right}
    remaining = tuple(shortened.get(passage.id, passage) for passage in all_passages)
    return MadeQueries(tuple(drawn), remaining, +rejected)


def _suitable_sentences(passage: Passage, language: str) -> list[_Sentence]:
    """Return the sentences of a passage that may be queries: not too short or long, made of words, not cut off."""
    if "```" in passage.body:
        return []
    parts = whole_sentences(passage.body, language)
    if passage.overlaps:
        # A window of words begins and ends anywhere in a sentence.
        parts = parts[1:-1]
    suitable = []
    for part in parts:
        text, runs = plain(part), _runs(tokens(part))
        # Marks are counted as letters, because Indic scripts, for example, write vowels as marks.
        letters = sum(unicodedata.category(character)[0] in "LM" for character in text)
        is_prose = RUN <= word_count(text) <= LONGEST and letters >= LETTERS * length(text)
        if is_prose and runs and not HEADING.match(part):
            suitable.append(_Sentence(text, part, runs))
    return suitable


def plain(text: str) -> str:
    """Return a text without Markdown's marks, and without the number or bullet that it begins with."""
    # Code keeps its underscores and stars: they are part of names.
    without_marks = _MARKS.sub(lambda mark: (mark["code"] or "").strip("`") or mark["words"] or "", text)
    return _ITEM.sub("", collapsed(without_marks), count=1)


def _runs(words: Sequence[str]) -> set[str]:
    """Return the runs of :data:`RUN` words."""
    return {" ".join(words[start : start + RUN]) for start in range(len(words) - RUN + 1)}
