"""Embassay inside other evaluations: our diagnostics as tasks of mteb, our encoders as models of others."""

from __future__ import annotations

from embassay.integrations.beir import BeirModel
from embassay.integrations.mteb import mteb_model, mteb_task
from embassay.integrations.senteval import batcher

__all__ = ["BeirModel", "batcher", "mteb_model", "mteb_task"]
