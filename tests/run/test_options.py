"""An option of a run is the same in all its places: flag, config file, keyword of ``ea.assay``, request and record."""

import inspect
from dataclasses import fields
from typing import get_type_hints

import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.run import command
from embassay.run.options import FILE, PYTHON, RECORD, RunOptions, options_in
from embassay.run.plan import prepare
from embassay.run.record import settings_of
from embassay.run.request import RunRequest

FLAGS = [
    (["--profile", "search"], "profile", "search"),
    (["--seed", "0"], "seed", 0),
    (["--resamples", "20"], "resamples", 20),
    (["--limit", "5"], "limit", 5),
    (["--reference", "bow"], "reference", "bow"),
    (["--accept", "0.05"], "accept", 0.05),
    (["--device", "cpu"], "device", "cpu"),
    (["--backend", "torch"], "backend", "torch"),
    (["--no-baselines"], "baselines", False),
    (["--examples", "0"], "examples", 0),
    (["--examples", "all"], "examples", "all"),
    (["--no-texts"], "texts", False),
    (["--no-trust"], "robustness", False),
    (["--follow-links"], "follow_links", True),
    (["--no-cache"], "cache", None),
    (["--overwrite"], "overwrite", True),
    (["--quiet"], "quiet", True),
    (["--trust-remote-code", "a", "--trust-remote-code", "b"], "trust_remote_code", ("a", "b")),
]
FILE_OF_OTHERS = """
profile = "dedup"
seed = 7
resamples = 30
limit = 9
reference = "tfidf"
accept = 0.1
device = "cuda"
backend = "light"
baselines = true
examples = 3
texts = true
"""
"""A config file in which every option that it can have has another value than in ``FLAGS``."""


@pytest.fixture
def requested(monkeypatch, tmp_path):
    """Return the request that a command line makes, without carrying it out."""
    monkeypatch.chdir(tmp_path)
    requests = []
    monkeypatch.setattr(command, "carry_out", lambda request, started: requests.append(request) or 0)

    def request_of(*arguments):
        assert exit_code_of(["run", *arguments]) == 0
        return requests.pop()

    return request_of


@pytest.mark.parametrize(("arguments", "option", "value"), FLAGS, ids=lambda part: str(part))
def test_a_flag_sets_its_option_and_overrides_the_file(requested, tmp_path, arguments, option, value):
    (tmp_path / "run.toml").write_text(FILE_OF_OTHERS)
    request = requested("run.toml", *arguments)
    assert getattr(request, option) == value
    of_the_file = requested("run.toml")
    names = [field.name for field in fields(RunRequest)]
    differing = [name for name in names if getattr(request, name) != getattr(of_the_file, name)]
    assert differing == [option]


def test_every_option_has_a_flag_here():
    # --dry-run stops before the request is carried out, and --cache takes a folder.
    assert {option for _, option, _ in FLAGS} == {field.name for field in fields(RunOptions)} - {"dry_run"}


def test_the_file_sets_every_option_that_it_can_have(requested, tmp_path):
    (tmp_path / "run.toml").write_text(FILE_OF_OTHERS)
    names = {line.partition(" =")[0] for line in FILE_OF_OTHERS.split("\n") if line}
    assert names == set(options_in(FILE))
    request = requested("run.toml")
    values = [getattr(request, name) for name in ("profile", "seed", "resamples", "limit", "reference", "accept")]
    assert values == ["dedup", 7, 30, 9, "tfidf", 0.1]
    assert request.device == "cuda"
    assert (request.backend, request.baselines, request.examples, request.texts) == ("light", True, 3, True)


def keywords_of_assay():
    parameters = inspect.signature(ea.assay, eval_str=True).parameters.values()
    return {each.name: each for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY}


def test_the_keywords_of_assay_are_the_options():
    types = get_type_hints(RunOptions)
    defaults = vars(RunOptions())
    wanted = {name: (types[name], defaults[name]) for name in options_in(PYTHON)}
    # A folder may be a text in Python, and the cache of the user is used unless it is told otherwise.
    wanted["cache"] = (keywords_of_assay()["cache"].annotation, "default")
    assert {name: (each.annotation, each.default) for name, each in keywords_of_assay().items()} == wanted


def test_the_options_that_identify_a_run_are_in_its_record():
    options = {"seed": 5, "resamples": 40, "reference": "bow", "accept": 0.05, "examples": 7, "texts": False}
    assert options.keys() == options_in(RECORD).keys()
    settings = settings_of(prepare(RunRequest(["bow"], ["opposites"], ["isotropy"], **options)))
    assert {name: settings[name] for name in options} == options
