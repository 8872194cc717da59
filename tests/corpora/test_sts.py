"""A folder of an STS task as released: an input and its scores in two files."""

import pytest

from embassay.core.errors import SourceError
from embassay.run.resolve import load_corpus


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "STS2015-en-test"
    path.mkdir()
    (path / "STS.input.images.txt").write_text('A dog runs.\tA "dog" is running.\nA cat.\tA bus.\n')
    (path / "STS.gs.images.txt").write_text("4.75\n\n")
    # In 2016 the names have the year, and the lines the sources of the sentences.
    (path / "STS2016.input.answers.txt").write_text("It rains.\tIt pours.\thttp://a\thttp://b\n")
    (path / "STS2016.gs.answers.txt").write_text("4\n")
    return path


def test_the_inputs_of_a_folder_are_one_corpus(folder):
    corpus = load_corpus(str(folder))
    assert (corpus.name, corpus.loader, corpus.shape) == ("STS2015-en-test", "pairs", "pairs")
    assert [(pair.id, pair.first, pair.second, pair.score, pair.subset) for pair in corpus.samples] == [
        ("0", "A dog runs.", 'A "dog" is running.', 4.75, "images"),
        ("1", "A cat.", "A bus.", None, "images"),
        ("2", "It rains.", "It pours.", 4.0, "answers"),
    ]


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("STS.gs.images.txt", "4.75\n", "has 1 line, STS.input.images.txt has 2"),
        ("STS.gs.images.txt", "4.75\nhigh\n", "images.txt, line 2, field 'score'"),
        ("STS.input.images.txt", "A dog runs.\nA cat.\tA bus.\n", "line 1, field 'sentence2'"),
    ],
)
def test_mistakes_are_named_with_file_and_line(folder, file, content, message):
    (folder / file).write_text(content)
    with pytest.raises(SourceError, match=message):
        load_corpus(str(folder))


def test_an_input_needs_its_scores(folder):
    (folder / "STS.gs.images.txt").unlink()
    with pytest.raises(SourceError, match=r"there is no STS\.gs\.images\.txt"):
        load_corpus(str(folder))
