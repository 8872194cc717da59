"""Sentences about the choice between encoders, the limits of a run, and those of check, compare, plan and adapt.

Those about one encoder stand with their diagnostic. Where a sentence has several parts, each part is a template.
"""

from __future__ import annotations

from dataclasses import replace

from embassay.core.claims import (
    COUNT,
    EXCHANGE,
    INTERVAL,
    LIMIT,
    LOSS_LIMIT,
    NOT_WORSE,
    OVERLAP,
    POWER,
    SIGN_FLIPS,
    Template,
)

# What a verdict is based on

UNRANKED = Template("This diagnostic does not rank encoders.", "it has no headline", LIMIT)
NO_BEST_ON_BUILTIN = Template(
    "Built-in corpora are for trying things out: no best model is named.",
    "the corpus is built in; nothing is called better or worse",
    LIMIT,
)
# The choice between encoders

ONLY_BASELINES = Template(
    "The run has only baselines.",
    "the run has no candidate",
    LIMIT,
    title="Only baselines",
    severity="medium",
    action="Add an encoder with -e.",
)
NO_CANDIDATE = Template(
    "No candidate finished; the figures are of baselines.",
    "all candidates failed",
    LIMIT,
    title="No candidate finished",
    severity="high",
)
UNDEFINED = Template(
    "Undefined for every item: {undefined}.",
    "no candidate has a value",
    LIMIT,
    title="Undefined",
    severity="medium",
)
NOT_COMPARED = replace(
    UNDEFINED,
    text="Undefined for every item, so not compared: {undefined}.",
    when="a candidate has no value",
    title="Not ranked",
)
OFTEN_UNDEFINED = replace(
    NOT_COMPARED,
    text="Undefined for more than 5% of the items, so not ranked: {encoders}.",
    when="of the items that any candidate is defined for",
)
UNDEFINED_ITEMS = Template(
    "{encoder} is undefined for {items}; counted as wrong, the value is {value}.",
    "it has more undefined items than another candidate, and an item is right or wrong",
    COUNT,
    title="Undefined items",
    severity="medium",
)
SAME_ENCODER = Template(
    "{encoders} are the same encoder (same fingerprint).",
    "two labels have the same fingerprint",
    COUNT,
    title="The same encoder",
    severity="high",
)
BELOW_LEVEL = Template(", below {level}", "its interval lies wholly below chance, 0 or a wrong target", INTERVAL)
USE = Template(
    "{encoder}. {headline}.",
    "the cheapest of those that no verdict shows to be worse than another one and whose observed loss against the "
    "highest is at most the accepted one (the margin, or --accept), else the highest; docs/statistics.md",
    COUNT,
    title="The one to use",
    kind="use",
    severity="high",
)
USE_NONE = replace(
    USE,
    text="None of them: the highest value is {encoder}. {headline}.",
    when="in place of the one to use, where its interval lies wholly below chance",
    procedure=INTERVAL,
    title="All are below chance",
)
HIGHEST_VALUE = replace(
    USE,
    text="{encoder}. {headline}.{more}",
    when="where a higher value does not recommend an encoder, or a program made the queries",
    title="The highest value",
    kind="highest",
    severity="medium",
)
DECIDED_BY = Template(" For the choice see {diagnostic}.", "where another diagnostic makes the choice", LIMIT)
OR = Template(
    "{others}.",
    "at most two cheaper ones that are not shown to be worse, and the highest where that is not the one to use",
    COUNT,
    title="Instead",
    kind="instead",
    severity="medium",
)
UNDECIDED = Template(
    "{others}.",
    "those that are compared with the one to use, not shown to be worse, and neither instead of it nor not tested",
    EXCHANGE,
    title="Undecided",
    kind="undecided",
    severity="medium",
)
NOT = Template(
    "{rejected}.",
    "those that a verdict shows to be worse, p ≤ 0.05 in the family of the pair, and those that are lower by more than "
    "two and a half margins and not tested, marked as such",
    EXCHANGE,
    title="Not these",
    kind="rejected",
    severity="medium",
)
VERSUS = Template("{encoder}: {difference}", "of each", COUNT)
NOT_TESTED = Template(" (not tested)", "after the difference of a pair that is not compared", LIMIT)
NO_REASON = Template(
    "No verdict on others like these: {reason}.",
    "fewer than 10 units, or one that two thirds of the items have; of a correlation, one with a third of the items",
    LIMIT,
    title="No verdict",
    kind="data",
    severity="medium",
)
STEP = Template(
    "{encoder}: {difference}{unsure}.",
    "of each set-up that is derived from another one, where no other answer compares the two; of a fusion against each "
    "part",
    COUNT,
    title="What {step} {encoder} adds",
    kind="step",
    question="{question}",
    severity="medium",
)
INDEX, COPIES = "Index", "Copies"
"""The questions about what is judged beside its original."""
SCREENED = Template(
    "{sentences}",
    "of each index, and of each other precision, size, server or export of a model, where the original is in the run",
    COUNT,
    title="What is listed of what the original finds",
    kind="screened",
    question="{question}",
    severity="medium",
)
BY_LABELS = Template("By the labels: {difference}.", "after it, where it differs from the original", COUNT)
DATA = Template(
    "A true difference of {smallest} between {a} and {b} would be detected 80% of the time{more}.",
    "of the pair that a choice depends on",
    POWER,
    title="What could be detected",
    kind="data",
)
MORE_ITEMS = Template("; {target} need about {items}", "where that is not small already", POWER)
ABOUT_OTHERS = Template(
    "The result holds for other {pages} like these. If there are no others: about=these-documents in -c.",
    "of questions about documents",
    LIMIT,
    title="What it is about",
    kind="about",
)
ABOUT_THESE = replace(
    ABOUT_OTHERS,
    text="The result holds for these {pages} only, if each question was asked on its own.",
    when="the same, with about=these-documents",
)

