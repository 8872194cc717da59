"""Training with gensim: the same bytes however often it is stopped, what is decided, what is refused."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("gensim", reason="the words extra is not installed")

from embassay.core.errors import InputError, MissingExtraError, SourceError, SpecError
from embassay.core.randomness import generator
from embassay.models.static.word_files import read
from embassay.run.resolve import load_encoder
from embassay.training.gensim_training import train
from embassay.training.options import ParagraphsOptions, WordsOptions
from embassay.training.stage import THERE, Stage
from embassay.training.text import Sentences, count_words

TOPICS = ["sea boat fish sail wave net tide", "oven flour yeast dough baker crust salt", "court judge law jury trial"]


def ignore(done, total):
    pass


def train_words(text, out, advance=ignore, **options):
    return train(text, out, WordsOptions(**options), advance=advance)


def train_paragraphs(text, out, advance=ignore, **options):
    return train(text, out, ParagraphsOptions(**options), advance=advance)


TRAINERS = {
    "words": (train_words, {"dim": 12, "epochs": 4}),
    "cbow": (train_words, {"dim": 12, "epochs": 4, "model": "cbow"}),
    "dm": (train_paragraphs, {"dim": 12, "epochs": 4, "window": 2}),
    "dbow": (train_paragraphs, {"dim": 12, "epochs": 4, "model": "dbow"}),
}


def sentences(number):
    draw = generator(0, "toy")
    return [f"The {' '.join(draw.choice(TOPICS[n % 3].split(), 8))}." for n in range(number)]


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(sentences(1200)), encoding="utf-8")
    return path


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", TRAINERS)
def test_a_stopped_training_goes_on_and_gives_the_same_bytes(name, text, tmp_path, monkeypatch):
    trainer, options = TRAINERS[name]
    trainer(text, tmp_path / "whole", **options)
    keep = Stage.keep

    def stop(self, epochs, arrays):
        keep(self, epochs, arrays)
        if epochs in (1, 3):
            raise KeyboardInterrupt

    monkeypatch.setattr(Stage, "keep", stop)
    begun = []
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            trainer(text, tmp_path / "stopped", advance=lambda done, total: begun.append(done), **options)
    assert not (tmp_path / "stopped").exists()
    trainer(text, tmp_path / "stopped", advance=lambda done, total: begun.append(done), **options)
    assert content(tmp_path / "stopped") == content(tmp_path / "whole")
    # Sentences are counted on, over all epochs; none was read twice.
    assert begun == sorted(begun)
    assert begun[-1] == 4 * 1200


def test_words_of_a_topic_come_to_lie_together(text, tmp_path):
    train_words(text, tmp_path / "model", dim=16, epochs=15)
    vectors = load_encoder(f"words:{tmp_path / 'model'}").encode(" ".join(TOPICS).split())
    topic = np.repeat([0, 1, 2], [len(t.split()) for t in TOPICS])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    near = unit @ unit.T
    same = topic[:, None] == topic
    assert near[same & ~np.eye(len(topic), dtype=bool)].mean() > near[~same].mean() + 0.3


def test_other_programs_read_the_words(text, tmp_path):
    trained = train_words(text, tmp_path / "model", dim=8, epochs=1)
    from gensim.models import KeyedVectors

    theirs = KeyedVectors.load_word2vec_format(str(trained.folder / "words.bin"), binary=True)
    ours = read(trained.folder / "words.bin")
    assert theirs.index_to_key == list(ours.row)
    assert np.array_equal(theirs.vectors, ours.matrix)
    assert list(ours.row)[:2] == [".", "the"]


def test_texts_are_cut_as_the_training_was(tmp_path):
    pytest.importorskip("nltk", reason="the words extra is not installed")
    text = tmp_path / "text.txt"
    text.write_text("I can't stay.\nWe CAN'T go.\n" * 5)
    for tokens, word in (("treebank", "n't"), ("words", "t")):
        train_words(text, tmp_path / tokens, dim=4, epochs=1, tokens=tokens)
        encoder = load_encoder(f"words:{tmp_path / tokens}")
        assert word in encoder.model.row
        assert encoder.unknown_words(["WE CAN'T stay."])[0] == 0
        train_paragraphs(text, tmp_path / f"p{tokens}", dim=4, epochs=1, tokens=tokens)
        assert load_encoder(f"paragraphs:{tmp_path / f'p{tokens}'}").unknown_words(["WE CAN'T stay."])[0] == 0


@pytest.mark.parametrize(
    ("counts", "enough"),
    [([5, 5], 5), ([90, 5, 4, 1], 5), ([80, 4, 4, 4, 4, 4], 4), ([60, 10, 3, 3, 2, 2, 1, 1], 3), ([1, 1, 1], 1)],
)
def test_rare_words_are_kept_where_the_text_is_small(counts, enough, tmp_path):
    sentences = [[str(number)] * count for number, count in enumerate(counts)]
    text = Sentences(tmp_path, (), (), "")
    assert count_words(text, sentences, None).min_count == enough


def test_it_says_what_it_decided_and_when_there_was_nothing_to_do(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("a b c d e\na b c f g\n")
    found = train_words(text, tmp_path / "model", dim=4, epochs=1)
    note = "min_count was set to 1, not 5, because words that occur 5 times or more make up less than 90% of the text"
    assert found.notes == (note,)
    assert found.spec == f"words:{tmp_path / 'model'}"
    assert train_words(text, tmp_path / "model", dim=4, epochs=1).notes == (THERE,)
    record = json.loads((tmp_path / "model" / "words.json").read_bytes())
    assert (record["words"], record["tokens"], record["settings"]["min_count"]) == (7, 10, 1)


def test_a_very_long_line_is_refused(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("a b\n" + "a b " * 6000)
    with pytest.raises(SourceError, match="line 2: has more than 10,000 words; write one sentence per line"):
        train_words(text, tmp_path / "model", dim=2, epochs=1)


def test_options_that_make_no_sense_are_refused(text, tmp_path):
    for options in ({"dim": 0}, {"window": 0}, {"epochs": 0}, {"min_count": 0}, {"seed": -1}):
        for trainer in (train_words, train_paragraphs):
            with pytest.raises(SpecError, match=next(iter(options))):
                trainer(text, tmp_path / "model", **options)
    with pytest.raises(SourceError, match="0 words occur 5000 times or more"):
        train_words(text, tmp_path / "model", min_count=5000)
    assert not (tmp_path / "model").exists()


def test_a_missing_gensim_is_said(text, tmp_path, monkeypatch):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "version_info", (3, 13, 0))
    with pytest.raises(MissingExtraError, match=r"embassay train words needs the extra 'words'"):
        train_words(text, tmp_path / "model")
    monkeypatch.setattr(sys, "version_info", (3, 14, 0))
    with pytest.raises(InputError, match=r"not available for Python 3\.14"):
        train_words(text, tmp_path / "model")


@pytest.mark.slow
def test_an_interrupted_command_says_so_and_a_new_process_ends_with_the_same_bytes(tmp_path, start_process, wait_until):
    """Ctrl-C after the first epoch, then the same command in a process that hashes otherwise."""
    (tmp_path / "text.txt").write_text("\n".join(sentences(6000)), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "embassay",
        "train",
        "words",
        "--text",
        "text.txt",
        "--dim",
        "40",
        "--epochs",
        "12",
    ]

    def start(out, seed):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        return start_process([*command, "-o", out], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)

    stopped = start("stopped", "1")
    kept = tmp_path / "stopped.training" / "checkpoint.npz"
    wait_until(lambda: kept.exists() and kept.stat().st_size > 2000, "the first epoch is kept")
    stopped.send_signal(signal.SIGINT)
    said = stopped.communicate()[1]
    assert stopped.returncode == 130
    assert said.endswith("interrupted; finished work is kept: repeat the command to continue\n")
    again, whole = start("stopped", "2"), start("whole", "3")
    for process in (again, whole):
        process.communicate()
        assert process.returncode == 0
    assert content(tmp_path / "stopped") == content(tmp_path / "whole")
