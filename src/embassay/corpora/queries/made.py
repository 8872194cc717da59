"""Queries for documents that have no questions: headings, or sentences that are taken out of their passages.

``headings``: the heading of a section is the query, the passages of the section are right. TREC CAR (Dietz et al. 2017)
does this with the outlines of Wikipedia articles.

``cloze``: a sentence is taken out of its passage and is the query, the rest of the passage is right. This is the
inverse cloze task (Lee, Chang & Toutanova 2019, section 4).

Both work in any language. Neither is a real question: docs/generating.md says how far they agree.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, NamedTuple

from embassay.core.errors import SpecError
from embassay.core.randomness import generator
from embassay.corpora.io.documents import SourceDocument
from embassay.corpora.io.passages import HEADING, collapsed, whole_sentences, word_count
from embassay.corpora.queries.duplicates import BOILERPLATE, PassageGroups
from embassay.corpora.queries.leaks import RUN, leak
from embassay.corpora.queries.passages import SHORTEST, Passage, cut_all, tokens
from embassay.corpora.queries.sampling import evenly

Method = Literal["headings", "cloze"]
SOURCES: Mapping[Method, str] = {
    "headings": "queries made from headings of the documents",
    "cloze": "queries made from sentences of the documents (inverse cloze)",
}
"""What a corpus of such queries says of its source."""
_MEASURED = "rank correlation of 24 candidates with real questions, by Success@5 and nDCG@10, in three samples"
_NOT_ENOUGH = (
    "they tell weak candidates from strong ones, do not choose among the best, and understate word matching (bm25); "
    "see docs/generating.md"
)
AGREEMENT: Mapping[Method, str] = {
    "headings": f"{_MEASURED}: TeleQuAD 0.89 to 0.94 and 0.83 to 0.87; {_NOT_ENOUGH}",
    "cloze": (
        f"{_MEASURED}: XQuAD 0.67 to 0.86 and 0.76 to 0.81, TeleQuAD 0.86 to 0.90 and 0.82 to 0.91; {_NOT_ENOUGH}"
    ),
}
"""How far results agree with those of real questions, for data cards; measured by tools/made_questions.py."""
REAL_ADD = "real questions (questions=FILE) would add what people ask and the words that they use"
ENOUGH_HEADINGS = 50
"""The number of queries from headings from which on they are preferred to sentences."""
FEWEST_WORDS_OF_HEADING = 2
"""A heading of one word with none above it, such as *Introduction*, is no query."""
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
_VERSION_OR_DATE = re.compile(
    r"(?i)v?\d+(?:\.\w+)+|\bv\d+\b|\b\d{1,4}[-/]\d{1,2}[-/]\d{1,4}\b|\b(?:19|20)\d\d\b|\b\d{1,2}(?:st|nd|rd|th)?\b|"
    r"\b(?:a|b|rc|alpha|beta|dev|post|version|released?|unreleased|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|"
    r"june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\d*\b"
)
"""The parts of a version or a date: ``3.2.4``, ``v2``, ``2017-11-13``, ``13 November 2017``, ``1.0 beta 2``."""
_ITEM = re.compile(r"\A(?:[-*+•–]|\d+[.)]|[A-Z]?\d*(?:\.\d+)+\.?)\s+")


@dataclass(frozen=True)
class MadeQuery:
    """A query that was made from a document.

    Attributes
    ----------
    id
        ``heading:`` or ``cloze:`` and the id of the passage that it was made from.
    right
        The passage that it was made from, then the others that are right.
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
        The number of headings or passages without a query, by the reason.
    """

    method: Method
    queries: tuple[MadeQuery, ...]
    groups: PassageGroups
    rejected: Counter[str]

    @property
    def source(self) -> str:
        """How they were made, for the corpus."""
        return SOURCES[self.method]


def made_queries(
    sources: Sequence[SourceDocument],
    method: Method | Literal["auto"] = "auto",
    *,
    passages: str = "paragraph",
    count: int | None = None,
    seed: int = 0,
    language: str = "en",
    share: float = 0.6,
) -> MadeQueries:
    """Make queries from documents.

    Parameters
    ----------
    method
        ``headings``, ``cloze``, or ``auto``: headings if they give :data:`ENOUGH_HEADINGS` queries, or more than
        sentences do.
    passages
        ``document``, ``paragraph``, ``sentence`` or a number of words. Passages end at headings with ``headings``.
    count
        Keep at most N randomly chosen queries, evenly over the units; all by default.
    language
        The language whose rules decide where a sentence ends.
    share
        See :func:`~embassay.corpora.queries.leaks.leak`.

    Raises
    ------
    SpecError
        If the passages are sentences, and sentences are to be taken out of them.
    """
    passages = passages.strip()
    if method == "cloze":
        return _from_sentences(sources, passages, count, seed, share, language)
    of_headings = _from_headings(sources, passages, count, seed, share)
    number = len(of_headings.queries)
    if method == "headings" or passages == "sentence" or number >= min(count or ENOUGH_HEADINGS, ENOUGH_HEADINGS):
        return of_headings
    of_sentences = _from_sentences(sources, passages, count, seed, share, language)
    return of_headings if number and number >= len(of_sentences.queries) else of_sentences


def plain(text: str) -> str:
    """Return a text without Markdown's marks, and without the number or bullet that it begins with."""
    # Code keeps its underscores and stars: they are part of names.
    without_marks = _MARKS.sub(lambda mark: (mark["code"] or "").strip("`") or mark["words"] or "", text)
    return _ITEM.sub("", collapsed(without_marks), count=1)