# Screening without labels

SAME_LISTS = Template(
    "{encoder} lists {overlap} of what {exact} finds, so it can stand for {original}.",
    "of each index, and each int8, binary, dtype, dim, other service and export of a candidate, with 30 questions or "
    "more: the lower end of the interval, with one more question that shares half, reaches the floor",
    OVERLAP,
)
OTHER_LISTS_OF_INDEX = Template(
    "{encoder} lists {overlap} of what {exact} finds: do not use it as it is{settings}.",
    "of an index; the upper end is below the floor",
    OVERLAP,
)
OTHER_LISTS = Template(
    "{encoder} lists {overlap} of what {exact} finds: it cannot stand for {original}, and its own figures decide.",
    "of each other step; the upper end is below the floor",
    OVERLAP,
)
NEAR_THE_FLOOR = Template(
    "{encoder} lists {overlap} of what {exact} finds, near the floor of 95%: about {more}, without labels, "
    "would decide.",
    "the floor is inside the interval. With s the standard deviation of the questions and of the one more, about "
    "(1.96 s/(overlap − floor))² questions would decide",
    OVERLAP,
    "counted",
)
FEW_QUESTIONS_FOR_LISTS = Template(
    "{encoder} lists {overlap} of what {exact} finds ({questions}; a verdict needs 30).",
    "there are fewer than 30 questions",
    OVERLAP,
    "counted",
)

# What limits a run

