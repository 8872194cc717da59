"""A run's settings from a TOML file."""

import pytest

from embassay.core.errors import SourceError
from embassay.run.config import read
from embassay.run.request import RunRequest
from embassay.run.specs import Spec


@pytest.fixture
def config(tmp_path):
    def write(text):
        path = tmp_path / "run.toml"
        path.write_text(text)
        return path

    return write


def test_short_and_long_forms(config):
    settings = read(
        config('encoders = ["bow", {spec = "org/e5,dim=3", name = "e5", query_prompt = "query: a, b"}]\nseed = 7\n')
    )
    assert settings.options()["encoders"] == [
        Spec("bow"),
        Spec("org/e5", "e5", {"dim": "3", "query_prompt": "query: a, b"}),
    ]
    assert settings.seed == 7


def test_the_command_line_goes_before_the_file(config):
    path = config('encoders = ["bow"]\nseed = 7\nresamples = 50\nbaselines = false\nout = "there"\n')
    request = RunRequest.of(path, encoders=["tfidf"], seed=3)
    assert (request.encoders, request.seed, request.resamples) == (["tfidf"], 3, 50)
    assert (request.baselines, str(request.out)) == (False, "there")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("encoders = [", "not valid TOML"),
        ('encoder = ["bow"]', "field 'encoder': unknown setting; known settings: encoders"),
        ('refrence = "bow"', "field 'refrence': unknown setting; known settings: .*reference"),
        ("seed = -1", "field 'seed'"),
        ('seed = "x"', "field 'seed'"),
        ("limit = 0", "field 'limit'"),
        ("limit = true", "field 'limit'"),
        ('baselines = "no"', "field 'baselines'"),
        ('encoders = [{spce = "bow"}]', "field 'encoders.0.spec': Field required"),
        ("encoders = [5]", "field 'encoders.0':"),
    ],
)
def test_mistakes_have_their_place(config, text, says):
    path = config(text)
    with pytest.raises(SourceError, match=says) as error:
        read(path)
    assert str(error.value).startswith(str(path))
