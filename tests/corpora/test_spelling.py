"""The built-in texts are in one spelling, the American one: a corpus must not separate encoders by spelling."""

import re
from importlib.resources import files

import pytest

TEXTS = (
    "edits.jsonl",
    "handbook.jsonl",
    "opposites.jsonl",
    "paraphrases.tsv",
    "phrases.txt",
    "replacements.tsv",
    "vignettes.tsv",
)
BRITISH = re.compile(
    r"\b(?:"
    r"\w*(?:col|fav|flav|harb|hon|hum|lab|neighb|od|rum|sav|vap|vig|behavi)our(?:s|ed|ing|able|ite|hood|ly|ful|'s)?"
    r"|(?:centi|deci|kilo|milli)?metres?|\w*litres?|centres?|centred|theatres?|fib(?:re|res)|tonnes?"
    r"|(?:apolog|critic|emphas|harmon|minim|maxim|organ|real|recogn|summar|synchron|util)is(?:e|es|ed|ing|ation)"
    r"|(?:anal|paral)ys(?:e|es|ed|ing)"
    r"|(?:cancel|counsel|label|model|signal|travel)l(?:ed|ing|er|ers)"
    r"|(?:cheque|dialogue|catalogue|programme|analogue|storey|tyre|kerb|plough|mould|licence|defence|offence)s?"
    r"|grey(?:er|ish)?|towards|afterwards|jewellery|pyjamas|moustache|sceptical|whilst|learnt|spelt|skilful|fulfil|enrol"
    r")\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize(
    "british", ["harbour", "kilometres", "recognised", "travellers", "theatre", "grey", "labelled"]
)
def test_british_spelling_is_recognized(british):
    assert BRITISH.fullmatch(british)


@pytest.mark.parametrize("name", TEXTS)
def test_built_in_texts_have_american_spelling(name):
    text = files("embassay.core.data").joinpath(name).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        assert not BRITISH.search(line), f"{name}, line {number}: {BRITISH.search(line)}"
