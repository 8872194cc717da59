"""Vahtola, Creutz & Tiedemann (2022), It Is Not Easy To Detect Paraphrases: tables 1 to 8, figures 1 and 2."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, partial

import numpy as np

from embassay.cli.papers.bench import Bench, MissingError
from embassay.cli.papers.exhibit import DIFFERS, REPRODUCED, PaperExhibit, PaperFigure, compared, missing
from embassay.diagnostics.published import published
from embassay.run.presets import sets
from embassay.run.resolve import load_corpus

TITLE = "Vahtola, Creutz & Tiedemann (2022), SemAntoNeg"
DATA = "SemAntoNeg v1.0"
MOST_DOWNLOADED = (
    "all-MiniLM-L6-v2",
    "paraphrase-MiniLM-L6-v2",
    "bert-base-nli-mean-tokens",
    "all-mpnet-base-v2",
    "distiluse-base-multilingual-cased-v2",
    "all-MiniLM-L12-v2",
    "multi-qa-mpnet-base-dot-v1",
    "paraphrase-multilingual-MiniLM-L12-v2",
    "paraphrase-mpnet-base-v2",
    "distilbert-multilingual-nli-stsb-quora-ranking",
)
"""The models of table 1."""
IN_FIGURE_2 = (
    "paraphrase-multilingual-mpnet-base-v2",
    "paraphrase-xlm-r-multilingual-v1",
    "xlm-r-distilroberta-base-paraphrase-v1",
    "paraphrase-distilroberta-base-v1",
    "paraphrase-MiniLM-L3-v2",
)
"""The best paraphrase model, and the four that are below random choice."""
OPTIONS = ("antonym", "polarity", "paraphrase")
EXAMPLES = {
    "No, that's true.": "No, that's not false.",
    "I'm guilty.": "I'm not innocent.",
    "I'm not sure.": "I'm uncertain.",
    "That is good.": "That is not bad.",
    "I know you're not asleep.": "I know you're awake.",
}
"""The inputs of table 2, each with the option that is right."""
GOOD = "inputs with 'good', more than"
COUNTS = {"entries": "3152", "adjectives": "209", GOOD: "270", "inputs with 'opaque'": "2"}
"""What sections 3 and 7 count."""
ADJECTIVES = "unexplained: the words in which the released sentences of an entry differ are 239, in 155 pairs"


@cache
def accuracies() -> dict[str, str]:
    """Return the accuracy that the paper prints for each model, in percent."""
    return {model: f"{100 * accuracy:g}" for _, model, _, _, accuracy in published("semantoneg")["rows"]}


def in_group(group: str) -> tuple[str, ...]:
    """Return the models of one of tables 3 to 6, the best first; its other models stand in table 8 only."""
    in_tables = {member.called for member in sets()["semantoneg"].members}
    return tuple(model for model in published("semantoneg")["groups"][group] if model in in_tables)


def table_of_models(models: Sequence[str], bench: Bench) -> Iterator[PaperFigure]:
    """Yield the accuracy of each model."""
    for name in models:
        printed = accuracies()[name]
        # A whole number is printed with its first decimal.
        printed = printed if "." in printed else f"{printed}.0"
        try:
            row = bench.row("model", bench.encoder(name), bench.corpus(DATA), "negated_antonyms", "accuracy")
        except MissingError as error:
            yield missing(name, "accuracy, %", printed, str(error))
            continue
        yield compared(name, "accuracy, %", printed, 100 * float(row.value or 0), signature=row.signature)


def examples(bench: Bench) -> Iterator[PaperFigure]:
    """Yield the examples of table 2, which are entries of the released corpus."""
    try:
        entries = load_corpus(bench.corpus(DATA)).samples
    except MissingError as error:
        for text, right in EXAMPLES.items():
            yield missing(text, "the right option", right, str(error))
        return
    for text, right in EXAMPLES.items():
        # An input stands in several entries, each with another antonym.
        is_there = any(entry.input == text and entry.paraphrase == right for entry in entries)
        if is_there:
            yield PaperFigure(text, "the right option", right, right, REPRODUCED, "an entry of the released corpus")
        else:
            yield PaperFigure(text, "the right option", right, "", DIFFERS, "no entry of the released corpus")


def spread(bench: Bench) -> Iterator[PaperFigure]:
    """Yield the mean of each type of model, which figure 1 draws; of the models that can be had where not all can."""
    for group, models in published("semantoneg")["groups"].items():
        values = [float(cell.measured) for cell in table_of_models(models, bench) if cell.measured]
        of_models = f"the paper draws no number; {len(values)} of its {len(models)} models are at hand"
        measured = f"{np.mean(values):.1f}" if values else ""
        yield missing(group, "mean accuracy, %", "", of_models, measured)


def choices(bench: Bench) -> Iterator[PaperFigure]:
    """Yield how often each option is chosen, which figure 2 draws for five models."""
    for name in (*IN_FIGURE_2, "all-MiniLM-L6-v2", "all-mpnet-base-v2"):
        for option in OPTIONS:
            try:
                metric = f"chosen[{option}]"
                row = bench.row("model", bench.encoder(name), bench.corpus(DATA), "negated_antonyms", metric)
            except MissingError as error:
                yield missing(name, option, "", str(error))
                continue
            times = round(float(row.value or 0) * row.items)
            drawn = "the paper draws no number" if name in IN_FIGURE_2 else "the paper draws other models"
            yield missing(name, option, "", drawn, str(times), row.signature)


def corpus(bench: Bench) -> Iterator[PaperFigure]:
    """Yield what sections 3 and 7 say of the corpus in numbers."""
    try:
        entries = load_corpus(bench.corpus(DATA)).samples
    except MissingError as error:
        for what, printed in COUNTS.items():
            yield missing("corpus", what, printed, str(error))
        return
    adjectives = {word for entry in entries for word in entry.pair.split("–")}
    with_word = {}
    for word in ("good", "opaque"):
        with_word[word] = sum(word in re.findall(r"\w+", entry.input.lower()) for entry in entries)
    counts = (len(entries), len(adjectives), with_word["good"], with_word["opaque"])
    for (what, printed), count in zip(COUNTS.items(), counts, strict=True):
        # "More than 270 times" is said of 276.
        within = 9 if what == GOOD else 0
        yield compared("corpus", what, printed, count, within=within, why=ADJECTIVES)


def _exhibit(name: str, title: str, models: Sequence[str]) -> PaperExhibit:
    return PaperExhibit(name, title, partial(table_of_models, models), (DATA,), models)


EXHIBITS = (
    _exhibit("table 1", "The ten most downloaded models", MOST_DOWNLOADED),
    PaperExhibit("table 2", "Examples of the test suite", examples, (DATA,)),
    _exhibit("table 3", "General-purpose models", in_group("general")),
    _exhibit("table 4", "Models fine-tuned for paraphrase detection", in_group("paraphrase")),
    _exhibit("table 5", "Models fine-tuned for natural language inference", in_group("nli")),
    _exhibit("table 6", "Models fine-tuned for STS-b", in_group("stsb")),
    _exhibit("table 7", "The best models", tuple(published("semantoneg")["best"]["models"])),
    _exhibit("table 8", "All models", tuple(accuracies())),
    PaperExhibit("figure 1", "Accuracies by type of model", spread, (DATA,), tuple(accuracies())),
    PaperExhibit(
        "figure 2", "Options chosen by the best and the worst paraphrase models", choices, (DATA,), IN_FIGURE_2
    ),
    PaperExhibit("sections 3 and 7", "The corpus in numbers", corpus, (DATA,)),
)
