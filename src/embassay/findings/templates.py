"""Sentences about the choice between encoders, the limits of a run, and those of check, compare, plan and adapt.

Those about one encoder stand with their diagnostic. Where a sentence has several parts, each part is a template.
"""

from __future__ import annotations

from dataclasses import replace

from embassay.claims import (
    BEST_SET,
    COUNT,
    EXCHANGE,
    IN_FIXED_ORDER,
    INTERVAL,
    LIMIT,
    LOSS_LIMIT,
    NOT_WORSE,
    POWER,
    SIGN_FLIPS,
    TOGETHER,
    Template,
)

STEPS = ("Fusion", "Reranker", "Index")
"""How the questions begin what a set-up adds to what it is built on, in the order in which people decide."""


def place_of_step(step: str) -> int:
    """Return the place of a step in this order, after what is built on nothing; a word of another package is last."""
    known = ("", *map(str.lower, STEPS))
    return known.index(step) if step in known else len(known)


BEST, HIGHEST = "Best set", "Highest"
"""The question of who is the first: where higher values recommend an encoder, and elsewhere."""

# What a verdict rests on, speed and price

UNRANKED = Template("This diagnostic does not rank encoders.", "it has no headline", LIMIT)
NO_BEST_ON_BUILTIN = Template(
    "Built-in corpora are for trying things out: no best model is named.",
    "the corpus is built in; nothing is called better or worse",
    LIMIT,
)
FASTEST = Template(
    "Fastest of them: {short}: the same {texts} take {seconds:.2g} s against {seconds_of_slowest:.2g} s, and "
    "{processor:.2g} s against {processor_of_slowest:.2g} s of processor time.",
    "all models of the best set, which is not below chance, were timed on the same texts and one device; it was faster "
    "than each other one in every round. The ratio is that of the median times, the range that of the rounds",
    COUNT,
)
LATENCY = Template(
    "{encoder} takes {milliseconds} ms for one text alone (median of this run).",
    "of the first of the best set, which is not below chance, where the run has timed it",
    COUNT,
)
TIME_OF_QUESTION = Template(
    "With {encoder}, a question takes {total} ms, {times} times as long as with {part}.",
    "of each set-up that is built on others, where all of these were timed, one after the other (medians), against the "
    "best of them; an index against the exact search in memory",
    COUNT,
)
TIME_OF_STEP = Template(
    "The {step} takes {milliseconds} ms for a question.",
    "of each other set-up, without what it is built on, where the run has timed it (median)",
    COUNT,
)
TIMES_AS_FAST = Template(
    "The search alone is {times} times as fast as {exact}, which compares all vectors in the same store.",
    "of each index where the run has such a candidate and timed both",
    COUNT,
)
PRICE_OF_QUESTIONS = Template(
    "1,000 questions cost about {price} with it, {before} with {part}.",
    "of each set-up that is built on others, where the prices of all services are known, against the best of them; "
    "estimated from the length of texts",
    COUNT,
)
PRICES = Template(
    "Price per million tokens: {prices}.",
    "of those of the best set, which is not below chance, where two or more have a price",
    COUNT,
)

