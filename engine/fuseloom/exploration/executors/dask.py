"""Jobs on the workers of a Dask scheduler (``pip install 'fuseloom[dask]'``).

Each thread of a Dask worker has a worker process of its own for jobs, as :class:`LocalProcesses`
has them; so limits, crashes and quarantine are what they are on this machine, and a job cannot end
a Dask worker.  Answers come back to the driver, which alone writes to the store.

If a Dask worker is lost, its jobs are begun again on others; if the scheduler is lost, all that is
open is handed to the next one at the same address.  If the driver is lost, the scheduler lets go
of its jobs, and the workers end them.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import logging
import queue
import time
import uuid
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from fuseloom.errors import DataError, FuseloomError

try:
    from distributed import Client, Future
    from distributed.scheduler import KilledWorker
except ImportError:
    raise DataError(
        "dask.distributed is not installed", hint="pip install 'fuseloom[dask]'"
    ) from None

from fuseloom.exploration.executors.dask_worker import LOOK, Processes, carry_out, given
from fuseloom.exploration.executors.job import Job, JobResult, JobStatus, Progress
from fuseloom.exploration.executors.local import TRIES
from fuseloom.exploration.store.identity import engine_version
from fuseloom.program import regular_files

PATIENCE = 30.0
"""Seconds for which a scheduler that is lost may come back."""
_CONNECT = 10.0
_COUNT = 2.0
"""Seconds between two looks how many workers there are."""


class DaskWorkers:
    """Carries out jobs on the workers of a Dask scheduler.

    They have to have this version of Fuseloom; whether they see this machine's disk does not
    matter.

    Parameters
    ----------
    address : str
        Of the scheduler, such as ``tcp://10.0.0.1:8786``.
    progress : callable, optional
        See :data:`Progress`; it is called by another thread.
    patience : float
        Seconds for which a scheduler that is lost may come back.

    Raises
    ------
    FuseloomError
        If nobody answers there; from :meth:`next` also if the scheduler stays lost, or its
        workers have another version.
    """

    def __init__(
        self, address: str, progress: Progress | None = None, patience: float = PATIENCE
    ) -> None:
        self._address = address
        self._progress = progress
        self._patience = patience
        self._name = f"fuseloom-{uuid.uuid4().hex[:12]}"
        self._numbers = 0
        self._open: dict[str, _Open] = {}
        self._answers: queue.SimpleQueue[JobResult] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._files: dict[str, Any] = {}
        self._counted = -_COUNT
        self._threads = 0
        self._closed = False
        self._client = self._connected()

    @property
    def wanted(self) -> int:
        """Jobs it should have at a time: two for each thread of the workers."""
        now = time.monotonic()
        if now - self._counted > _COUNT and not self._lost:
            self._counted = now
            with contextlib.suppress(Exception):  # a scheduler that is lost is noticed elsewhere
                self._threads = sum(self._client.nthreads().values())
        return 2 * max(self._threads, 1)

    def submit(self, job: Job) -> None:
        """Take a job.

        Raises
        ------
        DataError
            If a file of it cannot be read, or this executor was closed.
        """
        if self._closed:
            raise DataError("the executor is closed")
        contents = {}
        for name in job.files:
            with regular_files.opened(name) as file:
                contents[name] = file.read()
        self._open[job.key] = _Open(job, contents)
        self._hand_over(self._open[job.key])

    def cancel(self, key: str) -> None:
        """End a job, wherever it is."""
        found = self._open.pop(key, None)
        if found is None:
            return
        self._answers.put(JobResult(key, JobStatus.CANCELLED, None, "it was cancelled"))
        if found.future is not None and not self._lost:
            with contextlib.suppress(Exception):
                found.future.cancel()

    def next(self) -> JobResult | None:
        """Wait for the next answer; None if there is no job left.

        Raises
        ------
        FuseloomError
            If the scheduler is lost and does not come back, or the workers cannot do the jobs.
        """
        while not self._closed:
            with contextlib.suppress(queue.Empty):
                return self._answers.get_nowait()
            if not self._open:
                return None
            if self._lost or any(found.lost for found in self._open.values()):
                self._reconnect()
            try:
                key = self._done.get(timeout=LOOK)
            except queue.Empty:
                self._tell_waiting()
                # one whose result was lost with a worker is done a second time, and not told
                key = next((key for key, found in self._open.items() if found.done), "")
            answer = self._taken(key)
            if answer is not None:
                return answer
        return None

    def close(self) -> None:
        """Give up what has not ended, and leave the scheduler."""
        if self._closed:
            return
        self._closed = True
        lost = self._lost
        futures = [found.future for found in self._open.values() if found.future is not None]
        self._open.clear()
        with contextlib.suppress(Exception):
            if not lost:
                self._client.cancel(futures)
                self._client.unregister_worker_plugin(self._name)
        self._leave()

    def __enter__(self) -> DaskWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # The scheduler ------------------------------------------------------------------------------

    @property
    def _lost(self) -> bool:
        return str(self._client.status) != "running"

    def _connected(self) -> Any:
        """A client of the scheduler, whose workers know what to do."""
        client = None
        try:
            with _quiet(), _uncollected():
                client = Client(self._address, timeout=_CONNECT, set_as_default=False)
                client.register_plugin(Processes(), name=self._name)
                if self._progress is not None:
                    client.subscribe_topic(self._name, self._hear)
        except Exception as problem:  # Dask raises errors of many kinds
            if client is not None:
                _close(client)
            raise FuseloomError(
                f"no Dask scheduler answers at {self._address[:100]}: {_short(problem)}",
                hint="start one: dask scheduler; dask worker ADDRESS",
            ) from None
        return client

    def _leave(self) -> None:
        self._files.clear()
        for found in self._open.values():
            found.future = None
        _close(self._client)

    def _reconnect(self) -> None:
        """Hand all that is open to the next scheduler at the address."""
        self._leave()
        end = time.monotonic() + self._patience
        while True:
            self._say(f"waiting for the Dask scheduler at {self._address}")
            try:
                self._client = self._connected()
                break
            except FuseloomError as problem:
                if time.monotonic() > end:
                    raise FuseloomError(
                        f"the Dask scheduler at {self._address} is lost",
                        hint="start it again, then this command; what was finished is kept",
                    ) from problem
            time.sleep(LOOK)
        for found in list(self._open.values()):
            self._hand_over(found)

    def _hand_over(self, found: _Open) -> None:
        """Give a job to the scheduler; if that is lost, it gets it when it is back."""
        job = found.job
        self._numbers += 1
        name = f"{self._name}-{self._numbers}"
        payload = {
            "key": job.key, "target": job.target, "request": job.request, "plugin": self._name,
            "cpu": job.limits.cpu, "wall": job.limits.wall, "memory": job.limits.memory,
            "engine": engine_version(),
        }  # fmt: skip
        with contextlib.suppress(Exception), _quiet():
            files = {path: self._sent(content) for path, content in found.contents.items()}
            found.future = self._client.submit(
                carry_out, payload, files, key=name, pure=False, retries=0
            )
            found.future.add_done_callback(lambda _: self._done.put(job.key))

    def _sent(self, content: bytes) -> Any:
        """A file's content among the scheduler's tasks, once: it is made anew where it is lost."""
        name = f"{self._name}-{hashlib.sha256(content).hexdigest()}"
        if name not in self._files:
            self._files[name] = self._client.submit(given, content, key=name, pure=True)
        return self._files[name]

    def _taken(self, key: str) -> JobResult | None:
        """The answer of a job that is said to have ended; None if it has not."""
        found = self._open.get(key)
        future = None if found is None else found.future
        if found is None or future is None or not found.done:
            return None
        if future.status == "finished":
            try:
                value = future.result(timeout=_CONNECT)
            except Exception:  # its worker was lost with it: it is begun again
                return None
            del self._open[key]
            return JobResult(
                key, JobStatus(value["fate"]), value["value"], value["reason"], value["seconds"]
            )
        return self._failed(found, future) if future.status == "error" else None

    def _failed(self, found: _Open, future: Future[Any]) -> JobResult | None:
        """Hand over again a task that Dask could not carry out, or return its final result."""
        try:
            problem = future.exception(timeout=_CONNECT)
        except Exception:  # of any kind: what is lost is seen when its state is asked for again
            return None
        if isinstance(problem, KilledWorker):
            # jobs do not end Dask workers: several were lost, by chance or by the machine
            found.deaths += 1
            if found.deaths < TRIES:
                self._hand_over(found)
                return None
            del self._open[found.job.key]
            told = "several Dask workers were lost while they were at it"
            return JobResult(found.job.key, JobStatus.QUARANTINED, None, told)
        raise FuseloomError(
            f"the Dask workers at {self._address} cannot do this: {_short(problem)}",
            hint="they need the same version of Fuseloom, in the same Python",
        )

    # Telling ------------------------------------------------------------------------------------

    def _hear(self, event: tuple[float, Any]) -> None:
        message = event[1]
        if self._progress is not None and isinstance(message, Mapping):
            self._progress(message["key"], message["share"], message["text"])

    def _tell_waiting(self) -> None:
        if self._progress is not None and self.wanted and not self._threads and not self._lost:
            self._say(f"no worker is connected to the Dask scheduler at {self._address}")

    def _say(self, text: str) -> None:
        if self._progress is not None:
            for key in list(self._open)[:1]:
                self._progress(key, 0.0, text)


class _Open:
    """A job that has no answer yet."""

    def __init__(self, job: Job, contents: dict[str, bytes]) -> None:
        self.job = job
        self.contents = contents
        self.future: Any = None
        self.deaths = 0

    @property
    def lost(self) -> bool:
        """True if the scheduler does not know it: the scheduler has been replaced."""
        return self.future is None or self.future.status == "cancelled"

    @property
    def done(self) -> bool:
        """True if it has ended, as far as is known."""
        return self.future is not None and self.future.done()


def _close(client: Any) -> None:
    with contextlib.suppress(Exception), _quiet():
        client.close(timeout=1.0)


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """No garbage is collected meanwhile.

    A client that could not connect is closed when it is collected, for which it takes the lock that
    the next client takes when it is made; collected just then, it waits for ever.
    """
    gc.collect()
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Large requests are meant; that a scheduler is gone is told by an error."""
    logger = logging.getLogger("distributed.client")
    before, logger.disabled = logger.disabled, True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.disabled = before


def _short(problem: object) -> str:
    return f"{type(problem).__name__}: {' '.join(str(problem).split())[:200]}"
