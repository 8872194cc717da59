"""Sentences about the choice between encoders, the limits of a run, and those of check, compare, plan and adapt.

Those about one encoder stand with their diagnostic. Where a sentence has several parts, each part is a template.
"""

from __future__ import annotations

from dataclasses import replace

from embassay.claims import BEST_SET, COUNT, EXCHANGE, IN_FIXED_ORDER, LIMIT, POWER, Template

# Choice: who may be the best (findings/decision.py)

ONLY_BASELINES = Template(
    "The run has only baselines.",
    "no encoder was asked for",
    LIMIT,
    title="Only baselines",
    severity="medium",
    action="Add an encoder with -e.",
)
NO_CANDIDATE = Template(
    "No candidate finished; the figures are of baselines.",
    "all encoders that were asked for failed",
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
    text="Undefined for more than {share} of the items, so not ranked: {encoders}.",
    when="of the items that any candidate is defined for",
)
CONSTANT = replace(
    NOT_COMPARED,
    text="The same value for all compared items, so not ranked: {encoders}.",
    when="a correlation needs values that vary",
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
    "an encoder was asked for twice",
    COUNT,
    title="The same encoder",
    severity="high",
)
ONE_CANDIDATE = Template(
    "One candidate: {headline}.",
    "one encoder with a value was asked for: nobody to compare it with",
    COUNT,
    title="One candidate",
    severity="medium",
    action="Add a second encoder with -e to compare.",
)
ONE_RANKED = Template(
    "Only {encoder} can be ranked ({value}).",
    "all other candidates are left out",
    LIMIT,
    title="One ranked candidate",
    severity="medium",
)
NONE_BEST = Template(
    "No encoder is called best: {reason}.",
    "there is no best set: under 10 units, no item defined for all candidates, or one unit with more than a third of "
    "the items (correlations)",
    LIMIT,
    title="No encoder is called best",
    severity="medium",
)
MAY_BE_FIRST = Template(
    "May be the {first} of {candidates} candidates: {best} (95% confidence).{more}",
    "two candidates or more are ranked; the others are shown not to be the first. It is the best where higher is "
    "better and the interval of the first is not wholly below chance, else the highest",
    BEST_SET,
    title="May be the {first}",
    severity="medium",
)
SIGNIFICANTLY_LOWER = Template(
    " Significantly {lower} than another candidate: {encoders}.",
    "not in the best set, and the rank interval excludes rank 1; these intervals hold for all candidates at once",
    BEST_SET,
)
UNLIKELY_FIRST = Template(
    " Unlikely to be the {first}, but not significantly {lower} than any single candidate: {encoders}.",
    "not in the best set, a test of one side; the rank interval, of two sides, contains rank 1",
    BEST_SET,
)
NOT_EQUAL = Template(
    " They are not shown to be equal: two of them may differ by {difference}.",
    "the best set has two members or more; it is the minimum detectable difference, which one run of five misses",
    POWER,
)
FIRST_TOO_HIGH = Template(
    " {encoder} is the first of {candidates}, so its value is probably {low} to {high} too high.",
    "five candidates or more are ranked, and the best set has two or more: the bootstrap bias of the highest "
    "candidate, and of the highest of the best set",
    COUNT,
)
MANY_CANDIDATES = Template(
    " Of so many candidates that are equally good, about 1 table in {tables} calls one better or worse, and 1 in "
    "{left_out} leaves one out of the best set.",
    "the same; simulated (docs/statistics.md)",
    LIMIT,
)
SMALLER = Template(
    "{encoder} is shown not to be worse than {best} by {margin} or more, and its {stored} needs {share:.0%} of the "
    "bytes ({size}, not {size_of_best}).",
    "it and all candidates with a size between theirs pass",
    IN_FIXED_ORDER,
    title="Smaller and not worse",
    severity="high",
)
NO_SMALLER = Template(
    "No smaller {stored} than that of {best} ({size_of_best}) is shown to be good enough: a loss of {margin} is not "
    "ruled out.",
    "a member of the best set is smaller, and the largest candidate below the best does not pass",
    IN_FIXED_ORDER,
    "not shown",
    title="No smaller {stored}",
    severity="medium",
)
DIFFERS = Template(
    "{encoder} is {higher} than {opponent}: {difference} of {heading}{counts}, p (Holm) {p}.",
    "p ≤ 0.05; the opponent is the best lexical baseline, the reference, or bm25 where tfidf is the best",
    EXCHANGE,
    title="{higher} than {opponent}",
)
NOT_SHOWN_TO_DIFFER = replace(
    DIFFERS,
    text="{encoder} is not significantly {better} or {worse} than {opponent}: {difference} of {heading}{counts}, "
    "p (Holm) {p}.",
    when="p > 0.05",
    claim="not shown",
    title="not significantly {better} or {worse} than {opponent}",
)
DETECTABLE = Template(
    "Minimum detectable difference: {differences} ({units}, 80% power).",
    "10 units or more; of the pairs that a choice depends on. For shares it counts the items on which the pair differs",
    POWER,
    title="Minimum detectable difference",
    action="{action}",
)
MORE_ITEMS = Template(
    "To show a difference of {wanted}, add about {items}{units}.",
    "a deciding pair is not shown to differ, and its minimum detectable difference is not small already",
    POWER,
)

