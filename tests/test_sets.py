"""Named sets of encoders: what is in them, what is said of those that cannot be had, that the others run."""

import pytest

from embassay.core.errors import SpecError
from embassay.core.plugins import ENCODERS
from embassay.core.types import Runtime
from embassay.diagnostics.published import published as papers_published
from embassay.run import presets as sets_module
from embassay.run.candidates import load_candidates
from embassay.run.resolve import load_encoder, scheme_of
from embassay.run.specs import Spec, bind


def test_the_papers_numbers_of_encoders():
    sizes = {name: len(sets_module.sets()[name].members) for name in sets_module.sets()}
    # Bansal et al. 2025: 16; White et al. 2015, table 1: 7; Vahtola et al. 2022, table 8: 114.
    assert sizes["composition"] == 16
    classes = [member.group for member in sets_module.sets()["composition"].members]
    assert (classes.count("classical"), classes.count("LLM")) == (7, 9)
    assert sizes["localization"] == 7
    assert sizes["semantoneg-all"] == 114
    # HEROS, table 3, has GloVe and 30 supervised ones.
    supervised = [m for m in sets_module.sets()["heros"].members if m.spec.startswith("sentence-transformers/")]
    assert len(supervised) == 31
    # Section 3 compares 60.
    specs = sum(bool(member.spec) for member in sets_module.sets()["heros"].members)
    assert f"{specs} of the paper's 60" in sets_module.sets()["heros"].title


def test_semantoneg_has_the_models_whose_accuracies_were_published():
    published = [model for _, model, *_ in papers_published("semantoneg")["rows"]]
    assert [member.called for member in sets_module.sets()["semantoneg-all"].members] == published
    assert {m.called for m in sets_module.sets()["semantoneg"].members} < set(published)
    top10 = sets_module.sets()["semantoneg-top10"].members
    assert len(top10) == 10
    assert {m.called for m in top10} < set(published)


@pytest.mark.parametrize("name", sets_module.sets())
def test_every_member_has_a_spec_that_parses_or_a_reason(name):
    members = sets_module.sets()[name].members
    assert len({member.called for member in members}) == len(members)
    for member in members:
        if not member.spec:
            assert member.note
            with pytest.raises(SpecError, match=r"."):
                member.to_spec()
            continue
        spec = member.to_spec()
        assert spec.label == member.called
        scheme, _ = scheme_of(spec.head)
        # The module itself, also where its packages are not installed here.
        module = ENCODERS.module(scheme)
        options = {name: value for name, value in spec.options.items() if name != "group"}
        assert set(bind(module.create, options, member.called)) == set(options)
        assert spec.options.get("group", "") == member.group


def test_a_spec_says_what_papers_call_its_model_and_which_group_it_is_in():
    specs = ["mine=hashing,published=MOWE,group=words", "hashing,dim=8"]
    mine, other = load_candidates(specs, Runtime(), ())[0]
    assert (mine.published_name, mine.group, other.published_name, other.group) == ("MOWE", "words", "", "")
    assert mine.encoder.fingerprint == load_encoder("hashing").fingerprint


def test_what_names_a_set_and_what_does_not():
    assert sets_module.named_in("@heros") is sets_module.sets()["heros"]
    assert sets_module.named_in(Spec("@heros")) is sets_module.sets()["heros"]
    assert sets_module.named_in("bow") is None
    assert sets_module.named_in("mine=./folder@2") is None