# --- Headings ---


def _from_headings(
    sources: Sequence[SourceDocument], passages: str, count: int | None, seed: int, share: float
) -> MadeQueries:
    """Return the headings as queries; the passages to search are without headings.

    A heading is preceded by the headings above it. The passages of its section, without those of the sections below it,
    are right if they are long enough to ask about, and so are near-duplicates of them.
    """
    cut = cut_all(sources, passages, by_section=True)
    groups = PassageGroups.of([replace(passage, headings=()) for passage in cut])
    sections = defaultdict[tuple[str, int], list[Passage]](list)
    for passage in groups.passages:
        if passage.path:
            sections[passage.document, passage.section].append(passage)
    rejected = Counter[str]()
    texts = [_query_of(members[0].path) for members in sections.values()]
    number_of = Counter(" ".join(tokens(text)) for text in texts)

    queries = list[MadeQuery]()
    for text, members in zip(texts, sections.values(), strict=True):
        usable = [passage for passage in members if passage.long and not groups.is_boilerplate(passage)]
        reason = _problem_of_heading(text, members[0].path[-1], usable, share)
        if number_of[" ".join(tokens(text))] > 1:
            reason = "a heading that several sections have"
        if reason:
            rejected[reason] += 1
            continue
        # By id, because a passage may be a near-duplicate of several others.
        right = {near.id: near for passage in usable for near in (passage, *groups.near(passage))}
        queries.append(MadeQuery(f"heading:{usable[0].id}", text, tuple(right.values())))
    return MadeQueries("headings", _drawn(queries, count, seed, "heading", rejected), groups, +rejected)


def _drawn(
    queries: Sequence[MadeQuery], count: int | None, seed: int, what: str, rejected: Counter[str]
) -> tuple[MadeQuery, ...]:
    """Draw the queries to keep, evenly over the units, and count the others in ``rejected``."""
    drawn = evenly([(query.right[0].unit, query) for query in queries], count, seed, what)
    rejected[f"a {what} that was not drawn (--count)"] += len(queries) - len(drawn)
    return tuple(drawn)


def _problem_of_heading(text: str, own: str, passages: Sequence[Passage], share: float) -> str:
    """Return why the heading of a section is no query; empty if it is one.

    Parameters
    ----------
    text, own
        The heading with those above it, and by itself.
    passages
        The passages of the section that are long enough to ask about.
    """
    if not passages:
        return f"a section without a passage of {SHORTEST} words that occurs in at most {BOILERPLATE} units"
    if not FEWEST_WORDS_OF_HEADING <= word_count(text) <= LONGEST:
        return f"a heading of one word or of more than {LONGEST}"
    if is_version_or_date(own):
        return "a heading that is only a version or a date"
    # In titles every word may have a capital, which says nothing about names.
    if any(leak(text.casefold(), "", passage.text, share) for passage in passages):
        return "a heading whose words its section repeats"
    return ""


def is_version_or_date(heading: str) -> bool:
    """Return whether a heading has no words but a version, a date or both, as in a list of changes."""
    rest, versions = _VERSION_OR_DATE.subn("", plain(heading))
    return versions > 0 and not any(map(str.isalnum, rest))


def _query_of(path: Sequence[str]) -> str:
    """Return the headings above a section, its own last, as one query; as in TREC CAR.

    Versions and dates above are left out, because nobody searches for *Changelog: 3.2.4: Fixed*.
    """
    above = [heading for heading in path[:-1] if not is_version_or_date(heading)]
    return ": ".join(filter(None, map(plain, (*above, path[-1]))))


# --- Sentences ---