# Settings of the reference's encoder (findings/settings.py)

SETTINGS = Template(
    "{sentences}",
    "the reference has a setting, and another setting of its encoder is compared with it",
    EXCHANGE,
    title="Settings",
    severity="medium",
)
SETTING_DIFFERS = Template(
    "{setting}: {heading} {difference} {direction} than {reference} {interval}, p (Holm) {p}{price}.",
    "p ≤ 0.05",
    EXCHANGE,
)
MORE_SETTINGS = Template("{settings} shown to differ from {reference}.", "the same, where there are many", EXCHANGE)
SETTING_NOT_SHOWN = Template(
    "{settings} not shown to differ from {reference}{detectable}.",
    "p > 0.05",
    EXCHANGE,
    "not shown",
)
CHEAPER_SETTING = replace(
    SMALLER,
    text="{setting} is shown not to be worse than {reference} by {margin} or more, with {share:.0%} of the bytes.",
    title="",
)

# Limits of the run (findings/limits.py, run/item_tests.py)

MADE_QUERIES = Template(
    "{corpus} has no questions: the results are of {items:,} {source}. They tell weak encoders from strong ones; they "
    "do not choose among the best, and they understate word matching (bm25).",
    "a program made the queries",
    LIMIT,
    title="Queries that nobody asked",
    severity="high",
    action="Add real questions: -c {corpus}=…,questions=questions.csv (a question and the id of its right document in "
    "each line).",
)
BUILTIN = Template(
    "Built-in corpora are for trying things out: no best encoder is named on them.",
    "a corpus is built in",
    LIMIT,
    title="Built-in corpora",
    action="{action}",
)
NEGATION_NOT_TESTED = Template(
    "Whether an encoder notices a negation was not tested.",
    "the run tests search, and no diagnostic of negations",
    LIMIT,
    title="Negation was not tested",
    # In this run -d may allow search only.
    action="To see whether the encoders notice a negation, run them with -c opposites (built in) too.",
)
FEW_INDEPENDENT = Template(
    "{corpus}: its {items} depend on each other (they share texts, documents or a topic); they form {units} (effective "
    "number {effective:,.0f}).",
    "the effective number of units is below half the items",
    LIMIT,
    title="Few independent items",
    severity="medium",
    action="{action}",
)
TRUNCATED = Template(
    "{encoder} reads {tokens} tokens of a text: it truncates {truncated:,} of the {texts} of {corpus} ({share:.1%}).",
    "it truncates a text",
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
SUSPECT_LABEL = Template(
    "{missed} missed by every candidate and lexical baseline: {advised} ({named}).",
    "the best candidate is right on 75% or more, and two different encoders or more were run",
    COUNT,
    title="Suspect the label",
    severity="medium",
    action="Read the questions that all encoders miss (single items in the report): is the right document right?",
)
MISSED_BY_ALL = replace(
    SUSPECT_LABEL, when="the same, where a program made the queries", title="Missed by all", action=""
)
