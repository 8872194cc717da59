"""The sample of items: stratified, drawn by the seed, the same for all encoders, bounded; no texts if asked."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embassay.diagnostics.base import Outcomes
from embassay.run.command import carry_out
from embassay.run.items import sample_items
from embassay.run.plan import prepare
from embassay.run.request import RunRequest

NAN = float("nan")
BUILT_IN = ["opposites", "edits", "vignettes", "paraphrases", "handbook"]


def outcomes(*correct, subset=None):
    correct = np.array(correct, dtype=np.float64)
    return Outcomes(np.array(subset or [""] * correct.shape[1]), correct)


def test_every_subset_is_in_the_sample():
    subset = ["common"] * 990 + ["rare"] * 10
    chosen = sample_items(outcomes([0] * 1000, subset=subset), 30, 0, "c")
    assert Counter(subset[item] for item in chosen) == {"common": 20, "rare": 10}


def test_the_seed_decides_which_items():
    of = outcomes(np.tile([0, 1], 500))
    first = sample_items(of, 50, 0, "c")
    assert first.tolist() == sample_items(of, 50, 0, "c").tolist()
    assert first.tolist() != sample_items(of, 50, 1, "c").tolist()
    assert first.tolist() != sample_items(of, 50, 0, "d").tolist()


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([0, 1, 0.5, NAN])), min_size=1, max_size=60),
    st.none() | st.integers(0, 80),
)
def test_a_sample_is_bounded_ascending_and_balanced(items, most):
    subset, correct = zip(*items, strict=True)
    chosen = sample_items(outcomes(correct, subset=list(subset)), most, 3, "c")
    assert len(chosen) == min(len(items), len(items) if most is None else most)
    assert (np.diff(chosen) > 0).all()
    # A stratum has fewer places than another one only if all of it is in the sample.
    strata = [(name, value == 0) for name, value in items]
    size, taken = Counter(strata), Counter(strata[item] for item in chosen)
    for name in size:
        assert taken[name] == size[name] or taken[name] >= max(taken.values(), default=0) - 1


@pytest.mark.slow
def test_without_texts_no_file_of_the_run_has_a_text(tmp_path):
    request = RunRequest(["bow"], BUILT_IN, out=tmp_path / "RUN", resamples=20, texts=False, quiet=True)
    carry_out(request)
    sentences = {text for corpus in prepare(request).corpora for _, text in corpus.texts()}
    assert len(sentences) > 1000
    examples = json.loads((tmp_path / "RUN" / "result.json").read_text(encoding="utf-8"))["examples"]
    assert len(examples) > 100
    assert all(example["texts"] == {} for example in examples)
    written = [file for file in (tmp_path / "RUN").rglob("*") if file.is_file()]
    assert {"result.json", "report.html", "run.json"} < {file.name for file in written}
    for file in written:
        contents = [file.read_text(encoding="utf-8", errors="ignore")]
        if file.suffix == ".npz":
            with np.load(file, allow_pickle=False) as arrays:
                contents = [
                    "\n".join(map(str, arrays[name].ravel())) for name in arrays if arrays[name].dtype.kind == "U"
                ]
        for content in contents:
            assert not [sentence for sentence in sentences if sentence in content or json.dumps(sentence) in content]