# The choice between encoders

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
    "{encoder} is the only one{headline}.",
    "one encoder with a value was asked for: nobody to compare it with",
    COUNT,
    title="One candidate",
    question="Candidate",
    severity="medium",
    action="Add a second encoder with -e to compare.",
)
ONE_RANKED = Template(
    "Only {encoder} can be ranked ({value}).",
    "all other candidates are left out",
    LIMIT,
    title="One ranked candidate",
    severity="medium",
    question=BEST,
)
NONE_BEST = Template(
    "No encoder is called best: {reason}.",
    "there is no best set: under 10 units, no item defined for all candidates, or one unit with more than a third of "
    "the items (correlations)",
    LIMIT,
    title="No encoder is called best",
    severity="medium",
    question=BEST,
)
BELOW_LEVEL = Template(", below {level}", "its interval lies wholly below chance, 0 or a wrong target", INTERVAL)
ALONE_FIRST = Template(
    "{encoder} alone of {candidates} candidates (95% confidence){headline}.{more}",
    "two candidates or more are ranked; all others are shown not to be the first. It is the best where higher is "
    "better and the interval of the first is not wholly below chance, else the highest",
    BEST_SET,
    title="May be the {first}",
    severity="medium",
    question="{set_name}",
)
MAY_BE_FIRST = replace(
    ALONE_FIRST,
    text="{best}, of {candidates} candidates (95% confidence).{more}",
    when="the same; the others are shown not to be the first",
)
NOT_EQUAL = Template(
    " Not shown to be equal: two of them may differ by {difference}.",
    "the best set has two members or more; it is the largest minimum detectable difference of a member and the "
    "reference, which one run of five misses; where units have several items, 10 or more must differ",
    POWER,
)
LEXICAL_IS_HIGHER = Template(
    " {baseline}, which needs no model, has {value}.",
    "the best lexical baseline has a higher value than the first candidate; what that shows is answered next",
    COUNT,
)
FIRST_TOO_HIGH = Template(
    "{encoder} is the first of {candidates}, so its value is probably too high, by {excess}.{more}",
    "five candidates or more are ranked, and the best set has two or more: the bootstrap bias of the highest "
    "candidate, and of the highest of the best set",
    COUNT,
    title="The first of many is too high",
    question="Luck",
)
INTERVAL_AS_FIRST = Template(
    " As the first of several it has about {value}, and a lead over {second} of {lead}.",
    "the same; less the mean of the two. The intervals are longer by the largest deviations of all candidates, "
    "and of all pairs, in bootstrap samples of units",
    TOGETHER,
)
MANY_CANDIDATES = Template(
    " If all {candidates} were equally good, about 1 table in {tables} would call one better or worse, and 1 in "
    "{left_out} would leave one out of the best set.",
    "the same; simulated (docs/statistics.md)",
    LIMIT,
)
COST = Template(
    "{encoder} needs {size} for {stored}{price}.",
    "of the first of the best set, which is not below chance; as far as it is known",
    COUNT,
    title="Cost",
    question="Cost",
)
SMALLER = Template(
    "{encoder} is shown not to be worse than {best} by {margin} or more, and its {stored} needs {share:.0%} of the "
    "bytes ({size}, not {size_of_best}).",
    "it and all candidates with a size between theirs pass",
    IN_FIXED_ORDER,
    title="Smaller and not worse",
    question="Smaller?",
    severity="high",
)
NO_SMALLER = Template(
    "No smaller {stored} than that of {best} ({size_of_best}) is shown to be good enough: a loss of {margin} is not "
    "ruled out.",
    "a member of the best set is smaller, and the largest candidate below the best does not pass",
    IN_FIXED_ORDER,
    "not shown",
    title="No smaller {stored}",
    question="Smaller?",
    severity="medium",
)
DIFFERS = Template(
    "{encoder} is {higher} than {built_on} by {size} {interval} of {heading}{counts}.",
    "p ≤ 0.05; the opponent is the best lexical baseline, the reference, or bm25 where tfidf is the best",
    EXCHANGE,
    title="{higher} than {opponent}",
)
NOT_SHOWN_TO_DIFFER = replace(
    DIFFERS,
    text="{encoder} is not shown to be {better} or {worse} than {built_on}: {outcome}.",
    when="p > 0.05",
    claim="not shown",
    title="not shown to be {better} or {worse} than {opponent}",
)
DIFFERS_FROM_LEXICAL = replace(DIFFERS, question="Than {opponent}?")
NOT_SHOWN_TO_DIFFER_FROM_LEXICAL = replace(NOT_SHOWN_TO_DIFFER, question="Than {opponent}?")
STEP_DIFFERS = replace(
    DIFFERS,
    text="The {step} of {encoder} {gains} {size} {interval} of {heading} against {built_on}{counts}.",
    when="p ≤ 0.05; the opponent is the best of the encoders that the candidate is built on",
    question="{question}",
)
STEP_NOT_SHOWN = replace(
    NOT_SHOWN_TO_DIFFER,
    text="The {step} of {encoder} is not shown to gain or lose anything against {built_on}: {outcome}.",
    title="not shown to gain or lose anything",
    question="{question}",
)
MEASURED_DIFFERENCE = Template("{difference} {interval} of {heading}{counts}", "the outcome, p > 0.05", COUNT)
SAME_VALUES = Template("the same {heading} for all {items}", "the outcome where no item was won or lost", COUNT)
BEST_PART = Template(
    "the best of its parts ({opponent})", "the opponent of a fusion, and a lexical baseline that is a part", COUNT
)
EXACT_SEARCH = Template("the exact search of {opponent}", "the opponent of an index", COUNT)
DETECTABLE = Template(
    "{units} would show a true difference of {differences} in four samples of five.",
    "10 units or more; of the pairs that a choice depends on. For shares it counts the items on which the pair "
    "differs; where units have several items, 10 or more must differ",
    POWER,
    title="Minimum detectable difference",
    action="{action}",
    question="How sure",
)
MORE_ITEMS = Template(
    "To show {wanted}{margin}, add about {items}{units}.",
    "a deciding pair is not shown to differ, and its minimum detectable difference is not small already",
    POWER,
)

