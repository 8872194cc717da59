"""Tasks in actors of a Ray cluster: a local one that is started and ended here, or one that is joined by its address.

Ray places the workers and reports those that died. What is finished is decided by the files that a task leaves, as with
the other executors. An actor lives as long as its encoder is needed, so the model is loaded once in each of them.
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
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from embassay.engine.executors import Answer, Task, thread_settings
from embassay.errors import EncoderError, InputError, MissingExtraError, SpecError, reason_of
from embassay.formatting import counted

CONNECTING = 20
"""Seconds after which an address without a cluster is given up."""
OBJECT_STORE = 100 * 2**20
"""Bytes of Ray's shared memory in a cluster that is started here; only tasks and markers pass through it."""
PROBE = """
import sys, ray
try:
    ray.init(address=sys.argv[1], log_to_driver=False)
except Exception as error:
    sys.exit(print(error) or 1)
"""


@dataclass(eq=False)
class _Slot:
    """A worker and its unfinished calls."""

    actor: Any
    pending: set[Future[Any]] = field(default_factory=set)
    dead: bool = False


class _Worker:
    """Runs in a process of the cluster."""

    def __init__(self, folders: list[str]):
        """Find the modules that the driver finds, such as that of a ``python:`` encoder; its own come first."""
        for folder in folders:
            if folder not in sys.path:
                sys.path.append(folder)

    def run(self, function: Callable[[Task], Answer], task: Task) -> Answer:
        """Run a call."""
        return function(task)


class RayExecutor:
    """Runs calls in actors of a Ray cluster; one that dies takes no other with it."""

    def __init__(self, workers: int, threads: int, device: str = "auto", address: str | None = None):
        """Start or join a cluster, and start the workers.

        Parameters
        ----------
        threads
            Of each worker, whatever Ray sets.
        device
            Of the encoder. Unless it is ``cpu``, the workers share the GPUs of the cluster.
        address
            ``HOST:PORT`` of a running cluster, or ``auto`` for the one of this machine; :func:`check_cluster` says
            whether it answers. None starts a cluster, or uses the one that this process has joined already.

        Raises
        ------
        MissingExtraError
            If Ray is not installed.
        InputError
            If the cluster cannot be started or joined, or is too small.
        """
        self.workers = workers
        self._ray = import_ray(starts_cluster=address is None)
        self._folder: str | None = None
        self._connected = not self._ray.is_initialized()
        try:
            if self._connected:
                self._connect(address, workers * threads)
            self._actors = self._actor_class(threads, device)
            self._slots = [_Slot(self._new_actor()) for _ in range(workers)]
        except BaseException:
            self._leave()
            raise

    def _connect(self, address: str | None, cpus: int) -> None:
        # Otherwise Ray prints several lines about each worker that died; run_all says it in one.
        self._print_errors(False)
        try:
            if address is None:
                self._start(cpus)
            else:
                self._ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except Exception as error:
            doing = "start a cluster" if address is None else f"join the cluster at {address}"
            raise InputError(f"Ray cannot {doing}: {reason_of(error)}") from None

    def _start(self, cpus: int) -> None:
        # The path of a socket has at most 107 characters, so that a long TMPDIR cannot be used.
        self._folder = tempfile.mkdtemp(prefix="embassay-ray-", dir="/tmp")
        self._ray.init(
            address="local",
            num_cpus=cpus,
            include_dashboard=False,
            object_store_memory=OBJECT_STORE,
            log_to_driver=False,
            logging_level=logging.ERROR,
            _temp_dir=self._folder,
        )

    def _actor_class(self, threads: int, device: str) -> Any:
        """Return the class of the workers with what each of them needs of the cluster."""
        resources = self._ray.cluster_resources()
        cpus = int(resources.get("CPU", 0))
        if cpus < self.workers * threads:
            raise SpecError(
                f"the Ray cluster has {cpus} CPUs; {self.workers} workers with {counted(threads, 'thread')} each need "
                f"{self.workers * threads}"
            )
        return self._ray.remote(_Worker).options(
            num_cpus=threads,
            num_gpus=gpu_share(resources.get("GPU", 0), self.workers, device),
            max_restarts=0,
            max_task_retries=0,
            # Ray would set OMP_NUM_THREADS to the number of CPUs of the actor.
            runtime_env={"env_vars": thread_settings(threads)},
        )

    def _new_actor(self) -> Any:
        # An empty entry stands for the current folder, which is another one in the worker.
        return self._actors.remote([os.path.abspath(folder) for folder in sys.path])  # noqa: PTH100

    def submit(self, function: Callable[[Task], Answer], task: Task, /) -> Future[Answer]:
        """Start a call in the worker with the fewest calls."""
        living = [slot for slot in self._slots if not slot.dead]
        if not living:
            raise BrokenExecutor("all workers died")
        slot = min(living, key=lambda slot: len(slot.pending))
        future: Future[Answer] = Future()
        slot.pending.add(future)
        reference = slot.actor.run.remote(function, task)
        reference.future().add_done_callback(partial(self._finish, slot, future))
        return future

    def _finish(self, slot: _Slot, future: Future[Any], finished: Future[Any]) -> None:
        """Pass the result of a call on; Ray calls this in a thread of its own."""
        exceptions = self._ray.exceptions
        error = finished.exception()
        if error is None:
            future.set_result(finished.result())
        elif isinstance(error, (exceptions.RayActorError, exceptions.NodeDiedError, exceptions.OutOfMemoryError)):
            slot.dead = True
            future.set_exception(BrokenExecutor("the worker died"))
        elif isinstance(error, exceptions.RayTaskError):
            future.set_exception(error.cause)
        else:
            future.set_exception(EncoderError(f"a worker of the Ray cluster failed: {reason_of(error)}"))
        slot.pending.discard(future)

    def restart(self) -> None:
        """Replace the workers that died; the others go on."""
        for number, slot in enumerate(self._slots):
            if slot.dead:
                # Ray calls a worker dead that it cannot reach; it must not go on beside its successor.
                self._ray.kill(slot.actor)
                wait(list(slot.pending))
                self._slots[number] = _Slot(self._new_actor())

    def close(self) -> None:
        """End the workers without waiting for their work, and a cluster that was started here."""
        for slot in self._slots:
            self._ray.kill(slot.actor)
        self._leave()

    def _leave(self) -> None:
        if self._connected:
            self._ray.shutdown()
            self._print_errors(True)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _print_errors(self, printed: bool) -> None:
        # Ray has no option for this.
        self._ray._private.worker._worker_logs_enabled = printed


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
    try:
        probe = subprocess.run(command, capture_output=True, timeout=CONNECTING, check=False, text=True)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise InputError(_no_cluster(f"no Ray cluster answers at {address}")) from None
    if probe.returncode != 0 and address == "auto":
        # Ray finds the cluster of this machine by its own records, so it need not wait for an answer.
        raise InputError(_no_cluster("no Ray cluster runs on this machine"))
    if probe.returncode != 0:
        raise InputError(f"the Ray cluster at {address} cannot be joined: {probe.stdout.strip() or 'Ray was killed'}")


def _no_cluster(problem: str) -> str:
    return f"{problem}; start one with 'ray start --head', or leave out its address for a cluster on this machine alone"


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
