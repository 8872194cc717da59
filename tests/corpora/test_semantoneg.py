"""Choice corpora in SemAntoNeg's form, good and bad."""

import json

import numpy as np
import pytest

from embassay.corpora.choice.semantoneg import load, pair_of
from embassay.errors import SourceError
from embassay.run.resolve import load_corpus


def entry(idx=0, text="You're not fat.", sentences=("You're not thin.", "You're fat.", "You're thin."), label=2):
    """One entry in SemAntoNeg's form."""
    return {"idx": idx, "label": label, "input": text, "sentences": list(sentences)}


def test_candidates_stand_in_the_order_antonym_polarity_paraphrase(choice_file):
    (sample,) = load(str(choice_file(entry())), "mine").samples
    assert (sample.antonym, sample.polarity, sample.paraphrase) == ("You're not thin.", "You're fat.", "You're thin.")
    assert sample.pair == "fat–thin"
    assert sample.part_of_speech == "adjective"


def test_another_label_moves_the_paraphrase(choice_file):
    row = entry(sentences=("You're thin.", "You're not thin.", "You're fat."), label=0)
    (sample,) = load(str(choice_file(row)), "mine").samples
    assert (sample.antonym, sample.polarity, sample.paraphrase) == ("You're not thin.", "You're fat.", "You're thin.")


@pytest.mark.parametrize(
    ("first", "second", "pair"),
    [
        ("That is good.", "That is bad.", "bad–good"),
        ("It's a good idea.", "It's an evil idea.", "evil–good"),
        ("It is the same.", "It is the other.", "other–same"),
        ("Good, then.", "Bad, then.", "bad–good"),
        ("He is like them.", "He is different from them.", "different from–like"),
        ("It is very far.", "It is far.", "(nothing)–very"),
        ("same words", "same words", "(nothing)–(nothing)"),
        ("My secret is four words long.", "It is.", "(longer)–it is"),
    ],
)
def test_the_pair_is_the_differing_span(first, second, pair):
    assert pair_of(first, second) == pair


def test_the_pair_does_not_depend_on_the_direction():
    assert pair_of("That is good.", "That is bad.") == pair_of("That is bad.", "That is good.")


def test_a_mark_at_the_start_and_blank_lines_are_read(tmp_path):
    path = tmp_path / "bom.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(entry()).encode() + b"\r\n\r\n" + json.dumps(entry(1)).encode())
    assert len(load(str(path), "mine").samples) == 2


@pytest.mark.parametrize(
    ("row", "field", "says"),
    [
        ({"idx": 0, "label": 2, "input": "A b."}, "sentences", "missing"),
        (entry(sentences=("a", "b")), "sentences", "three candidates"),
        (entry(sentences=("a", "b", "c", "d")), "sentences", "4 of them"),
        ({**entry(), "sentences": "a b c"}, "sentences", "is a text"),
        (entry(label=3), "label", "0, 1 or 2"),
        (entry(label=-1), "label", "0, 1 or 2"),
        (entry(label="2"), "label", "'2'"),
        (entry(label=True), "label", "True"),
        (entry(text="  "), "input", "empty text"),
        (entry(sentences=("a", "", "c")), "sentences", "empty text"),
        ({**entry(), "input": 7}, "input", "must be a text, is a number"),
        (entry() | {"part_of_speech": "all"}, "part_of_speech", "a word such as verb"),
        (entry() | {"part_of_speech": 7}, "part_of_speech", "a word such as verb"),
        (entry(text="\ud83d alone"), "input", "contains half of a surrogate pair"),
    ],
)
def test_a_bad_entry_is_named_with_file_line_and_field(choice_file, row, field, says):
    path = choice_file(entry(0), row)
    with pytest.raises(SourceError) as error:
        load(str(path), "mine")
    message = str(error.value)
    assert message.startswith(f"{path}, line 2, field {field!r}: ")
    assert says in message
    assert "\n" not in message


def test_a_line_that_is_not_json_is_named(choice_file):
    path = choice_file(entry(), raw=["{'idx': 1}"])
    with pytest.raises(SourceError, match="line 2: not JSON"):
        load(str(path), "mine")


def test_a_line_that_is_no_object_is_named(choice_file):
    with pytest.raises(SourceError, match="line 2: must be a JSON object, is a list"):
        load(str(choice_file(entry(), raw=["[1, 2]"])), "mine")


def test_ids_must_differ(choice_file):
    says = r"line 2, field 'idx': '0' is already used on line 1 \(lines without an id are numbered from 0\)$"
    with pytest.raises(SourceError, match=says):
        load(str(choice_file(entry(0), entry(0))), "mine")


def test_an_empty_file_is_said_to_be_empty(tmp_path):
    (tmp_path / "e.json").write_text("\n")
    with pytest.raises(SourceError, match="no entries"):
        load(str(tmp_path / "e.json"), "mine")


def test_bytes_that_are_not_utf8_are_named(tmp_path):
    (tmp_path / "l.json").write_bytes(b'{"input": "caf\xe9"}')
    with pytest.raises(SourceError, match="line 1: not UTF-8"):
        load(str(tmp_path / "l.json"), "mine")


def test_the_release_has_its_published_counts(semantoneg_file):
    # 3152 entries from 788 quadruples: Vahtola et al. (2022), section 3. Units, duplicates and distinct texts
    # were counted independently with a script of sets and a union-find.
    corpus = load_corpus(f"semantoneg={semantoneg_file}")
    audit = corpus.audit()
    assert (audit.items, audit.units, audit.duplicates) == (3152, 450, 72)
    assert (audit.texts, audit.distinct) == (12608, 2435)
    assert corpus.licence == "CC-BY-4.0"
    assert corpus.version == "1.0"


def test_the_release_in_units_of_4_to_28(semantoneg_file):
    sizes = np.bincount(load_corpus(str(semantoneg_file)).units)
    assert (sizes.min(), sizes.max()) == (4, 28)


def test_the_release_has_its_known_pairs(semantoneg_file):
    # Vahtola et al. (2022), section 6, name possible–actual and same–other; 278 entries differ in a span of more
    # than one token before articles are stripped, 68 after.
    pairs = [s.pair for s in load_corpus(str(semantoneg_file)).samples]
    assert {"actual–possible", "other–same", "guilty–innocent"} <= set(pairs)
    assert len(set(pairs)) == 155
    assert sum(any(" " in side for side in pair.split("–")) for pair in pairs) == 68


def test_a_file_with_one_entry_less_is_not_the_release(semantoneg_file, tmp_path):
    lines = semantoneg_file.read_text(encoding="utf-8").splitlines()
    (tmp_path / "less.json").write_text("\n".join(lines[:-1]), encoding="utf-8")
    assert load_corpus(str(tmp_path / "less.json")).licence == "unknown"
