"""Tasks in actors of a Ray cluster: a local one that is started and ended here, or one that is joined by its address.

An actor lives until all tasks are done, so a model is loaded once in each of them.
"""

from __future__ import annotations

import logging
import math
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from embassay.core.errors import EncoderError, InputError, MissingExtraError, SpecError, reason_of
from embassay.core.formatting import counted
from embassay.core.processes.executors import Answer, Executor, Losses, Task, thread_settings

CONNECTING = 20
"""Seconds after which an address without a cluster is given up."""
OBJECT_STORE = 100 * 2**20
"""Bytes of Ray's shared memory in a cluster that is started here; only tasks and their answers pass through it."""
PROBE = """
import sys, ray
try:
    ray.init(address=sys.argv[1], log_to_driver=False)
except Exception as error:
    sys.exit(print(error) or 1)
"""


class _Worker:
    """Runs in a process of the cluster."""

    def __init__(self, folders: list[str]):
        """Find the modules that the driver finds, such as that of a ``python:`` encoder; its own come first."""
        for folder in folders:
            if folder not in sys.path:
                sys.path.append(folder)

    def run(self, function: Callable[[Task], Answer], task: Task) -> Answer:
        """Run a task."""
        return function(task)


def map_in_cluster(
    function: Callable[[Task], Answer], tasks: list[Task], executor: Executor, tell: Callable[[str], None]
) -> Iterator[Answer]:
    """Yield the answers of all tasks as they are finished; see :func:`embassay.core.processes.map.map_tasks`.

    Raises
    ------
    MissingExtraError
        If Ray is not installed.
    InputError
        If the cluster cannot be started or joined, or is too small.
    EncoderError
        If workers are killed again and again, or Ray fails.
    """
    ray = import_ray(starts_cluster=executor.address is None)
    workers = min(executor.workers, len(tasks))
    died = (ray.exceptions.RayActorError, ray.exceptions.NodeDiedError, ray.exceptions.OutOfMemoryError)
    losses = Losses(tell)
    waiting = tasks[::-1]
    running: dict[Any, tuple[Any, Task]] = {}
    with _cluster(ray, executor, workers):
        new_actor = _actors(ray, executor, workers)
        idle = [new_actor() for _ in range(workers)]
        try:
            while waiting or running:
                while waiting and idle:
                    actor, task = idle.pop(), waiting.pop()
                    running[actor.run.remote(function, task)] = (actor, task)
                reference = ray.wait(list(running))[0][0]
                actor, task = running.pop(reference)
                try:
                    answer = ray.get(reference)
                except died:
                    # Ray calls a worker dead that it cannot reach; it must not go on beside its successor.
                    ray.kill(actor)
                    losses.add(1)
                    waiting.append(task)
                    idle.append(new_actor())
                    continue
                except ray.exceptions.RayTaskError as error:
                    raise error.cause from None
                except ray.exceptions.RayError as error:
                    raise EncoderError(f"a worker of the Ray cluster failed: {reason_of(error)}") from None
                losses.count = 0
                idle.append(actor)
                yield answer
        finally:
            for actor in [*idle, *(actor for actor, _ in running.values())]:
                ray.kill(actor)


def _actors(ray: Any, executor: Executor, workers: int) -> Callable[[], Any]:
    """Return a function that starts a worker, with what it needs of the cluster; SpecError if that is too small."""
    resources = ray.cluster_resources()
    cpus, needed = int(resources.get("CPU", 0)), workers * executor.threads
    if cpus < needed:
        raise SpecError(
            f"the Ray cluster has {cpus} CPUs; {workers} workers with {counted(executor.threads, 'thread')} each need "
            f"{needed}"
        )
    worker = ray.remote(_Worker).options(
        num_cpus=executor.threads,
        num_gpus=gpu_share(resources.get("GPU", 0), workers, executor.device),
        max_restarts=0,
        max_task_retries=0,
        # Ray would set OMP_NUM_THREADS to the number of CPUs of the actor.
        runtime_env={"env_vars": thread_settings(executor.threads)},
    )
    # An empty entry stands for the current folder, which is another one in the worker.
    folders = [os.path.abspath(folder) for folder in sys.path]  # noqa: PTH100
    return lambda: worker.remote(folders)


@contextmanager
def _cluster(ray: Any, executor: Executor, workers: int) -> Iterator[None]:
    """Start or join a cluster, unless this process has joined one, and leave it at the end."""
    if ray.is_initialized():
        yield
        return
    # Otherwise Ray prints several lines about each worker that died; ``Losses`` says it in one. It has no option.
    prints = ray._private.worker
    prints._worker_logs_enabled = False
    # The path of a socket has at most 107 characters, so that a long TMPDIR cannot be used.
    folder = tempfile.mkdtemp(prefix="embassay-ray-", dir="/tmp")
    settings: dict[str, Any] = {"address": executor.address}
    if executor.address is None:
        settings = {
            "address": "local",
            "num_cpus": workers * executor.threads,
            "include_dashboard": False,
            "object_store_memory": OBJECT_STORE,
            "_temp_dir": folder,
        }
    try:
        try:
            ray.init(**settings, log_to_driver=False, logging_level=logging.ERROR)
        except Exception as error:
            doing = "start a cluster" if executor.address is None else f"join the cluster at {executor.address}"
            raise InputError(f"Ray cannot {doing}: {reason_of(error)}") from None
        yield
    finally:
        ray.shutdown()
        prints._worker_logs_enabled = True
        shutil.rmtree(folder, ignore_errors=True)


def check_cluster(address: str | None) -> None:
    """Check that Ray is installed and that a cluster answers at an address; None stands for one that is started here.

    Raises
    ------
    MissingExtraError
        If Ray is not installed.
    InputError
        If no cluster answers within ``CONNECTING`` seconds.
    """
    ray = import_ray(starts_cluster=address is None)
    if address is None or ray.is_initialized():
        return
    # Ray itself tries for two minutes, prints internal lines and ends the process; so another process tries first.
    command = [sys.executable, "-c", PROBE, address]
    advice = "start one with 'ray start --head', or leave out its address for a cluster on this machine alone"
    try:
        probe = subprocess.run(command, capture_output=True, timeout=CONNECTING, check=False, text=True)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise InputError(f"no Ray cluster answers at {address}; {advice}") from None
    if probe.returncode != 0 and address == "auto":
        # Ray finds the cluster of this machine by its own records, so it need not wait for an answer.
        raise InputError(f"no Ray cluster runs on this machine; {advice}")
    if probe.returncode != 0:
        raise InputError(f"the Ray cluster at {address} cannot be joined: {probe.stdout.strip() or 'Ray was killed'}")


def import_ray(*, starts_cluster: bool) -> Any:
    """Import Ray, which sends no statistics and lets nobody else use a cluster that is started here.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray reads this when it is imported. Without a token in memory it would write one into the user's home folder.
    if starts_cluster and "ray" not in sys.modules and "RAY_AUTH_MODE" not in os.environ:
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    try:
        import ray
    except ImportError:
        raise MissingExtraError("the executor ray", "ray") from None
    return ray


def gpu_share(gpus: float, workers: int, device: str) -> float:
    """Return the share of a GPU that each worker gets; 1 if there is one for each, and 0 on CPUs."""
    whole = int(gpus)
    if device == "cpu" or whole == 0:
        return 0
    return 1 / math.ceil(workers / whole)