# Settings of the reference's model

SETTINGS = Template(
    "{sentences}",
    "the reference has a setting, and another setting of its encoder is compared with it",
    EXCHANGE,
    title="Settings",
    question="Settings",
    severity="medium",
)
SETTINGS_NOT_SHOWN = replace(
    SETTINGS,
    when="the same, where none is shown to differ or to be cheaper and not worse",
    claim="not shown",
    title="Settings are not shown to differ",
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
    question="",
)

# What limits a run

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
MISSING_PROMPTS = Template(
    "{encoder}: {missing}.",
    "no prompt is set, and the model's files name some, or its name is that of a family with prompts",
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
    # In this run -d may allow search only.
    "Whether an encoder notices a negation (-c opposites, built in).",
    "the run tests search, and no diagnostic of negations",
    LIMIT,
    title="Negation was not tested",
    question="Not tested",
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
FAILS_ON = Template(
    "{encoder} misses {missed}{found}.",
    "of the first candidate, where documents are searched and it misses a question; they are found by the best lexical "
    "baseline, or by no encoder but random vectors. Labels are suspected where the first candidate is right on 75% or "
    "more, two different encoders or more were run, and people asked the questions",
    COUNT,
    title="Missed questions",
    question="Fails on",
)
RESCUED = Template(
    "Against {opponent}, {encoder} rescues {rescued} and breaks {broken}.",
    "of each set-up that is built on others, against the best of these",
    COUNT,
    # Each step has its own questions.
    title="Rescued and broken by {encoder}",
)

# What limits a corpus, before anything is encoded

SHORT_PASSAGES = Template(
    "{short:,} of {passages:,} passages ({share:.0%}) have under {words} words, such as headings and list items; "
    "{remedy}",
    "a fifth of the passages or more, if their length was not chosen",
    LIMIT,
)
DEPENDENT_QUESTIONS = Template(
    "{items:,} questions depend on each other (they share right documents or a topic): they form {units} (effective "
    "number {effective:,.0f}){remedy}",
    "the effective number of units is under half that of the questions",
    LIMIT,
)
NO_DIFFERENCE_CAN_BE_SHOWN = Template(
    "no difference can be shown with {units}; it takes {needed}",
    "there are fewer",
    LIMIT,
)
TRAINED_ON = Template(
    "{encoder}: its model card names {datasets} among its training data, and {corpus} is from {family} ({evidence}); "
    "if these texts were in its training, its figures there are too high",
    "the corpus is recognised by its loader, its file, its fingerprint or the ids of its items",
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
VISIBLE_DIFFERENCE = Template(
    "estimate: this size can show differences of {metric} of about {difference:.2g} (80% power, if the difference of "
    "two encoders has a standard deviation of {deviation:g} per item; a quarter to one and a half times that is "
    "common)",
    "the headline is no share, and its declaration assumes a standard deviation",
    POWER,
)

# Differences between runs: embassay compare

CHANGED = Template(
    "{label} is {outcome}: {course}{flipped}",
    "p ≤ 0.05, corrected over all headlines and pairs that are shown",
    EXCHANGE,
)
CHANGE_NOT_WORSE = Template(
    "{label} is not worse: {course} A loss of {margin} or more is ruled out.{note}{flipped}",
    "no gain is significant, and a loss of the margin is ruled out; a smaller loss that is significant is in the note",
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
OVER_CORPORA = Template(
    "{title}: mean difference {mean} {interval}. On a further corpus like these the true difference is expected in "
    "{upcoming} (95% prediction interval).",
    "five corpora or more",
    INTERVAL,
)
NO_SUMMARY = Template(
    "{title}: no summary: {reason}.", "too few corpora, or one on which nothing changed or that has no interval", LIMIT
)
BEST_OF_RUNS = Template(
    "{diagnostic} on {corpus}: of {candidates} candidates, {best} may be the best (95% confidence).",
    "two candidates or more in all runs together; the others are shown not to be the best",
    BEST_SET,
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
    "{figures}; a loss of {margin} cannot be excluded.{read}",
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
    "{where}This test set can rule out a loss of {margin}{about}: `check` passes a model that is shown to lose fewer, "
    "and fails one that significantly loses.",
    "of each headline that is a share, when a baseline is blessed",
    LOSS_LIMIT,
    "limit",
)
BASELINE_ALONE = Template(
    "{where}`check` passes a model that is shown to lose less than {margin}, and fails one that significantly loses.",
    "of each other headline, when a baseline is blessed: a correlation, or another mean",
    LOSS_LIMIT,
    "limit",
)
OUT_OF_REACH = Template(
    "Your margin of {margin} is out of reach of {items}{where}.",
    "a margin of the user is below the loss that the test set can rule out",
    LOSS_LIMIT,
    "limit",
)

# How many questions: embassay plan

PLAN_TOO_SMALL = Template(
    "{pair}: no plan with {units:,} units; it takes {needed} or more.",
    "under 10 units",
    LIMIT,
)
NO_PLAN = Template(
    "{pair}: no plan, because the difference is the same in all {units:,} units.",
    "there is no variance to plan with",
    LIMIT,
)
ENOUGH_UNITS = Template(
    "To show a difference of {difference} between {a} and {b}, the {units:,} units of this run have a power of "
    "{power:.0%} or more, by the variance that it shows.",
    "the units of the run are as many as its own variance asks for",
    POWER,
)
UNITS_TO_ADD = Template(
    "To show a difference of {difference} between {a} and {b} takes between {estimated:,} and {needed:,} units like "
    "these (80% sure): add {more_units:,} units ({more_items:,} items) for the larger number.",
    "from the variance of the run to its upper 80% limit",
    POWER,
)
ITEMS_FOR_GATE = Template(
    "About {more} more {items} bring the margin from {present} down to {target} points.",
    "of each headline that is a share, where the test set cannot rule out that loss yet",
    LOSS_LIMIT,
    "limit",
)
MEANING_OF_POWER = Template(
    "Power {power:.0%}: the probability that a true difference of that size becomes significant. No figure rests on "
    "the present difference.",
    "below every plan",
    LIMIT,
)
WEAK_PILOT = Template(
    "This run is a weak pilot: a few units decide its variance ({freedom:.0f} degrees of freedom), so the sizes may be "
    "far too small. Plan again with more units.",
    "under 10 degrees of freedom (Satterthwaite)",
    LIMIT,
)
PILOT = Template(
    "Sizes above that of this run take the upper 80% limit of the variance: a run of this size ({freedom:.0f} degrees "
    "of freedom) may show too small a one.",
    "10 degrees of freedom or more",
    LIMIT,
)

# Before and after fine-tuning: embassay adapt

ADAPTED_DIFFERS = Template(
    "{head}: {outcome}, {amount}{below_margin}",
    "p ≤ 0.05, corrected over the variants",
    EXCHANGE,
)
ADAPTED_NOT_WORSE = Template("{head}: not worse at a margin of {margin}, {amount}{note}", "not better", NOT_WORSE)
ADAPTED_INCONCLUSIVE = Template(
    "{head}: inconclusive, {amount}; a loss of {margin} is not ruled out{ruled_out}{note}",
    "none of these",
    NOT_WORSE,
    "not shown",
)
RULED_OUT = Template(
    ", one of {size} or more is",
    "after either, where some loss is ruled out",
    NOT_WORSE,
)
ADAPTED_UNCHANGED = Template(
    "{head}: nothing changed ({metric}, same model and same value on every item){ruled_out}",
    "training changed no value",
    COUNT,
)
ADAPTED_UNKNOWN = Template("{head}: nothing can be said ({metric}: {reason})", "undefined, or too few units", LIMIT)
DOMAIN_DISTANCE = Template(
    "{encoder}: your {texts} lie {after:.2f} mean pair distances from the nearest general ones ({corpus}), "
    "{before:.2f} before",
    "shift was measured before and after; neither is better, and nothing is tested",
    COUNT,
)
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
