"""Does a query give its answer away, or repeat the words of its passage?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from embassay.corpora.queries.passages import spaced, tokens

RUN = 6
"""A question repeats its passage if it shares a run of this many words with it, not counting names."""
ENOUGH = 3
"""The least number of content words of a shorter run: a name of two words is no repetition."""
ANSWER = "a question that contains its answer"
REPEATS = "a question that repeats the words of its passage"
_FUNCTION_WORDS = frozenset(
    "a about after all also am an and any are as at be been before being between but by can could did do does done "
    "during each for from had has have having he her him his how i if in into is it its many may me might more most "
    "much must my no not of on one or our out over own s shall she should so some such t than that the their them then "
    "there these they this those through to under up used us was we were what when where which while who whom whose "
    "why will with would you your".split()
)


def leak(question: str, answer: str, passage: str, share: float = 0.6) -> str:
    """Return how a question leaks its answer or passage, as a short phrase; empty if it does not.

    Parameters
    ----------
    answer
        The words of the passage that answer it.
    share
        A question repeats its passage if this share of its content words, above 0 and at most 1, is in one run in
        the passage. A run has at least :data:`ENOUGH` content words; names may occur in both.
    """
    question_words, answer_words = tokens(question), tokens(answer)
    if answer_words and spaced(answer_words) in spaced(question_words):
        return ANSWER
    name_words = set(names(question))
    enough = max(ENOUGH, share * len(telling(question_words, name_words)) - 1e-9)
    for run in shared_runs(question_words, passage):
        content = telling(run, name_words)
        is_long = sum(word not in name_words for word in run) >= RUN
        if content and (is_long or len(content) >= enough):
            return REPEATS
    return ""


def telling(words: Iterable[str], excluded: Collection[str] = ()) -> list[str]:
    """Return the content words: those that are neither function words nor excluded."""
    return [word for word in words if word not in _FUNCTION_WORDS and word not in excluded]


def names(question: str) -> list[str]:
    """Return the words, lower-cased, that have a capital after the first word of a question."""
    return [word for part in question.split()[1:] if part[:1].isupper() for word in tokens(part)]


def shared_runs(question: Sequence[str], passage: str) -> Iterator[Sequence[str]]:
    """Yield, for each word of a question, the longest run of words from it on that stands in the passage too.

    Runs of fewer than :data:`ENOUGH` words are left out.
    """
    text = spaced(tokens(passage))
    for start in range(len(question)):
        end = start
        while end < len(question) and spaced(question[start : end + 1]) in text:
            end += 1
        if end - start >= ENOUGH:
            yield question[start:end]
