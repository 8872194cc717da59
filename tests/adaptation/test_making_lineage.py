"""A base that an adaptation made is not asked what it has learnt."""

import json

import pytest

from embassay.core.errors import SpecError
from embassay.training.adaptation import lineage
from embassay.training.adaptation.material import gather


@pytest.fixture(scope="module")
def corpus(tiny):
    return tiny.corpus(count=150)


def written(folder, corpus, variant="finetuned", stage="finetuning", base=None, seed=0):
    """Write what an adaptation leaves of a variant, and return its folder."""
    model = folder / variant
    model.mkdir(parents=True)
    (model / "training.json").write_text(json.dumps({"stage": stage, "asked": {}}))
    found = lineage.record(base or folder / "none", gather([corpus], test=0.3, seed=seed))
    (folder / "split.json").write_text(json.dumps({"learnt": found}))
    return model


def test_a_base_that_has_learnt_test_questions_is_refused_with_their_number(tmp_path, corpus):
    model = written(tmp_path / "a", corpus)
    first, other = (gather([corpus], test=0.3, seed=seed) for seed in (0, 1))
    lineage.check_unlearnt(model, first)  # the same split: it has seen none of them
    shared = set(other.split.test) & {*first.split.train, *first.split.dev}
    with pytest.raises(SpecError, match=rf"used {len(shared)} of the 45 test questions to train it \(.*split\.json\)"):
        lineage.check_unlearnt(model, other)


def test_a_pre_trained_base_has_learnt_no_question_but_those_of_its_own_base(tmp_path, corpus):
    other = gather([corpus], test=0.3, seed=1)
    plain = written(tmp_path / "a", corpus, "pretrained", "pretraining")
    lineage.check_unlearnt(plain, other)
    fine = written(tmp_path / "b", corpus)
    later = written(tmp_path / "c", corpus, "pretrained", "pretraining", base=fine, seed=1)
    assert lineage.learnt(later) == lineage.learnt(fine)
    with pytest.raises(SpecError, match="an earlier adaptation used"):
        lineage.check_unlearnt(later, other)


@pytest.mark.parametrize("kept", [None, "{", '{"corpora": {}}'])
def test_a_folder_that_says_nothing_has_learnt_nothing(tmp_path, corpus, kept):
    model = written(tmp_path / "a", corpus)
    (tmp_path / "a" / "split.json").unlink()
    if kept is not None:
        (tmp_path / "a" / "split.json").write_text(kept)
    assert lineage.learnt(model) == frozenset()


def test_no_text_is_written(corpus, tmp_path):
    told = json.dumps(lineage.record(tmp_path, gather([corpus], test=0.3)))
    assert not any(sample.question in told for sample in corpus.samples)
