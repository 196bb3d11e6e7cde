"""Numbers for people."""

from __future__ import annotations


def bytes_text(count: int) -> str:
    """Bytes with a unit: "1.50 GiB"."""
    size, units = float(count), ["B", "KiB", "MiB", "GiB", "TiB"]
    while abs(size) >= 1024 and len(units) > 1:
        size /= 1024
        units.pop(0)
    return f"{size:.2f} {units[0]}" if units[0] != "B" else f"{count} B"
