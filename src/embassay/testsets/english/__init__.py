"""Rules for English sentences: tags, negation, antonyms, edits of a word.

Builders use these names only; the other modules of the package are for each other.
"""

from embassay.testsets.english.edits import Left, Original, Tools, original, with_edits
from embassay.testsets.english.parser import pipeline_facts
from embassay.testsets.english.published_quadruples import published_quadruples
from embassay.testsets.english.quadruples import quadruple
from embassay.testsets.english.random_words import Vocabulary
from embassay.testsets.english.replacements import word_list
from embassay.testsets.english.selection import named, unfit
from embassay.testsets.english.spelling_and_grammar import grammar_checker
from embassay.testsets.english.word_classes import ABBREVIATIONS
from embassay.testsets.english.wordnet import open_wordnet
from embassay.testsets.english.words import Tagged, tag

__all__ = [
    "ABBREVIATIONS",
    "Left",
    "Original",
    "Tagged",
    "Tools",
    "Vocabulary",
    "grammar_checker",
    "named",
    "open_wordnet",
    "original",
    "pipeline_facts",
    "published_quadruples",
    "quadruple",
    "tag",
    "unfit",
    "with_edits",
    "word_list",
]
