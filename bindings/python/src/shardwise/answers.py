"""Answers about plans: comparisons, explanations, step time against memory, searches over meshes.

Each answer has a text (``print``), JSON (``to_json()``) and tables: lists of dicts, which ``pandas.DataFrame`` takes. Times are in modelled µs.
Memory is in bytes of one rank.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from . import _html
from ._native import clib, get, table

if TYPE_CHECKING:
    from .plan import Plan

Row = dict[str, Any]
Table = list[Row]


class Answer:
    """Base class of all answers."""

    _noun = ""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def to_json(self) -> dict[str, Any]:
        """The whole answer, as a dict of JSON values."""
        text: bytes = getattr(clib, f"shw_{self._noun}_to_json")(self._handle)
        found: dict[str, Any] = json.loads(text)
        return found

    def __str__(self) -> str:
        text: bytes = getattr(clib, f"shw_{self._noun}_to_text")(self._handle)
        return text.decode()

    def _repr_html_(self) -> str:
        return _html.preformatted(str(self))


class Comparison(Answer):
    """How two plans differ, node by node."""

    _noun = "comparison"

    def __init__(self, handle: Any, before: Plan, after: Plan) -> None:
        super().__init__(handle)
        self.before = before
        self.after = after

    @property
    def unchanged(self) -> int:
        """Number of nodes with the same layouts in both plans."""
        count: int = clib.shw_comparison_num_unchanged(self._handle)
        return count

    @property
    def nodes(self) -> Table:
        """The nodes that differ: ``name``; ``from`` and ``to``, the layouts of their results; ``difference`` ("result", "operands",
        "only_before", "only_after")."""
        names = {clib.SHW_DIFFERENCE_RESULT: "result", clib.SHW_DIFFERENCE_OPERANDS: "operands",
                 clib.SHW_DIFFERENCE_ONLY_BEFORE: "only_before", clib.SHW_DIFFERENCE_ONLY_AFTER: "only_after"}
        rows = table(self._handle, "comparison", "comparison_node")
        return [{**row, "difference": names.get(row["difference"], "")} for row in rows]


class Explanation(Answer):
    """Why a node has its layout, and what every other layout would cost."""

    _noun = "explanation"

    @property
    def summary(self) -> Row:
        """The node, its strategy and its costs."""
        return get(self._handle, "explanation", "explanation_summary")

    @property
    def alternatives(self) -> Table:
        """Layouts that the result could have, by their lower bounds: ``floor_us``; those that were ``forced`` have their plan's
        ``objective_us`` and, with ``overlap="simulated"``, its ``step_us``."""
        return table(self._handle, "explanation", "explanation_alternative")

    @property
    def strategies(self) -> Table:
        """All strategies of the node, by their lower bounds."""
        return table(self._handle, "explanation", "explanation_strategy", "strategies")

    @property
    def edges(self) -> Table:
        """The layout changes at the node, and their costs."""
        return table(self._handle, "explanation", "explanation_edge")


class PlanExplanation(Answer):
    """The costs of a plan, and how far prices may change before another plan is better."""

    _noun = "plan_explanation"

    @property
    def summary(self) -> Row:
        """The costs, and the range of factors (``factor_from``, ``factor_to``): the plan stays the cheapest while all prices of communication are
        multiplied by a factor in this range."""
        return get(self._handle, "plan_explanation", "plan_explanation_summary")

    @property
    def rivals(self) -> Table:
        """The plans that are better outside the range of factors."""
        return table(self._handle, "plan_explanation", "plan_explanation_rival")

    @property
    def groups(self) -> Table:
        """All edges that communicate, in groups of edges that are alike; the most expensive group first."""
        return table(self._handle, "plan_explanation", "plan_explanation_group")


class Verification(Answer):
    """Judges whether the results of a run are right, by the rounding error of their own computation. This error is measured with runs in f64."""

    _noun = "verification"

    @property
    def num_wrong(self) -> int:
        """Number of results of the run that are not right."""
        count: int = get(self._handle, "verification", "verification_summary")["num_wrong"]
        return count

    @property
    def num_expected_wrong(self) -> int:
        """Number of expected tensors that are not right."""
        count: int = get(self._handle, "verification", "verification_summary")["num_expected_wrong"]
        return count

    @property
    def tensors(self) -> Table:
        """Each result, with its ``verdict``, its ``error``, and ``limit``, the largest error that rounding explains. Both are relative to ``scale``.
        The columns ``expected_…`` have the same for the expected tensor."""
        names = {value: name.removeprefix("SHW_VERDICT_").lower() for name, value in vars(clib).items() if name.startswith("SHW_VERDICT_")}
        rows = table(self._handle, "verification", "verification_tensor")
        return [{**row, "verdict": names.get(row["verdict"], ""), "expected_verdict": names.get(row["expected_verdict"], "")}
                for row in rows]


class Pareto(Answer):
    """Step time against memory."""

    _noun = "pareto"

    @property
    def points(self) -> Table:
        """The cheapest placements under a series of memory limits. The first one needs the most memory and is the fastest. With
        ``overlap="simulated"``, these are the fastest placements found, with their ``step_us``."""
        return table(self._handle, "pareto", "pareto_point")

    def to_svg(self) -> str:
        """A chart, as an SVG document."""
        text: bytes = clib.shw_pareto_to_svg(self._handle)
        return text.decode()

    def _repr_html_(self) -> str:
        return self.to_svg()


class Recipes(Answer):
    """Plans of a model by well-known recipes, compared with the optimum: :func:`shardwise.compare`."""

    _noun = "recipes"

    @property
    def rows(self) -> Table:
        """A row for each plan, the optimum first: ``step_us`` (simulated), ``exposed_us``, ``peak_bytes``, …, and ``difference``, how the plan
        differs from the optimum. If the model or the mesh does not permit a recipe, ``why_not`` says why."""
        kinds = {clib.SHW_RECIPES_OPTIMUM: "optimum", clib.SHW_RECIPES_OPTIONS: "options", clib.SHW_RECIPES_RECIPE: "recipe",
                 clib.SHW_RECIPES_FOREIGN: "foreign"}
        return [{**row, "kind": kinds.get(row["kind"], "")} for row in table(self._handle, "recipes", "recipes_row")]

    def to_svg(self) -> str:
        """A chart, as an SVG document."""
        text: bytes = clib.shw_recipes_to_svg(self._handle)
        return text.decode()

    def _repr_html_(self) -> str:
        return self.to_svg()


class Search(Answer):
    """Meshes and their plans, the best first."""

    _noun = "search"

    @property
    def candidates(self) -> Table:
        """Meshes with a plan first, with their costs; then those that were given up, with their bound; then those without a plan, with their
        ``error``."""
        return table(self._handle, "search", "search_candidate")

    @property
    def best_mesh(self) -> dict[str, int]:
        """The mesh of the best plan, for :func:`shardwise.compile`.

        :raises LookupError: no mesh has a plan
        """
        for row in self.candidates:
            if not row["error"] and not row["given_up"]:
                return {name: int(size) for name, size in (axis.split("=") for axis in row["mesh"].split(","))}
        raise LookupError("no mesh has a plan: see candidates")


class Solution(Answer):
    """The solution of a placement problem: :func:`shardwise.solve`."""

    _noun = "solution"

    @property
    def summary(self) -> Row:
        """Cost, proof and effort: ``objective``, ``bound``, ``proven``, ``duration_s``, ``num_variables``, …"""
        return get(self._handle, "solution", "solution_summary")

    @property
    def strategies(self) -> list[int]:
        """The strategy of each node, in the order of the problem."""
        return [clib.shw_solution_strategy(self._handle, i) for i in range(clib.shw_solution_num_nodes(self._handle))]

    @property
    def budgets(self) -> Table:
        """Each budget of the problem: its ``limit``, and ``peak``, the largest use in this solution."""
        return table(self._handle, "solution", "solution_budget")

    @property
    def prices(self) -> Table:
        """What a budget costs at one point: ``budget``, ``point``, ``price``. The prices are the proof of the bound."""
        return table(self._handle, "solution", "solution_price")
