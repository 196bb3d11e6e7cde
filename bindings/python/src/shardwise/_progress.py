"""Progress of long calls, and Ctrl-C during them."""

from __future__ import annotations

import concurrent.futures
import importlib
import math
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from ._native import clib
from .errors import Cancelled


class Progress(NamedTuple):
    """The progress of a call."""

    phase: str
    """"load", "rewrite", "strategies", "price", "solve", "lower", …"""
    best_us: float
    """Cost of the best placement so far, in µs; infinity: none yet."""
    bound_us: float
    """Proven lower bound of all placements, in µs; -infinity: none yet."""
    elapsed_s: float


ProgressLike = bool | Callable[[Progress], object] | None
"""True: shows a line in a terminal or notebook. A function: is called with a :class:`Progress`, and returns True to cancel the call."""

T = TypeVar("T")


class Hook:
    """The callback that the library calls. Python handles signals during this call, so Ctrl-C raises KeyboardInterrupt here."""

    def __init__(self, progress: ProgressLike) -> None:
        self.show: Callable[[Progress], object] | None = Line() if progress is True else progress or None
        self.error: BaseException | None = None
        """The exception that was raised here. callbacks.i stores it, because no exception may pass through C."""
        self.elapsed_s = 0.0

    def __call__(self, phase: str, best_us: float, bound_us: float, elapsed_s: float) -> bool:
        self.elapsed_s = elapsed_s
        return bool(self.show and self.show(Progress(phase, best_us, bound_us, elapsed_s)))

    def run(self, call: Callable[[], T]) -> T:
        """Makes a call that reports to this hook. Raises the exception that the hook stored, if any."""
        try:
            return call()
        except Cancelled:
            if self.error is not None:
                raise self.error from None
            raise
        finally:
            close = getattr(self.show, "close", None)
            if close is not None:
                close()


def interruptibly(call: Callable[[Any], T]) -> T:
    """Makes a call that takes a cancel flag, in a thread of its own. Python handles Ctrl-C only in the main thread, which the call would block."""
    cancel = clib.shw_cancel_create()
    if threading.current_thread() is not threading.main_thread():
        return call(cancel)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        future = pool.submit(call, cancel)
        try:
            while True:
                try:
                    return future.result(0.05)
                except concurrent.futures.TimeoutError:
                    if future.done():
                        raise
        except KeyboardInterrupt:
            clib.shw_cancel_raise(cancel)
            raise


class Line:
    """One line of progress that is overwritten again and again: in a terminal, or under a notebook's cell."""

    EVERY_S = 0.1

    def __init__(self) -> None:
        self._next = 0.0
        self._width = 0
        self._display: Any = None
        self._notebook = _in_notebook()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + self.EVERY_S
            self._write(describe(progress))

    def _write(self, text: str) -> None:
        if self._notebook:
            display: Any = importlib.import_module("IPython.display").display  # its hints differ where it is not installed
            shown = {"text/plain": text}
            if self._display is None:
                self._display = display(shown, raw=True, display_id=True)
            else:
                self._display.update(shown, raw=True)
        elif sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write("\r" + text.ljust(self._width))
            sys.stderr.flush()
            self._width = len(text)

    def close(self) -> None:
        """Clears the line of a terminal."""
        if self._width and sys.stderr is not None:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
            self._width = 0


def describe(progress: Progress) -> str:
    """Progress as one line of text."""
    text = f"{progress.phase:<10} {progress.elapsed_s:6.1f} s"
    if math.isfinite(progress.best_us):
        text += f"   best {progress.best_us:,.1f} µs"
        if math.isfinite(progress.bound_us) and progress.best_us > 0:
            text += f"   gap {max(0.0, 1 - progress.bound_us / progress.best_us):.2%}"
    return text


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")
