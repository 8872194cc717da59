"""The bridge to mteb without mteb."""

import pytest

import embassay as ea
from embassay.cli.integrations import mteb_model, mteb_task
from embassay.core.errors import MissingExtraError


def test_without_mteb_the_line_is_said(monkeypatch):
    from embassay.cli.integrations import mteb as bridge

    monkeypatch.setattr(bridge, "find_spec", lambda name: None)
    bridge._task_class.cache_clear()
    with pytest.raises(MissingExtraError, match=r"pip install 'embassay\[mteb\]'"):
        mteb_task("opposites", "negated_antonyms")
    with pytest.raises(MissingExtraError, match="mteb"):
        mteb_model(ea.encoder("hashing"))
