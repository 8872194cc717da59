"""The Microsoft Research Paraphrase corpus as groups; the sentences here are of our own."""

from __future__ import annotations

from collections import Counter

import pytest

from embassay.corpora.groups.msrp import load, recognises_folder
from embassay.run.resolve import load_corpus
from failing import failing

HEAD = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"
TEXTS = {
    9: 'The "mill burned.',
    100: "Fire took the mill.",
    20: "The mill is no more",
    3: "The owner, 71, left.",
    4: 'The owner said "bye".',
    50: "Ada sang .",
}
TRAIN, TEST = "msr_paraphrase_train.txt", "msr_paraphrase_test.txt"


def row(quality, first, second, **texts):
    a, b = texts.get("a", TEXTS.get(first, "x")), texts.get("b", TEXTS.get(second, "y"))
    return f"{quality}\t{first}\t{second}\t{a}\t{b}"


def content(*rows):
    return b"\xef\xbb\xbf" + "".join(f"{line}\r\n" for line in (HEAD, *rows)).encode()


@pytest.fixture
def folder(tmp_path):
    def write(train=(), test=(), name="set"):
        path = tmp_path / name
        path.mkdir(exist_ok=True)
        (path / TRAIN).write_bytes(content(*train))
        (path / TEST).write_bytes(content(*test))
        (path / "README.html").write_text("About.")
        return path

    return write


@pytest.fixture
def file(tmp_path):
    def write(*rows, raw=None):
        path = tmp_path / "mine.txt"
        path.write_bytes(content(*rows) if raw is None else raw)
        return path

    return write


fails = failing(load)


GOOD = [row(1, 9, 100), row(0, 4, 9), row(1, 20, 100), row(1, 3, 4)]


def test_pairs_that_are_paraphrases_become_groups_in_ascending_id(file):
    corpus = load_corpus(str(file(*GOOD)))
    assert (corpus.name, corpus.loader, corpus.shape) == ("mine", "msrp", "groups")
    # By number, not as texts: 9 before 20 before 100. The group is named after the smallest; 3 and 4 are only two.
    assert [(s.id, s.text, s.group) for s in corpus.samples] == [
        ("9", TEXTS[9], "9"),
        ("20", TEXTS[20], "9"),
        ("100", TEXTS[100], "9"),
    ]
    assert corpus.units.tolist() == [0, 0, 0]
    assert (corpus.licence, corpus.source) == ("unknown", "")
    assert corpus.notes == (
        "4 pairs, 3 of them paraphrases (Quality 1)",
        "3 sentences in 1 group",
        "1 group below 3 sentences dropped, with 2 sentences",
    )


def test_both_files_of_a_folder_are_read_together(folder):
    # A group that spans them: 9-100 in the one, 100-20 in the other.
    path = folder([row(1, 9, 100), row(1, 9, 100)], [row(1, 100, 20), row(1, 50, 20)])
    corpus = load_corpus(str(path))
    assert (corpus.name, corpus.loader) == ("set", "msrp")
    assert [(s.id, s.group) for s in corpus.samples] == [("9", "9"), ("20", "9"), ("50", "9"), ("100", "9")]
    assert corpus.notes == ("4 pairs, 4 of them paraphrases (Quality 1)", "4 sentences in 1 group")


def test_one_released_file_says_that_there_are_two(folder):
    path = folder([row(1, 9, 100), row(1, 9, 20)], [row(1, 100, 50)])
    corpus = load_corpus(str(path / TRAIN))
    assert {s.id for s in corpus.samples} == {"9", "20", "100"}
    assert corpus.notes[1] == "only one of the two released files; published figures are for both, so pass their folder"
    assert len(corpus.notes) == 3


def test_sentences_are_untouched(file):
    odd = " \"A, mill'' burned .  "
    path = file(row(1, 1, 2, a=odd, b="b"), row(1, 2, 3, a="b", b="c"))
    assert [s.text for s in load_corpus(str(path)).samples] == [odd, "b", "c"]


def test_nodes_are_ids_and_not_sentences(file):
    # 1-2 and 3-4 share a sentence, not an ID: joined by string they would be a group of three.
    path = file(row(1, 1, 2, a="a", b="b"), row(1, 3, 4, a="a", b="c"))
    assert fails(path).startswith(": no group has 3 sentences or more; found 2 groups with 4 sentences")


@pytest.mark.parametrize("missing", [TRAIN, TEST])
def test_a_folder_needs_both_files(folder, missing):
    path = folder(GOOD, GOOD)
    (path / missing).unlink()
    assert fails(path) == f"/{missing}: no such file"


def test_a_folder_is_msrp_s_by_its_names_alone(folder, tmp_path):
    assert recognises_folder(folder(GOOD, GOOD))
    other = tmp_path / "other"
    other.mkdir()
    (other / "msr_paraphrase.txt").write_text("x")
    assert not recognises_folder(other)


@pytest.mark.parametrize("loader", ["", ",loader=msrp"])
def test_the_released_corpus_has_the_published_groups(data, loader):
    # White et al. (2015), Figure 2: 859 sentences; 274 groups in the authors' released file.
    corpus = load_corpus(f"{data / 'msrp'}{loader}")
    assert (corpus.name, corpus.loader) == ("msrp", "msrp")
    sizes = Counter(Counter(s.group for s in corpus.samples).values())
    assert sizes == {3: 240, 4: 31, 5: 3}
    assert len(corpus.samples) == 859
    ids = [int(s.id) for s in corpus.samples]
    assert ids == sorted(set(ids))
    assert all(s.group == str(min(int(t.id) for t in corpus.samples if t.group == s.group)) for s in corpus.samples)
    assert len(set(corpus.units.tolist())) == 274
    assert corpus.notes == (
        "5,801 pairs, 3,900 of them paraphrases (Quality 1)",
        "859 sentences in 274 groups",
        "3,315 groups below 3 sentences dropped, with 6,630 sentences",
    )


def unions(pairs):
    """Groups of three and more, by joining sets one pair at a time."""
    joined = {}
    for a, b in pairs:
        union = joined.get(a, {a}) | joined.get(b, {b})
        joined.update(dict.fromkeys(union, union))
    return {frozenset(union) for union in joined.values() if len(union) > 2}


def test_the_released_corpus_is_grouped_as_a_plain_loop_would(data):
    corpus = load_corpus(f"{data / 'msrp'},loader=msrp")
    pairs, texts = [], {}
    for name in (TRAIN, TEST):
        for line in (data / "msrp" / name).read_text(encoding="utf-8-sig").split("\n")[1:-1]:
            quality, a, b, *both = line.split("\t")
            texts.update(zip((a, b), both, strict=True))
            pairs += [(a, b)] if quality == "1" else []
    found = {}
    for sample in corpus.samples:
        assert sample.text == texts[sample.id]
        found.setdefault(sample.group, set()).add(sample.id)
    assert {frozenset(group) for group in found.values()} == unions(pairs)
    # With the strings as nodes it would be another corpus: 862 sentences in 275 groups.
    by_string = unions((texts[a], texts[b]) for a, b in pairs)
    assert (sum(map(len, by_string)), len(by_string)) == (862, 275)
