"""Messages are one line each, of bounded length, and hide nothing."""

import pickle
import subprocess
import sys

import pytest

from embassay.cli.app import exit_code_of
from embassay.core.errors import (
    LONGEST,
    EmbassayError,
    EndpointError,
    SourceError,
    SpecError,
    UnknownNameError,
    first_line_of,
    one_line,
    say,
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("plain", "plain"),
        ("two  spaces in a path stay", "two  spaces in a path stay"),
        (" one\n  two\r\n\n\tthree\x85four\u2028five ", "one two three four five"),
        ("a\x1b[31mred\x00\x7f\ttab", r"a\x1b[31mred\x00\x7f\ttab"),
        ("left\u202eright\u2066\u200f\ufeff", r"left\u202eright\u2066\u200f\ufeff"),
        ("half \ud800", r"half \ud800"),
        ("ذہن 模 é 👍🏽 क्‍ष", "ذہن 模 é 👍🏽 क्‍ष"),
    ],
)
def test_a_text_becomes_one_line_on_which_all_is_seen(text, line):
    assert one_line(text) == line
    assert one_line(line) == line


@pytest.mark.parametrize(
    "error",
    [
        EmbassayError("a\nb"),
        SpecError("a\x1bb" * 9_000),
        SourceError("is\nbad", "a\nb.json", 3, "x\ny"),
        UnknownNameError("encoder", "a\nb" * 3_000, ["c\nd"]),
        EndpointError("host", "refused", 500, "<html>\n" * 900),
    ],
)
def test_every_error_has_one_line(error):
    assert str(error).isprintable()
    assert len(str(error)) <= LONGEST


def test_what_the_command_prints_is_one_line(capsys):
    assert exit_code_of(["run", "-e", "nothing:\n\u202e" + "x" * 5_000]) == 2
    message = capsys.readouterr().err.rstrip("\n")
    assert message.isprintable()
    assert len(message) <= LONGEST


def test_an_error_is_printed_by_a_terminal_that_knows_few_letters():
    code = "import sys; from embassay.core.errors import say; say('half \\ud800, all é')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env={"PYTHONPATH": ":".join(sys.path)})
    assert done.returncode == 0, done.stderr


def test_messages_go_to_standard_error_one_line_each(capsys):
    say("one\ntwo", "three \x1b")
    assert capsys.readouterr() == ("", "one two\nthree \\x1b\n")


@pytest.mark.parametrize(
    "error",
    [
        SourceError("not an object", "a.jsonl", 3, "id"),
        EndpointError("host", "refused", 403, "no"),
        UnknownNameError("encoder", "bo", ["bow"]),
    ],
)
def test_an_error_of_another_process_is_the_same(error):
    restored = pickle.loads(pickle.dumps(error))  # noqa: S301 - what pools of processes do
    assert type(restored) is type(error)
    assert str(restored) == str(error)
    assert vars(restored) == vars(error)


@pytest.mark.parametrize(
    "spec", ["http:https://u:p@ss@host/v1,foo", "=https://u:p@ss@host/v1", "x=,https://u:p@ss@host"]
)
def test_no_message_has_a_password_of_an_address(spec, capsys):
    assert exit_code_of(["run", "-e", spec]) == 2
    said = capsys.readouterr().err
    assert "p@ss" not in said
    assert "u:" not in said


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("\n  A title.\nMore of it.\n", "A title."),
        ("", ""),
        (ValueError("\nwrong shape\nTraceback …"), "wrong shape"),
    ],
)
def test_the_first_line_of_a_text_or_of_an_exception(source, line):
    assert first_line_of(source) == line
