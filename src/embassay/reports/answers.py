"""What a result says, as it is read: the answers by diagnostic and corpus, findings of several encoders together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

from embassay.findings import templates
from embassay.findings.decision import MANY
from embassay.findings.speed import MeasuredTimes
from embassay.findings.step_costs import Latency, costs_of_steps
from embassay.findings.support import cost, rests_on
from embassay.formatting import names, number
from embassay.layout import Format, Layout
from embassay.result import Answer, Finding, Result, Verdict, anchor

FIRST_QUESTIONS = (
    templates.BEST,
    templates.ONE_CANDIDATE.question,
    "Than ",
    *templates.STEPS,
    templates.HIGHEST,
    templates.FIRST_TOO_HIGH.question,
)
LAST_QUESTIONS = tuple(
    template.question
    for template in (
        templates.FAILS_ON,
        templates.COST,
        templates.DETECTABLE,
        templates.NEGATION_NOT_TESTED,
    )
)
"""How questions begin that stand before and after those of the diagnostic itself."""
LAST_UNLESS_SHOWN = (templates.NO_SMALLER.question, templates.SETTINGS_NOT_SHOWN.question)
"""Questions whose answer decides nothing where it is that nothing is shown."""
ALSO = 4
"""Further encoders that are named with a finding at most."""
MOST_ACTIONS = 3

Said = TypeVar("Said", bound=Finding)


@dataclass(frozen=True)
class AnswerSection:
    """What is answered of one diagnostic on one corpus.

    Attributes
    ----------
    title
        With what it rests on: ``Retrieval on mine: 120 questions, 30 documents``.
    groups
        By question, the first answer and those that say the same of further encoders.
    costs
        How long one text takes, which of the best set is the fastest, and their prices, where that is known: part of
        what is said of the cost.
    costs_of_steps
        By question and encoder, how long what a set-up adds takes: part of what is said of that.
    """

    verdict: Verdict
    title: str
    groups: tuple[tuple[Answer, ...], ...]
    costs: tuple[str, ...] = ()
    costs_of_steps: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def link(self) -> str:
        """The section of the page that has the evidence."""
        return f"#{anchor(self.verdict.diagnostic, self.verdict.corpus)}"

    def text(self, group: Sequence[Answer]) -> str:
        """Return the first answer of a group in full, and the other encoders of which it is true with their figures.

        A question that ends with a question mark is first answered in a few words, which are the title.
        """
        first = group[0]
        parts = [first.sentence, also(group[1:]), first.consequence]
        # What is only counted has a title that names it, and no short answer.
        has_short_answer = first.question.endswith("?") and first.standing != "counted"
        title = own_title(first)
        if has_short_answer and title:
            parts.insert(0, f"{title}.")
        if first.question == templates.COST.question:
            parts += self.costs
        parts.append(self.costs_of_steps.get((first.question, first.encoder), ""))
        return " ".join(filter(None, parts))


def answer_sections(
    result: Result,
    layouts: Mapping[str, Layout],
    times: Mapping[str, MeasuredTimes],
    latency: Latency,
) -> Iterator[AnswerSection]:
    """Yield the sections; what is answered of the whole run stands in the last one.

    Of several answers to one question the first is taken: it is about the first encoder. Of many candidates only the
    best set is spoken of, and of what set-ups gain.

    Parameters
    ----------
    times
        For the same texts, by encoder, where they were measured.
    latency
        Of one question, by encoder and corpus.
    """
    for place, verdict in enumerate(result.verdicts, 1):
        answers = [
            one for one in result.answers if (one.diagnostic, one.corpus) == (verdict.diagnostic, verdict.corpus)
        ]
        if verdict.best_set and len(verdict.candidates) >= MANY:
            best = ("", *verdict.best_set)
            answers = [one for one in answers if one.encoder in best or one.question.startswith(templates.STEPS)]
        if place == len(result.verdicts):
            answers += [answer for answer in result.answers if not answer.diagnostic]
        by_question: dict[str, tuple[Answer, ...]] = {}
        for group in grouped(answers):
            by_question.setdefault(group[0].question, tuple(group))
        # Where higher is not better, or all are below chance, what the diagnostic itself asks comes first.
        own_first = templates.HIGHEST in by_question
        groups = sorted(by_question.values(), key=lambda group: _place_of(group[0], own_first=own_first))
        title = f"{layouts[verdict.diagnostic].title} on {verdict.corpus}: {rests_on(result, verdict)}"
        costs = tuple(cost(result, verdict, times, latency))
        yield AnswerSection(verdict, title, tuple(groups), costs, costs_of_steps(result, verdict, latency))


def _place_of(answer: Answer, *, own_first: bool) -> int:
    """Return the place of an answer among the others: those to questions that all diagnostics share first or last."""
    question = answer.question
    for place, beginning in enumerate(FIRST_QUESTIONS):
        if question.startswith(beginning):
            return place
    middle = len(FIRST_QUESTIONS)
    if question in LAST_UNLESS_SHOWN and answer.standing == "not shown":
        return middle + 1 + len(LAST_QUESTIONS)
    if question in LAST_QUESTIONS:
        return middle + 1 + LAST_QUESTIONS.index(question)
    return -1 if own_first else middle


def grouped(findings: Sequence[Said]) -> list[list[Said]]:
    """Return the findings with those of several encoders that say the same together, in the order of the first."""
    groups: dict[tuple[str, ...], list[Said]] = {}
    for place, finding in enumerate(findings):
        # A finding about no single encoder stands alone.
        alone = ""
        if not finding.encoder:
            alone = str(place)
        # What one set-up gains is no answer to what another one gains.
        question = finding.question if isinstance(finding, Answer) else ""
        key = (finding.severity, finding.diagnostic, finding.corpus, finding.title, question, alone)
        groups.setdefault(key, []).append(finding)
    return list(groups.values())


def also(others: Sequence[Finding]) -> str:
    """Name the other encoders of which a finding is true, with their figures; an empty text for none."""
    if not others:
        return ""
    named = [_with_value(finding) for finding in others[:ALSO]]
    if len(others) > ALSO:
        named.append(f"{len(others) - ALSO} more")
    return f"The same is true of {names(named)}."


def _with_value(finding: Finding) -> str:
    if finding.value is None:
        return finding.encoder
    style = cast("Format", finding.format)
    return f"{finding.encoder} ({number(finding.value, style, signed=style == 'points')})"


def group_statement(group: Sequence[Finding], *, with_place: bool = True) -> str:
    """Return the first finding of a group in full, and the other encoders of which it is true with their figures.

    Parameters
    ----------
    with_place
        Whether diagnostic and corpus are named; not needed where the run has only one of each.
    """
    first, others = group[0], group[1:]
    place = ""
    if with_place:
        place = first.corpus
        if first.diagnostic:
            place = f"{first.diagnostic} on {first.corpus}"

    title = own_title(first)
    if title:
        parts = [f"{title} ({place})." if place else f"{title}.", first.sentence]
    else:
        parts = [f"{place}: {first.sentence}" if place else first.sentence]
    return " ".join(filter(None, (*parts, also(others), first.consequence)))


def own_title(finding: Finding) -> str:
    """Return the title of a finding; an empty text if it only repeats the sentence."""
    if finding.title.lower() in finding.sentence.lower():
        return ""
    return finding.title


def actions(result: Result) -> list[str]:
    """Return what to do next, from the most important findings on, each once."""
    every = dict.fromkeys(finding.action for finding in result.statements if finding.action)
    # There was a second one, which failed.
    if result.failed:
        every.pop(templates.ONE_CANDIDATE.action, None)
    return list(every)[:MOST_ACTIONS]
