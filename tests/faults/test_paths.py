"""Every place where a user names a file or folder: an unusable path is one line for a person, never a traceback."""

from __future__ import annotations

import os
import socket

import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.core.errors import InputError
from embassay.run.cache.folder import default_folder
from embassay.run.config import read
from embassay.run.outputs.formats import write_again
from embassay.run.outputs.kinds import html
from embassay.run.request import RunRequest

UNUSABLE = {
    "256 characters": "./" + "a" * 256,
    "5,000 characters": "./" + "a/" * 2_500,
    "NUL": "./a\0b",
    "unknown user": "~p.",
    "unknown user's file": "~no-such-user/a.csv",
    "half a surrogate pair": "./\ud800",
    "a link to itself": "LOOP",
}
"""Paths that nothing can be read from or written to."""
NOT_THERE = {"a file as a folder": "/etc/passwd/a/b"}
"""Paths that nothing can be read from; that nothing can be written there is known when it is tried."""
OF_PROGRAMS = [name for name in UNUSABLE if name not in ("NUL", "half a surrogate pair")]
"""Those that an argument of a program or a variable of its environment can hold."""
LONGEST = 600
"""Characters of a message, at most."""
SPECIAL = ("fifo", "socket", "/dev/null", "/dev/zero", "/dev/tty")


@pytest.fixture
def path_of(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)

    def path(name):
        return {**UNUSABLE, **NOT_THERE}[name].replace("LOOP", str(loop))

    return path


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.txt").write_text("It rained.\n")
    return folder


