"""What every benchmark prints first: machine, versions, BLAS kernels."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("embassay", "numpy", "scipy", "torch", "transformers", "sentence-transformers")


def describe() -> str:
    """Return a few lines about the machine; figures without them mean little."""
    import threadpoolctl
    import torch

    cpu = "unknown CPU"
    info = Path("/proc/cpuinfo")
    if info.is_file():
        cpu = next(
            (line.split(": ")[1] for line in info.read_text().splitlines() if line.startswith("model name")), cpu
        )
    kernels = {f"{p['internal_api']} {p.get('architecture', '')}".strip() for p in threadpoolctl.threadpool_info()}
    forced = [name for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE") if name in os.environ]
    lines = [
        f"{cpu}, {os.cpu_count()} cores, torch threads {torch.get_num_threads()}, Python {platform.python_version()}",
        ", ".join(f"{name} {version(name)}" for name in PACKAGES),
        f"BLAS: {', '.join(sorted(kernels))}" + (f"; WARNING: {', '.join(forced)} set" if forced else ""),
    ]
    return "\n".join(lines)
