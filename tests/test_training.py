"""``embassay train``: each command offers what its trainer takes, and says what went wrong in one line."""

import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.core.errors import InputError
from embassay.training.options import ParagraphsOptions, UraeOptions, WordsOptions
from embassay.training.stage import Trained


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("words", WordsOptions(seed=7, dim=9)),
        ("paragraphs", ParagraphsOptions(seed=7, dim=9)),
        ("urae", UraeOptions(seed=7, dim=9)),
    ],
)
def test_what_is_asked_for_reaches_the_trainer(kind, options, monkeypatch, tmp_path, capsys):
    calls = []

    def train(text, out, given, *, overwrite, advance):
        advance(1, 2)
        calls.append((text, out, given, overwrite))
        return Trained(out, f"{kind}:{out}", ("A note.",))

    monkeypatch.setattr("embassay.training.train.train", train)
    arguments = ["--text", tmp_path / "t.txt", "-o", tmp_path / "m", "--seed", "7", "--dim", "9", "--overwrite"]
    assert exit_code_of(["train", kind, *map(str, arguments)]) == 0
    assert calls == [(tmp_path / "t.txt", tmp_path / "m", options, True)]
    said = capsys.readouterr()
    assert said.out == ""
    line = f"assay it with: embassay run -e {kind}:{tmp_path / 'm'}"
    assert said.err.splitlines() == ["A note.", f"model: {tmp_path / 'm'}", line]


def test_an_encoder_is_trained_from_python(tmp_path):
    pytest.importorskip("gensim", reason="needs the extra 'words'")
    text = tmp_path / "text.txt"
    text.write_text("The shop is open.\nThe shop has closed.\nIt rained all day.\n", encoding="utf-8")
    told = []
    trained = ea.train(
        "paragraphs", text, tmp_path / "pv", model="dbow", dim=4, epochs=2, advance=lambda *n: told.append(n)
    )
    assert told[-1] == (6, 6)
    assert ea.encoder(trained.spec).encode(["The shop is open."]).shape == (1, 4)
    with pytest.raises(InputError, match="unknown option of the training of paragraphs 'dimension'"):
        ea.train("paragraphs", text, tmp_path / "pv", dimension=4)
    with pytest.raises(InputError, match="unknown kind of training 'paragraph'; did you mean 'paragraphs'"):
        ea.train("paragraph", text, tmp_path / "pv")
