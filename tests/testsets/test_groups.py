"""Groups from pairs, and from candidates that an encoder proposes and people confirm."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import csr_array

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.core.errors import InputError, SourceError
from embassay.core.types import Card
from embassay.run.resolve import load_corpus
from embassay.stats.geometry.complete_linkage import complete_linkage
from embassay.testsets.build import make, put
from embassay.testsets.kinds import groups
from embassay.testsets.options import Order

RAIN = ("It rained all day.", "Rain fell all day.", "All day there was rain.")
SHOP = ("The shop is shut.", "The shop has closed.", "You cannot go into the shop now.", "The shop is not open.")


def pair(first, second, same=True):
    return groups.LabelledPairRow(first=first, second=second, label=same)


def texts_of(built):
    found = {}
    for sample in built.samples:
        found.setdefault(sample.group, []).append(sample.text)
    return list(found.values())


def test_groups_are_the_components_of_the_pairs():
    sources = [
        pair(SHOP[0], SHOP[1]),
        pair(RAIN[0], RAIN[1]),
        pair(RAIN[2], RAIN[1]),
        pair(SHOP[2], SHOP[3]),
        pair(SHOP[3], SHOP[0]),
        pair(RAIN[0], SHOP[0], same=False),
        pair("It is late.", "The hour is late."),
    ]
    built = groups.build(sources)
    assert [set(found) for found in texts_of(built)] == [set(SHOP), set(RAIN)]
    assert built.rejected == {"pair with different meanings": 1, "sentence of a group below 3": 2}
    assert len({sample.id for sample in built.samples}) == 7


def test_so_many_groups_are_drawn_by_the_seed():
    sources = [pair(f"{a} {group}", f"{b} {group}") for group in range(9) for a, b in (("a", "b"), ("b", "c"))]
    drawn = {seed: tuple(map(tuple, texts_of(groups.build(sources, seed=seed, count=2)))) for seed in range(12)}
    assert {len(found) for found in drawn.values()} == {2}
    assert len(set(drawn.values())) > 4
    assert drawn[3] == tuple(map(tuple, texts_of(groups.build(sources, seed=3, count=2))))
    assert groups.build(sources, count=2).rejected == {"sentence of a group that was not drawn (--count)": 21}
    assert len(texts_of(groups.build(sources, count=99))) == 9


def write(path, content):
    path.write_text(content)
    return path


def test_a_table_of_pairs_becomes_a_corpus_that_is_read_back(tmp_path):
    rows = "".join(f"{a},{b},1\n" for a, b in ((RAIN[0], RAIN[1]), (RAIN[1], RAIN[2])))
    path = write(tmp_path / "pairs.csv", f"text1,text2,label\n{rows}")
    order = Order("groups", path)
    built = make(order)
    put(tmp_path / "g.jsonl", built, order)
    corpus = load_corpus(str(tmp_path / "g.jsonl"))
    assert corpus.loader == "groups"
    assert corpus.samples == built.samples
    assert corpus.fingerprint == built.corpus().fingerprint


SICK = (
    "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    f"1\t{RAIN[0]}\t{RAIN[1]}\t4.8\tENTAILMENT\n"
    f"2\t{RAIN[1]}\tIt did not rain.\t3.4\tCONTRADICTION\n"
)


def test_pairs_without_a_label_are_not_taken_to_mean_the_same(tmp_path):
    path = write(tmp_path / "sick.tsv", SICK)
    with pytest.raises(SourceError) as error:
        groups.read(path)
    assert str(error.value) == (
        f"{path}: pairs without a label; name one with --label, or write --label none if the sentences of every pair "
        "mean the same"
    )
    with pytest.raises(SourceError, match="field 'entailment_judgment': must be a valid boolean"):
        groups.read(path, label="entailment_judgment")
    built = groups.build(groups.read(path, label="none")[0])
    assert texts_of(built) == [[RAIN[0], RAIN[1], "It did not rain."]]


def unit(rows):
    rows = np.array(rows, dtype=np.float64)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-30)


@given(
    st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3).filter(any), min_size=2, max_size=14),
    st.sampled_from([0.35, 0.61, 0.83, 0.97]),
)
def test_clusters_are_those_of_complete_linkage_over_all_distances(rows, threshold):
    # A little noise: ties between merges have no one answer.
    vectors = np.array(rows) + np.random.default_rng(0).normal(0, 1e-3, (len(rows), 3))
    found = complete_linkage(vectors, threshold)
    whole = unit(vectors)
    distance = np.clip(1 - (whole @ whole.T)[np.triu_indices(len(rows), 1)], 0, None)
    label = fcluster(linkage(distance, "complete"), 1 - threshold, "distance")
    assert (found[:, None] == found).tolist() == (label[:, None] == label).tolist()
    assert (complete_linkage(csr_array(vectors), threshold) == found).all()
    first_seen = list(dict.fromkeys(found.tolist()))
    assert first_seen == sorted(first_seen)


def test_clusters_over_several_blocks(monkeypatch):
    vectors = np.repeat(np.eye(5), 3, axis=0)[np.random.default_rng(1).permutation(15)]
    expected = complete_linkage(vectors, 0.9).tolist()
    assert sorted(expected) == sorted([0, 1, 2, 3, 4] * 3)
    monkeypatch.setattr("embassay.stats.geometry.complete_linkage.BLOCK", 4)
    assert complete_linkage(vectors, 0.9).tolist() == expected


def test_zero_vectors_are_alone():
    assert complete_linkage(np.zeros((3, 2)), 0.5).tolist() == [0, 1, 2]


def test_a_threshold_that_tells_nothing_apart_is_refused(monkeypatch):
    monkeypatch.setattr("embassay.stats.geometry.complete_linkage.MOST_PAIRS", 5)
    with pytest.raises(
        InputError, match=r"more than 5 pairs of sentences have a cosine above 0\.5; set a higher --thres"
    ):
        complete_linkage(np.ones((4, 2)), 0.5)
    monkeypatch.setattr("embassay.stats.geometry.complete_linkage.MOST_PAIRS", 50)
    monkeypatch.setattr("embassay.stats.geometry.complete_linkage.LARGEST", 3)
    with pytest.raises(InputError, match=r"4 sentences are linked by cosines above 0\.5"):
        complete_linkage(np.ones((4, 2)), 0.5)


@pytest.mark.parametrize("threshold", [0, 1, -1, float("nan")])
def test_a_threshold_out_of_range_is_refused(threshold):
    with pytest.raises(InputError, match="threshold: must be"):
        ea.build("groups", ["a"], encoder="hashing", threshold=threshold)


class Planted:
    """An encoder to which a sentence means its topic."""

    card = Card("planted")

    def fit(self, texts):
        return self

    def encode(self, texts, role="text"):
        return np.array([[text in RAIN, text in SHOP, text not in RAIN + SHOP] for text in texts], dtype=np.float32)


def test_an_encoder_proposes_and_people_rate(tmp_path):
    mine = write(tmp_path / "mine.txt", "\n".join((*RAIN, "It is late.", *SHOP, "Go home.")))
    order = Order("groups", mine, kind_options={"encoder": Planted(), "threshold": 0.9})
    built = make(order)
    assert texts_of(built) == [list(RAIN), list(SHOP)]
    assert built.rejected == {"sentence of a group below 3": 2}
    assert built.filtered_with == ("planted",)
    assert built.notes[0].startswith("Groups are clusters of planted, with cosines above 0.9. Rate them")
    put(tmp_path / "set.jsonl", built, order)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "set-sheet.csv").read_text(encoding="utf-8-sig"))))
    assert all(f"({number})" in rows[0]["guideline"] for number in range(1, 6)), "the paper's five guidelines"
    for row in rows:
        row["rating"] = "1" if row["text"] in (RAIN[1], SHOP[1]) else "4"
    with (tmp_path / "ann.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)
    ea.rate([tmp_path / "ann.csv"], out=tmp_path / "rest.jsonl")
    # The loader leaves out groups below three.
    rest = load_corpus(str(tmp_path / "rest.jsonl"))
    assert [sample.text for sample in rest.samples] == [SHOP[0], *SHOP[2:]]


def test_the_command_line_builds_from_pairs_and_from_sentences(tmp_path, capsys):
    pairs = write(tmp_path / "pairs.csv", f"text1,text2,label\n{RAIN[0]},{RAIN[1]},1\n{RAIN[1]},{RAIN[2]},1\n")
    assert exit_code_of(["build", "groups", "--from", str(pairs), "-o", str(tmp_path / "a.jsonl")]) == 0
    mine = write(tmp_path / "mine.csv", "words,id\n" + "".join(f"{text},{n}\n" for n, text in enumerate(RAIN)))
    asked = ["build", "groups", "--from", str(mine), "-o", str(tmp_path / "b.jsonl"), "--column", "words"]
    assert exit_code_of([*asked, "-e", "bow", "--threshold", "0.2"]) == 0
    assert "Groups are clusters of bow, with cosines above 0.2." in capsys.readouterr().err
    assert [sample.text for sample in load_corpus(str(tmp_path / "b.jsonl")).samples] == list(RAIN)


def test_sentences_have_no_groups_without_an_encoder():
    with pytest.raises(InputError, match="use --encoder to propose groups, or write them yourself"):
        ea.build("groups", list(RAIN))
    assert texts_of(ea.build("groups", list(RAIN), encoder="bow", threshold=0.2)) == [list(RAIN)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("text,id\nIt rained.,1\n", "line 1: sentences without groups; use --encoder to propose groups"),
        ("", "is empty"),
    ],
)
def test_a_table_that_has_no_groups_is_refused(tmp_path, content, message):
    with pytest.raises(SourceError) as error:
        groups.read(write(tmp_path / "a.csv", content))
    assert message in str(error.value)


def test_a_text_has_no_groups(tmp_path):
    with pytest.raises(SourceError, match="use --encoder to propose groups"):
        groups.read(write(tmp_path / "a.txt", "It rained.\n"))