def message_of(call):
    with pytest.raises(InputError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    assert "\0" not in message
    return message


READ = {
    "corpus": lambda path, docs: ea.load(path),
    "corpus with a loader": lambda path, docs: ea.load(f"{path},loader=pairs"),
    "questions": lambda path, docs: ea.load(f"{docs},questions={path}"),
    "config": lambda path, docs: read(f"{path}.toml" if not path.endswith("loop") else path),
    "report of a run": lambda path, docs: write_again(path, None, "html", html),
    "result": lambda path, docs: ea.read(path),
    "source of a build": lambda path, docs: ea.build("minimal-pairs", docs.parent / path),
    "documents of a build": lambda path, docs: ea.build("composition", docs.parent / path),
    "masked model": lambda path, docs: ea.build("minimal-pairs", ["It rained all day."], mlm=path),
    "sheet": lambda path, docs: ea.rate([path]),
    **{
        scheme: lambda path, docs, scheme=scheme: ea.encoder(f"{scheme}:{path}")
        for scheme in ("st", "hf", "onnx", "words", "paragraphs", "urae", "vectors", "use")
    },
    "vectors of InferSent": lambda path, docs: ea.encoder(f"infersent:/etc/passwd,vectors={path}"),
    "texts of vectors": lambda path, docs: ea.encoder(f"vectors:{docs.parent / 'v.jsonl'},texts={path}"),
    "InferSent weights": lambda path, docs: ea.encoder(f"infersent:{path},vectors=/etc/passwd"),
}
WRITTEN = {
    "cache": lambda path, docs: ea.assay("bow", "opposites", cache=path),
    "run": lambda path, docs: RunRequest.of(None, out=path),
    "config's run": lambda path, docs: RunRequest.of(config_of(path, docs)),
    "cache of a run": lambda path, docs: RunRequest.of(None, cache=path).vector_cache,
    "test set": lambda path, docs: ea.build("groups", ["It rained."], path),
    "adapted models": lambda path, docs: ea.adapt("all-MiniLM-L6-v2", "handbook", path),
}


def config_of(path, docs):
    config = docs.parent / "run.toml"
    escaped = path.replace("\0", "\\u0000")
    if "\ud800" in path:
        raise InputError("TOML cannot hold half of a surrogate pair")
    config.write_text(f'out = "{escaped}"\n')
    return config


@pytest.mark.parametrize("what", READ)
def test_what_is_read_from_an_unusable_path(what, path_of, docs):
    (docs.parent / "v.jsonl").write_text('{"id": "a", "vector": [1.0, 2.0]}\n')
    for name in (*UNUSABLE, *NOT_THERE):
        path = path_of(name)
        assert 0 < len(message_of(lambda path=path: READ[what](path, docs))) < LONGEST, name


@pytest.mark.parametrize("what", WRITTEN)
def test_what_is_written_to_an_unusable_path(what, path_of, docs):
    for name in UNUSABLE:
        path = path_of(name)
        assert 0 < len(message_of(lambda path=path: WRITTEN[what](path, docs))) < LONGEST, name


@pytest.mark.parametrize("name", OF_PROGRAMS)
def test_the_cache_that_the_environment_names(name, path_of, monkeypatch):
    monkeypatch.setenv("EMBASSAY_CACHE", path_of(name))
    assert "cannot be used as a path" in message_of(default_folder)


def test_a_tilde_stands_for_the_home_folder_everywhere(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "pairs.csv").write_text("sentence1,sentence2\nIt rained.,It poured.\n")
    (tmp_path / "run.toml").write_text('out = "~/here"\n')
    assert ea.load("~/pairs.csv").name == "pairs"
    assert RunRequest.of(tmp_path / "run.toml").out == tmp_path / "here"
    monkeypatch.setenv("EMBASSAY_CACHE", "~/cache")
    assert default_folder() == tmp_path / "cache"


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "-c", "{}"],
        ["run", "-e", "bow", "-c", "opposites", "-o", "{}"],
        ["run", "-e", "bow", "-c", "opposites", "--cache", "{}"],
        ["run", "{}.toml"],
        ["look", "-c", "{}"],
        ["report", "{}"],
        ["cache", "info", "--cache", "{}"],
        ["build", "composition", "--from", "{}", "-o", "set.jsonl"],
        ["build", "minimal-pairs", "--from", "sentences.txt", "-o", "{}"],
        ["build", "composition", "--from", "sentences.txt", "-o", "set.jsonl", "--prompt", "{}"],
        ["rate", "{}"],
        ["train", "words", "--text", "{}", "--out", "model"],
        ["train", "words", "--text", "sentences.txt", "--out", "{}"],
    ],
)
def test_the_command_line_says_it_in_one_line(arguments, path_of, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sentences.txt").write_text("It rained all day.\nThe water was hot.\n")
    for name in OF_PROGRAMS:
        code = exit_code_of([argument.format(path_of(name)) for argument in arguments])
        written = capsys.readouterr().err.strip().splitlines()
        assert code == 2, name
        assert len(written) == 1, name
        assert written[0].startswith("embassay: "), name


@pytest.fixture(params=SPECIAL)
def special(request, tmp_path):
    path = tmp_path / "special.csv"
    if request.param == "fifo":
        os.mkfifo(path)
    elif request.param == "socket":
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(str(path))
    else:
        path.symlink_to(request.param)
    return str(path)


@pytest.mark.parametrize("what", READ)
def test_a_special_file_is_never_opened(what, special, docs, monkeypatch):
    """Opening a named pipe would block forever, and reading /dev/zero never ends."""
    (docs.parent / "v.jsonl").write_text('{"id": "a", "vector": [1.0, 2.0]}\n')
    (docs.parent / "special.csv.toml").symlink_to(special)
    opened = []
    real_open = os.open

    def watched(path, *arguments, **options):
        opened.append(str(path))
        return real_open(path, *arguments, **options)

    monkeypatch.setattr(os, "open", watched)
    message_of(lambda: READ[what](special, docs))
    assert special not in opened


@pytest.mark.parametrize("name", ["sentences.txt", "sentences.csv", "sentences.dat"])
def test_a_named_pipe_is_said_to_be_one(tmp_path, name):
    path = tmp_path / name
    os.mkfifo(path)
    for call in (lambda: ea.load(str(path)), lambda: ea.build("minimal-pairs", path)):
        assert message_of(call) == (f"{path}: is not a regular file; write its content to a file first")


def test_a_link_that_the_user_names_is_read(tmp_path):
    (tmp_path / "pairs.csv").write_text("sentence1,sentence2\nIt rained.,It poured.\n")
    link = tmp_path / "link.csv"
    link.symlink_to("pairs.csv")
    assert ea.load(str(link)).samples == ea.load(str(tmp_path / "pairs.csv")).samples