MADE_QUERIES = Template(
    "{corpus} has no questions: the results are of {items:,} {source}. They tell weak encoders from strong ones; they "
    "do not choose among the best, and they understate word matching (bm25).",
    "a program made the queries",
    LIMIT,
    title="Made queries",
    severity="high",
    action="Add real questions: -c {corpus}=…,questions=questions.csv (a question and the id of its right document in "
    "each line).",
)
FEW_SHARED_WORDS = Template(
    "{mismatch}. Word matching (bm25, tfidf) has little to go on, so a lead over it proves little.",
    "letters or languages of questions and documents differ, or fewer than a fifth of the distinct words of the "
    "questions occur in a document",
    LIMIT,
    title="Questions and documents share few words",
    severity="high",
    action="Check that the questions of {corpus} belong to its documents; if they do, compare encoders with each "
    "other, not with bm25.",
)
MISSING_PROMPTS = Template(
    "{encoder}: {missing}.",
    "no prompt is set, and the model's files name some",
    LIMIT,
    title="Prompts are not set",
    severity="high",
    consequence="Its values may be too low.",
    action="Try them as a further candidate: -e \"prompted={spec},query_prompt='…'\" with the prompt of the model's "
    "card.",
)
BUILTIN = Template(
    "Built-in corpora are for trying things out: no best encoder is named on them.",
    "a corpus is built in",
    LIMIT,
    title="Built-in corpora",
    action="{action}",
)
NEGATION_NOT_TESTED = Template(
    "Negation was not tested; add `-c opposites` (built in).",
    "the run tests search, and no diagnostic of negations",
    LIMIT,
    title="Negation was not tested",
)
FEW_INDEPENDENT = Template(
    "{corpus}: its {items} depend on each other (they share texts, documents or a topic); they form {units} (effective "
    "number {effective:,.0f}).",
    "the effective number of units is below half the items",
    LIMIT,
    title="Few independent items",
    severity="medium",
)
TRUNCATED = Template(
    "{encoder} reads {tokens} tokens of a text: it truncates {truncated:,} of the {texts} of {corpus} "
    "({share:.1%}){unread}.",
    "it truncates a text; only documents are counted where it truncates one, and the tokens of all of them",
    LIMIT,
    title="Texts were truncated",
    consequence="Text after that point cannot be found.",
    action="{action}",
)
UNKNOWN_WORDS = Template(
    "{encoder} does not know {share:.1%} of the words{where}{texts}.",
    "it has a fixed vocabulary",
    LIMIT,
    title="Unknown words",
)
MISSES = Template(
    "{missed}{found}.",
    "of the encoder to use, where documents are searched and it misses a question. Labels are suspected where it is "
    "right on 75% or more, two different encoders or more were run, and people asked the questions",
    COUNT,
    title="Missed questions",
    kind="misses",
)
# What limits a corpus, before anything is encoded

SHORT_PASSAGES = Template(
    "{short:,} of {passages:,} passages ({share:.0%}) have under {words} words, such as headings and list items; "
    "{remedy}",
    "a fifth of the passages or more, if their length was not chosen",
    LIMIT,
)
DEPENDENT_QUESTIONS = Template(
    "{items:,} questions depend on each other, because they share right documents or a topic: they count as "
    "{effective:,.0f} to {items:,}{remedy}",
    "the effective number of units is under half the number of questions",
    LIMIT,
)
NO_DIFFERENCE_CAN_BE_SHOWN = Template(
    "no difference can be shown with {units}; a test needs {needed}",
    "there are fewer",
    LIMIT,
)
TRAINED_ON = Template(
    "{encoder}: its model card names {datasets} among its training data, and {corpus} is from {family} ({evidence}); "
    "if these texts were in its training, its figures there are too high",
    "the corpus is recognised by its content or its file",
    LIMIT,
)
VISIBLE_POINTS = Template(
    "estimate: this size can show differences of about {points} {unit} (80% power, if two encoders disagree on "
    "{disagreement:.0%} of the items)",
    "the headline is a share; from all items being independent to as many as the effective number of units",
    POWER,
)
ITEMS_FOR_NOT_WORSE = Template(
    'estimate: to show that an encoder is "not worse" by {margin} takes about {items:,} independent items (the same '
    "assumptions, and nothing is lost)",
    "the headline is a share",
    POWER,
)

# Differences between runs: embassay compare

CHANGED = Template(
    "{label} is {outcome}: {course}{flipped}",
    "p ≤ 0.05, corrected over all headlines and pairs that are shown",
    EXCHANGE,
)
CHANGE_NOT_WORSE = Template(
    "{label} is not worse: {course} A loss of {margin} or more is ruled out.{flipped}",
    "p > 0.05, and a loss of the margin is ruled out",
    NOT_WORSE,
)
NO_CHANGE_SHOWN = Template(
    "{label}: no difference is shown: {course}{detectable}{not_ruled_out}{flipped}",
    "neither of these",
    EXCHANGE,
    "not shown",
)
NOTHING_CHANGED = Template(
    "{label}: nothing changed on {corpus}: all {items} have the same scores.",
    "the same encoder has the same value on every item",
    COUNT,
)
NOTHING_DEFINED = Template(
    "{label}: no item of {where} is defined before and after.",
    "no item has a value in both runs",
    LIMIT,
)
# A run against its baseline: embassay bless and check