class _Sentence(NamedTuple):
    """A sentence that may be a query: as it is asked, as its passage has it, and its runs of words."""

    text: str
    source: str
    runs: set[str]

    def removed_from(self, passage: Passage) -> Passage:
        """Return a passage without the sentence, with any white space between its words."""
        body = re.sub(r"\s+".join(map(re.escape, self.source.split())), "", passage.body)
        # The spaces before and after the sentence become one.
        return replace(passage, body=re.sub(r"(?<=\S) {2,}(?=\S)", " ", body).strip())


def _from_sentences(
    sources: Sequence[SourceDocument], passages: str, count: int | None, seed: int, share: float, language: str
) -> MadeQueries:
    """Return sentences as queries, at most one of each passage, from which it is removed.

    Near-duplicates of the passage are right too; the sentence is removed from them as well. A sentence is left out if
    it shares a run of words with any other passage, which would be a better match than the right one.

    Raises
    ------
    SpecError
        If the passages are sentences.
    """
    if passages == "sentence":
        raise SpecError("a sentence cannot be taken out of a passage of one sentence; use passages=paragraph")
    rejected = Counter[str]()
    groups = PassageGroups.of(cut_all(sources, passages))
    selected = [(passage.unit, passage) for passage in groups.selected(rejected)]
    tried = evenly(selected, None if count is None else MARGIN * count, seed, "passages")
    sentences_of = {passage.id: _suitable_sentences(passage, language) for passage in tried}
    groups_of = _groups_of_runs(chain.from_iterable(sentences_of.values()), groups)

    stream = generator(seed, "queries", "cloze")
    queries = list[MadeQuery]()
    for passage in tried:
        candidates = sentences_of[passage.id]
        for place in stream.permutation(len(candidates)).tolist():
            sentence = candidates[place]
            right = tuple(map(sentence.removed_from, groups.near(passage)))
            is_unique = all(groups_of[run] == {groups.group_of[passage.id]} for run in sentence.runs)
            if is_unique and _is_query(sentence, right, share):
                queries.append(MadeQuery(f"cloze:{passage.id}", sentence.text, right))
                break
        else:
            rejected[NO_SENTENCE] += 1
    drawn = _drawn(queries, count, seed, "sentence", rejected)
    # Only the passages of the queries that are drawn lose a sentence.
    shortened = {passage.id: passage for query in drawn for passage in query.right}
    remaining = tuple(shortened.get(passage.id, passage) for passage in groups.passages)
    return MadeQueries("cloze", drawn, replace(groups, passages=remaining), +rejected)


def _suitable_sentences(passage: Passage, language: str) -> list[_Sentence]:
    """Return the sentences of a passage that may be queries: not too short or long, made of words, not cut off."""
    if "```" in passage.body:
        return []
    parts = whole_sentences(passage.body, language)
    if passage.shared:
        # A window of words begins and ends anywhere in a sentence.
        parts = parts[1:-1]
    suitable = list[_Sentence]()
    for part in parts:
        text = plain(part)
        # Marks are counted as letters, because Indic scripts, for example, write vowels as marks.
        characters = [unicodedata.category(character)[0] for character in "".join(text.split())]
        letters = sum(category in "LM" for category in characters)
        is_prose = RUN <= word_count(text) <= LONGEST and letters >= LETTERS * len(characters)
        if is_prose and not HEADING.match(part):
            suitable.append(_Sentence(text, part, _runs(tokens(part), RUN)))
    return suitable


def _runs(words: Sequence[str], length: int) -> set[str]:
    """Return the runs of words of a length; all words if they are fewer, because signs may count as words."""
    return {" ".join(words[start : start + length]) for start in range(max(len(words) - length + 1, 1))}


def _groups_of_runs(sentences: Iterable[_Sentence], groups: PassageGroups) -> Mapping[str, set[int]]:
    """Return the groups of near-duplicates in which each run of some sentences occurs."""
    groups_of: dict[str, set[int]] = {run: set() for sentence in sentences for run in sentence.runs}
    lengths = {run.count(" ") + 1 for run in groups_of}
    for passage in groups.passages:
        words = tokens(passage.text)
        for length in lengths:
            for run in _runs(words, length) & groups_of.keys():
                groups_of[run].add(groups.group_of[passage.id])
    return groups_of


def _is_query(sentence: _Sentence, right: Sequence[Passage], share: float) -> bool:
    """Return whether a sentence is a query for the passages from which it was removed."""
    # A sentence with a colon at its end introduces a list or a quotation, which is what it is about.
    return (
        not sentence.text.endswith((":", "："))
        and all(passage.long for passage in right)
        and not any(leak(sentence.text, "", passage.text, share) for passage in right)
    )
