"""Choice corpora in SemAntoNeg's form, good and bad."""

import numpy as np
import pytest

from embassay.core.data import SEMANTONEG_V1
from embassay.corpora.choice.semantoneg import load, pair_of
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


def test_the_release_has_its_published_counts(semantoneg_file):
    # 3152 entries from 788 quadruples: Vahtola et al. (2022), section 3. Units, duplicates and distinct texts
    # were counted independently with a script of sets and a union-find.
    corpus = load_corpus(f"semantoneg={semantoneg_file}")
    audit = corpus.audit()
    assert (audit.items, audit.units, audit.duplicates) == (3152, 450, 72)
    assert (audit.texts, audit.distinct) == (12608, 2435)
    # The published accuracies are of this corpus and of no other.
    assert corpus.fingerprint == SEMANTONEG_V1


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
