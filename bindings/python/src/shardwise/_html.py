"""What notebooks show."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import Any

from ._text import bytes_text


def preformatted(text: str) -> str:
    """Text in fixed-width letters."""
    return f"<pre>{html.escape(text)}</pre>"


def rows(columns: Iterable[str], values: Iterable[Iterable[Any]]) -> str:
    """A table."""
    head = "".join(f"<th style='text-align:left'>{html.escape(c)}</th>" for c in columns)
    body = "".join("<tr>" + "".join(f"<td style='text-align:left'>{html.escape(str(v))}</td>" for v in row) + "</tr>" for row in values)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def plan(mesh: Mapping[str, int], summary: Mapping[str, Any], ports: Iterable[Mapping[str, Any]], limit: int = 40) -> str:
    """A plan's costs, and the layouts of its inputs."""
    axes = " × ".join(f"{name}={size}" for name, size in mesh.items()) or "one device"
    proof = "proven optimal" if summary["proven"] else f"lower bound {summary['bound_us']:,.1f} µs"
    facts = [("mesh", f"{axes} ({summary['num_ranks']} ranks), {summary['hardware']}"),
             ("modelled step", f"{summary['objective_us']:,.1f} µs, {proof}"),
             ("compute", f"{summary['compute_us']:,.1f} µs"), ("communication", f"{summary['communication_us']:,.1f} µs"),
             ("memory peak of a rank", bytes_text(summary["memory_peak_bytes"]))]
    inputs = [p for p in ports if p["name"].startswith(("param.", "buffer.", "input."))]
    shown = [(p["name"], p["dtype"], "×".join(map(str, p["dims"])), p["layout"]) for p in inputs[:limit]]
    more = f"<p>and {len(inputs) - limit} more</p>" if len(inputs) > limit else ""
    return rows(("plan", ""), facts) + rows(("tensor", "type", "shape", "layout"), shown) + more
