"""Lines of the user's program."""

from __future__ import annotations

import os
import sys

PACKAGE = os.path.dirname(__file__) + os.sep


def caller() -> str:
    """File and line of the innermost call that is not of this package: "model.py:12"."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
