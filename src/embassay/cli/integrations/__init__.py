"""Embassay inside other evaluations: our diagnostics as mteb tasks, our encoders as mteb's models."""

from __future__ import annotations

from embassay.cli.integrations.mteb import mteb_model, mteb_task

__all__ = ["mteb_model", "mteb_task"]
