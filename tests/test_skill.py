"""The skill for agents: its commands run, and the fields, questions and standings that it names exist."""

import json
import re
import shlex
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from embassay.cli.app import exit_code_of
from embassay.core.result import ANSWER_KINDS, Answer, Comparison, Row, Standing, Verdict
from embassay.corpora.builtin.handbook import write_files
from embassay.reports.findings import templates

ROOT = Path(__file__).parent.parent
SKILL = (ROOT / "skills" / "embassay" / "SKILL.md").read_text(encoding="utf-8")
# The commands of a block are indented, those in a sentence stand in backticks.
COMMANDS = re.findall(r"^ +embassay (.+)$|`embassay (.+?)`", SKILL, flags=re.M)


def test_its_commands_run_one_after_another(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMBASSAY_CACHE", str(tmp_path / "cache"))
    write_files(tmp_path)
    codes = {}
    for in_block, inline in COMMANDS:
        arguments = shlex.split(in_block or inline, comments=True)
        if arguments in (["demo"], ["doctor"]):
            continue
        # Hashed words have the place of the model.
        arguments = [argument.replace("all-MiniLM-L6-v2", "hashing") for argument in arguments]
        codes[arguments[0], arguments[-1]] = exit_code_of(arguments)
        out = capsys.readouterr()
        assert codes[arguments[0], arguments[-1]] == 0, (arguments, out.err)
    assert {command for command, _ in codes} == {"look", "run", "show", "plan", "bless", "check"}
    assert json.loads((tmp_path / "check.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("record", [Answer, Row, Verdict, Comparison])
def test_the_fields_that_it_names_exist(record):
    known = {field.name for field in fields(record)}
    (section,) = re.findall(
        {
            "Answer": r"- `answers`:(.*?)\n- ",
            "Row": r"- `rows`:(.*?)Shares",
            "Verdict": r"- `verdicts`:(.*?)\n- ",
            "Comparison": r"- `comparisons`:(.*?)\n- ",
        }[record.__name__],
        SKILL,
        flags=re.S,
    )
    named = set(re.findall(r"`(\w+)`", section))
    assert named
    assert named <= known


def test_the_standings_and_questions_that_it_names_exist():
    assert re.findall(r"`([a-z ]+)`", SKILL.split("*standing*: ")[1].split("Never turn")[0]) == list(get_args(Standing))
    kinds = {one.kind for one in vars(templates).values() if getattr(one, "kind", "")}
    assert {ANSWER_KINDS[kind] for kind in kinds} >= {"Use", "Or", "Not", "Data"}
    for question in ("Use", "Or", "Not", "Index", "Copies", "Data", "Cut-off", "Notices a not?"):
        assert f"*{question}*" in SKILL


def test_pages_for_language_models_exist():
    text = (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8")
    pages = re.findall(r"\]\((.+?)\)", text)
    assert len(pages) > 10
    assert all((ROOT / "docs" / page).is_file() for page in pages)
