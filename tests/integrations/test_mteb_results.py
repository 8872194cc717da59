"""The figures of a run as mteb's results: mteb reads them, under the names that its own tasks have."""

import json

import pytest

from embassay.cli.app import exit_code_of
from embassay.store.runs import results

pytest.importorskip("mteb")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("mteb") / "run"
    sources = ["-c", "opposites", "-c", "handbook", "-d", "negated_antonyms", "-d", "retrieval", "-d", "isotropy"]
    arguments = ["run", *sources, "-e", "my model=hashing,dim=64", "--resamples", "20", "--no-cache", "-o", str(out)]
    assert exit_code_of(arguments) == 0
    return out


def test_mteb_reads_the_results(run, capsys):
    import mteb
    from mteb.results import TaskResult

    assert exit_code_of(["report", str(run), "--format", "mteb"]) == 0
    assert "left out: diagnostics that do not rank encoders (isotropy)" in capsys.readouterr().err
    result = results.read(run / "result.json")
    paths = sorted((run / "mteb").glob("results/*/*/Embassay*.json"))
    assert [path.name.split(".")[1:3] for path in paths] == [
        ["negated_antonyms", "opposites"],
        ["retrieval", "handbook"],
    ]
    for path, metric in zip(paths, ("accuracy", "Success@5"), strict=True):
        task_result = TaskResult.from_disk(path)
        (row,) = [
            r for r in result.rows if (r.encoder, r.metric, r.subset, r.condition) == ("my model", metric, "all", "")
        ]
        assert task_result.get_score() == pytest.approx(row.value)
        assert task_result.scores["test"][0][metric] == pytest.approx(row.value)
        assert task_result.task_name == path.stem
        assert task_result.evaluation_time is None
        (corpus,) = [corpus for corpus in result.corpora if corpus.name == row.corpus]
        assert task_result.dataset_revision == corpus.fingerprint
    cache = mteb.ResultCache(run / "mteb")
    assert sorted(cache.get_task_names(include_remote=False)) == [path.stem for path in paths]
    (record, *_) = result.encoders
    assert cache.get_models(include_remote=False) == [("embassay__my_model", record.fingerprint)]


def test_a_result_has_the_name_of_the_task_that_mteb_would_run(run):
    from embassay.integrations.mteb import mteb_task

    task = mteb_task("opposites", "negated_antonyms", language="und-Zyyy", seed=0, resamples=20)
    assert exit_code_of(["report", str(run), "--format", "mteb"]) == 0
    names = {path.stem for path in (run / "mteb").glob("results/*/*/Embassay*.json")}
    assert task.metadata.name in names


def test_without_the_record_of_the_run_there_is_one_message(run, tmp_path, capsys):
    (tmp_path / "result.json").write_bytes((run / "result.json").read_bytes())
    (tmp_path / "run.json").write_text(json.dumps({"key": "x", "state": "finished"}))
    assert exit_code_of(["report", str(tmp_path), "--format", "mteb"]) == 2
    assert "run.json is missing or damaged; repeat the run's command" in capsys.readouterr().err
    assert not (tmp_path / "mteb").exists()


def test_without_mteb_the_message_says_what_to_install(run, monkeypatch, capsys):
    monkeypatch.setattr("embassay.outputs.mteb_results.find_spec", lambda name: None)
    assert exit_code_of(["report", str(run), "--format", "mteb"]) == 2
    assert "--format mteb needs the extra 'mteb': pip install 'embassay[mteb]'" in capsys.readouterr().err
