"""Tasks of Ray, which schedules them, starts them again when a process is killed, and moves them between machines."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from embassay.core.errors import EncoderError, InputError, MissingExtraError, reason_of
from embassay.core.processes.cores import cores

Task = TypeVar("Task")
Answer = TypeVar("Answer")
OBJECT_STORE = 100 * 2**20
"""Bytes of the shared memory of a cluster that is started here; only tasks and their answers pass through it."""
ADDRESS = "RAY_ADDRESS"
"""The variable by which Ray itself finds a running cluster."""


def in_ray(
    function: Callable[[Task], Answer], tasks: Sequence[Task], workers: int, *, use_gpu: bool
) -> Iterator[Answer]:
    """Yield the answers of all tasks as they are finished.

    Parameters
    ----------
    workers
        Tasks at a time; they share the cores, and the GPUs if they use them.

    Raises
    ------
    MissingExtraError
        If Ray is not installed.
    InputError
        If no cluster can be started or joined.
    EncoderError
        If a task is killed again and again.
    """
    ray = _import_ray()
    with _cluster(ray):
        resources = ray.cluster_resources()
        threads = max(int(resources.get("CPU", 1)) // workers, 1)
        # A worker finds the modules that this process finds, such as that of a "python:" encoder.
        paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)  # noqa: PTH100
        remote = ray.remote(function).options(
            num_cpus=threads,
            num_gpus=min(resources.get("GPU", 0) / workers, 1) if use_gpu else 0,
            runtime_env={"env_vars": {"OMP_NUM_THREADS": str(threads), "PYTHONPATH": paths}},
        )
        running = [remote.remote(task) for task in tasks]
        while running:
            done, running = ray.wait(running)
            try:
                yield ray.get(done[0])
            except ray.exceptions.RayTaskError as error:
                raise error.cause from None
            except ray.exceptions.RayError as error:
                raise EncoderError(f"a worker of Ray failed: {reason_of(error)}") from None


def _import_ray() -> Any:
    """Import Ray, which sends no statistics and lets nobody else use a cluster that is started here."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray reads this when it is imported. Without a token in memory it would write one into the user's home folder.
    if ADDRESS not in os.environ and "ray" not in sys.modules and "RAY_AUTH_MODE" not in os.environ:
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    try:
        import ray
    except ImportError:
        raise MissingExtraError("the executor ray", "ray") from None
    return ray


@contextmanager
def _cluster(ray: Any) -> Iterator[None]:
    """Join the cluster at ``RAY_ADDRESS``, or start one on this machine, and leave it at the end."""
    if ray.is_initialized():
        yield
        return
    # The path of a socket has at most 107 characters, so a long TMPDIR cannot be used.
    folder = tempfile.mkdtemp(prefix="embassay-ray-", dir="/tmp")
    settings: dict[str, Any] = {}
    if ADDRESS not in os.environ:
        settings = {
            "num_cpus": cores(),
            "include_dashboard": False,
            "object_store_memory": OBJECT_STORE,
            "_temp_dir": folder,
        }
    try:
        try:
            ray.init(**settings, log_to_driver=False, logging_level=logging.ERROR)
        except Exception as error:
            raise InputError(f"Ray cannot start or join a cluster: {reason_of(error)}") from None
        yield
    finally:
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)