LOSS_SIGNIFICANT = Template(
    "{figures} ({p}).",
    "regression: p ≤ 0.05, one-sided, corrected over all tests of the check",
    SIGN_FLIPS,
)
LOSS_ABOVE_MARGIN = Template(
    "{figures}: more than the {margin} that this gate allows.",
    "regression: more is lost on these documents than the margin, and than the test set can rule out",
    COUNT,
)
LOSS_ALLOWED = Template(
    "{figures}: a significant loss, below the {margin} that you allow.",
    "pass: p ≤ 0.05, and a loss of the user's margin is excluded",
    LOSS_LIMIT,
)
LOSS_BELOW = Template("{figures}; the loss is below {limit}{about} (95% confidence).", "pass", LOSS_LIMIT)
NOTHING_LOST = Template(
    "{figures}; {about} the loss is below {limit} (95% confidence).",
    "pass: no item got worse",
    LOSS_LIMIT,
)
LOSS_NOT_SIGNIFICANT = Template(
    "{figures}; the loss is not significant.",
    "pass, since the anchor only: there a loss must be significant, or above the margin",
    SIGN_FLIPS,
    "not shown",
)
LOSS_NOT_EXCLUDED = Template(
    "{figures}; a loss of {margin} cannot be excluded.",
    "inconclusive: none of these",
    LOSS_LIMIT,
    "not shown",
)
VALUES_LOST = Template(
    "{undefined} of {items} have no value in this run.",
    "regression: more than 5% of the items had a value and have none",
    COUNT,
)
NOTHING_TO_COMPARE = Template(
    "no item has a value, so nothing can be compared.",
    "inconclusive: no item has a value in either run",
    LIMIT,
)
FLOOR = Template("{value} {verb} the {limit}.", "of every floor and ceiling: keeps, misses or exceeds it", COUNT)
BASELINE_SHOWS = Template(
    "{where}: this test set can rule out a loss of {margin}{about}: `check` fails a loss that is significant or "
    "larger than that, passes a model for which such a loss is ruled out, and otherwise warns.",
    "of each headline that is a share, when a baseline is blessed",
    LOSS_LIMIT,
    "cannot be said",
)
BASELINE_ALONE = Template(
    "{where}: `check` fails a loss that is significant or larger than {margin}, passes a model for which such a loss "
    "is ruled out, and otherwise warns.",
    "of each other headline, when a baseline is blessed: a correlation, or another mean",
    LOSS_LIMIT,
    "cannot be said",
)
OUT_OF_REACH = Template(
    "{items} cannot rule out a loss as small as your margin of {margin} ({where}).",
    "a margin of the user is below the loss that the test set can rule out",
    LOSS_LIMIT,
    "cannot be said",
)

# How many questions: embassay plan

NO_PLAN = Template(
    "{a} against {b}: no plan, because these items are too few or the difference does not vary.",
    "there is no precision to plan with",
    LIMIT,
)
ENOUGH_ITEMS = Template(
    "A true difference of {difference} between {a} and {b} needs about {items} items; there are {present}.",
    "the run has as many",
    POWER,
)
ITEMS_NEEDED = replace(ENOUGH_ITEMS, when="the run has fewer")
TOO_MANY_ITEMS = replace(
    ENOUGH_ITEMS,
    text="A true difference of {difference} between {a} and {b} needs more than a million times as many items.",
    when="the same, out of reach",
)
MEANING_OF_POWER = Template(
    "Power {power:.0%}: the probability that a true difference of that size becomes significant. No figure depends on "
    "the difference that this run observed.",
    "below every plan",
    LIMIT,
)

# Before and after fine-tuning: embassay adapt

NEVER_BETTER = Template(
    "{encoder}: training never beat its starting model on the dev questions (Success@5 {before:.3f} before, {best:.3f} "
    "at best); the weights of the best step are kept anyway",
    "no step had a higher share on the dev questions",
    COUNT,
)
CAVEAT = Template(
    "Each line compares single training runs (seed {seed}), paired on the same items. The interval resamples "
    "independent units; it does not include the variation between training seeds.",
    "below every verdict on an adaptation",
    LIMIT,
)
