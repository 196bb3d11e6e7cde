"""Runs that were started and are waited for later."""

from __future__ import annotations

import concurrent.futures
import functools
import logging
import os
import threading
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from ._native import clib
from .results import Results

if TYPE_CHECKING:
    from .executor import Executor

NATIVE = clib._clib.Run


class Run:
    """A run that :meth:`Executor.start` started. It has the methods of a :class:`concurrent.futures.Future`; :meth:`future` returns a real one.
    Any thread may use it.

    In asyncio, ``await run`` returns the results. Dropping this object does not stop the run; :meth:`Executor.abort` stops all runs in flight.
    Results can still be read after the executor was closed, because closing waits for the run.
    """

    def __init__(self, executor: Executor, native: Any, gather: bool, finish: Callable[[list[Any]], Results]) -> None:
        self.executor = executor
        self._native = native
        self._gather = gather
        self._finish = finish
        self._lock = threading.Lock()
        self._results: Results | None = None
        self._error: BaseException | None = None

    def done(self) -> bool:
        """Whether the run has ended, successfully or not. Does not wait."""
        return self._is_known() or bool(self._native.done())

    def result(self, timeout: float | None = None) -> Results:
        """Waits for the run, and returns its outputs: the same object each time.

        :param timeout: in seconds; None: no limit
        :raises TimeoutError: the run has not ended within this time; it continues
        :raises Cancelled: the run was stopped
        :raises Error: this run, or an earlier run in flight, failed. If the body of a manual region raised an exception, that exception is raised
        :raises KeyboardInterrupt: Ctrl-C; the run continues
        """
        error = self.exception(timeout)
        if error is not None:
            raise error
        assert self._results is not None
        return self._results

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Waits for the run, and returns the exception that :meth:`result` would raise; None if the run succeeded.

        :raises TimeoutError: the run has not ended within this time
        """
        if not self._is_known():
            self._wait(timeout)
            with self._lock:
                if not self._is_known():
                    self._take()
        return self._error

    def add_done_callback(self, call: Callable[[Run], object]) -> None:
        """Calls ``call(run)`` once when the run has ended. If it has ended already, the call takes place at once. Otherwise a thread makes it that
        serves all callbacks, one after another. If the callback raises, the exception is logged under "shardwise".
        """
        told = functools.partial(_tell, call, self)
        if self.done():
            told()
        else:
            DISPATCHER.ensure()
            self._native.notify(told)

    def future(self) -> concurrent.futures.Future[Results]:
        """A future of :mod:`concurrent.futures` for this run, for ``wait``, ``as_completed`` and ``asyncio.wrap_future``. It cannot be cancelled."""
        made: concurrent.futures.Future[Results] = concurrent.futures.Future()
        made.set_running_or_notify_cancel()

        def settle(run: Run) -> None:
            error = run.exception()
            if error is not None:
                made.set_exception(error)
            else:
                made.set_result(run.result())

        self.add_done_callback(settle)
        return made

    def __await__(self) -> Generator[Any, None, Results]:
        import asyncio

        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()

        def wake() -> None:
            if not ended.done():
                ended.set_result(None)

        def tell(_: Run) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(wake)

        self.add_done_callback(tell)
        yield from ended
        return self.result()

    def _is_known(self) -> bool:
        return self._results is not None or self._error is not None

    def _wait(self, timeout: float | None) -> None:
        if not self._native.wait(-1 if timeout is None else max(0, min(int(timeout * 1e9), 2**62))):
            raise TimeoutError(f"the run has not ended after {timeout} s")

    def _take(self) -> None:
        try:
            self._results = self._finish(self._native.take(self._gather))
        except Exception as error:
            self._error = self.executor._cause_of(error, self._native.epoch)

    def __repr__(self) -> str:
        what = "failed" if self._error is not None else "ended" if self._results is not None else "started"
        return f"<shardwise.Run, {what}>"


def _tell(call: Callable[[Run], object], run: Run) -> None:
    try:
        call(run)
    except Exception:
        logging.getLogger("shardwise").exception("a callback of %r raised", run)


class Dispatcher:
    """The thread that serves callbacks. Threads of ranks must not wait for the GIL, so they only put ends of runs into a queue."""

    def __init__(self) -> None:
        self._begin_anew()
        os.register_at_fork(after_in_child=self._begin_anew)

    def _begin_anew(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def ensure(self) -> None:
        """Starts the thread, unless it runs already."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="shardwise callbacks", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Makes the remaining callbacks, then ends the thread: at the end of the process, when all runs have ended."""
        if self._thread is not None:
            NATIVE.close_queue()
            self._thread.join()

    @staticmethod
    def _serve() -> None:
        while True:
            told = NATIVE.next_end()
            if told is None:
                return
            told()
            del told  # it keeps a run and its results


DISPATCHER = Dispatcher()
