"""Embassay inside other evaluations: our diagnostics as mteb tasks, our encoders as models of mteb, BEIR, SentEval."""

from __future__ import annotations

from embassay.integrations.beir import BeirModel
from embassay.integrations.mteb import mteb_model, mteb_task
from embassay.integrations.senteval import batcher

__all__ = ["BeirModel", "batcher", "mteb_model", "mteb_task"]
