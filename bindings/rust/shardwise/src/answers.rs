//! Answers of a planner: explanations, comparisons, and alternatives with their costs.

use shardwise_sys as sys;

use crate::handle::filled;
use crate::{Difference, Phase, RecipeKind, Result};

handle! {
    /// How two plans differ. Immutable.
    Comparison, shw_comparison, shw_comparison_destroy, { Send, Sync }
}

record! {
    /// A node that differs.
    ComparisonNode<'a>, shw_comparison_node(raw) {
        /// Its name, by which nodes of the two plans are matched.
        name: &'a str,
        /// Layout of its result in the first plan; "" if `difference` is not of the result.
        from: &'a str,
        /// Layout of its result in the second plan; "" likewise.
        to: &'a str,
        /// How the node differs.
        difference: Difference,
    }
}

impl Comparison {
    /// Number of nodes whose layouts are the same in both.
    pub fn num_unchanged(&self) -> usize {
        // SAFETY: the handle is valid.
        unsafe { sys::shw_comparison_num_unchanged(self.as_ptr()) }
    }

    rows! {
        /// The nodes that differ, the largest group of equal changes first.
        nodes: ComparisonNode<'_> = shw_comparison_num_nodes, shw_comparison_get_node, shw_comparison_node_init;
    }

    texts! {
        /// The comparison as one JSON object.
        to_json = shw_comparison_to_json;
        /// The comparison as text for a person.
        to_text = shw_comparison_to_text;
    }
}

handle! {
    /// Why a node has its placement. Immutable.
    Explanation, shw_explanation, shw_explanation_destroy, { Send, Sync }
}

record! {
    /// A node, its placement, and the plan that it is part of.
    ExplanationSummary<'a>, shw_explanation_summary(raw) {
        /// Its name after the rewrites.
        node: &'a str,
        /// Its operation.
        op: &'a str,
        /// Module that the node is part of; "": none.
        module_path: &'a str,
        /// The chosen strategy: "(S(0)R, RS(1)) -> S(0)S(1)".
        strategy: &'a str,
        /// Forward or backward.
        phase: Phase,
        /// The plan's objective equals its bound.
        proven: bool,
        /// Cost of the node's kernel.
        compute_us: f64,
        /// Cost of communication on the edges into the node.
        communication_us: f64,
        /// Transition cost of the edges into the node.
        transition_us: f64,
        /// Objective of the plan.
        objective_us: f64,
        /// Lower bound of the plan.
        bound_us: f64,
        /// The cheapest alternative that was not chosen; none: there is none, or it was not found
        /// in time.
        second_best: Option<usize>,
        /// Simulated step of the plan, with `Overlap::Simulated`; else 0.
        step_us: f64,
    }
}

record! {
    /// A layout that the node's result could have.
    ExplanationAlternative<'a>, shw_explanation_alternative(raw) {
        /// The layout: "S(0)R".
        layout: &'a str,
        /// The plan has this layout.
        chosen: bool,
        /// The plan was solved again with this layout pinned. Only then the fields from `possible`
        /// on are set.
        forced: bool,
        /// Number of strategies of the node that have this layout.
        num_strategies: usize,
        /// Lower bound of all plans that have this layout; infinity: no plan has it.
        floor_us: f64,
        /// False: no plan has this layout.
        possible: bool,
        /// The objective equals the bound.
        proven: bool,
        /// Objective of the best plan that has this layout.
        objective_us: f64,
        /// Lower bound of the plans that have this layout, from that solve.
        bound_us: f64,
        /// Strategy of the node in that plan.
        strategy: &'a str,
        /// Number of nodes whose strategy differs in that plan.
        changed_nodes: usize,
        /// Simulated step of that plan, with `Overlap::Simulated`; else 0.
        step_us: f64,
    }
}

record! {
    /// A strategy of the node.
    ExplanationStrategy<'a>, shw_explanation_strategy(raw) {
        /// Its name: "(S(0)R, RS(1)) -> S(0)S(1)".
        name: &'a str,
        /// The plan has this strategy.
        chosen: bool,
        /// Cost of the node's kernel.
        compute_us: f64,
        /// Lower bound of all plans that have this strategy; infinity: no plan has it.
        floor_us: f64,
    }
}

record! {
    /// An edge of the graph, and the layout change on it.
    ExplanationEdge<'a>, shw_explanation_edge(raw) {
        /// Name of the node that gives the value.
        producer: &'a str,
        /// Name of the node that uses the value.
        consumer: &'a str,
        /// Number of the consumer's operand.
        operand: usize,
        /// Layout of the producer's result.
        from: &'a str,
        /// Layout that the consumer needs.
        to: &'a str,
        /// Cost of communication of the layout change.
        communication_us: f64,
        /// Transition cost of the layout change.
        transition_us: f64,
    }
}

impl Explanation {
    /// The node and its placement.
    pub fn summary(&self) -> Result<ExplanationSummary<'_>> {
        // SAFETY: what the explanation lends lives as long as it does.
        unsafe {
            let get = |out: *mut _| sys::shw_explanation_get_summary(self.as_ptr(), out);
            Ok(ExplanationSummary::from_raw(filled(sys::shw_explanation_summary_init, get)?))
        }
    }

    rows! {
        /// The layouts that its result could have, in the order of their lower bounds.
        alternatives: ExplanationAlternative<'_> =
            shw_explanation_num_alternatives, shw_explanation_get_alternative, shw_explanation_alternative_init;
        /// The strategies of the node.
        strategies: ExplanationStrategy<'_> =
            shw_explanation_num_strategies, shw_explanation_get_strategy, shw_explanation_strategy_init;
        /// The edges at the node.
        edges: ExplanationEdge<'_> =
            shw_explanation_num_edges, shw_explanation_get_edge, shw_explanation_edge_init;
    }

    texts! {
        /// The explanation as one JSON object.
        to_json = shw_explanation_to_json;
        /// The explanation as text for a person.
        to_text = shw_explanation_to_text;
    }
}

handle! {
    /// The costs of a whole plan, and how far prices may change before another plan is better.
    /// Immutable.
    PlanExplanation, shw_plan_explanation, shw_plan_explanation_destroy, { Send, Sync }
}

record! {
    /// Costs, and how far prices may change.
    PlanExplanationSummary, shw_plan_explanation_summary(raw) {
        /// Objective of the plan.
        objective_us: f64,
        /// Cost of kernels.
        compute_us: f64,
        /// Cost of communication for layout changes.
        communication_us: f64,
        /// Transition cost of layout changes.
        transition_us: f64,
        /// Proven lower bound of all plans.
        bound_us: f64,
        /// Number of edges that communicate.
        num_paying_edges: usize,
        /// The objective equals the bound.
        proven: bool,
        /// False: a solve ended without proof; the range of factors may be smaller.
        factor_exact: bool,
        /// The plan stays optimal while all prices of communication are multiplied by a factor in a
        /// range. This is the start of the range.
        factor_from: f64,
        /// The end of the range. 1024: larger factors were not examined.
        factor_to: f64,
        /// The plan is optimal for memory limits in a range. The range starts at the plan's own
        /// peak; 0 without a limit.
        memory_from_bytes: f64,
        /// The end of that range; infinity without a limit.
        memory_to_at_least_bytes: f64,
        /// At this limit a cheaper plan fits; infinity: at no limit.
        memory_to_below_bytes: f64,
        /// False: a solve ended without proof; the range of limits may be smaller.
        memory_exact: bool,
    }
}

record! {
    /// A plan that is better outside the range of factors. Costs are at today's prices.
    PlanExplanationRival, shw_plan_explanation_rival(raw) {
        /// The factor at which both plans cost the same: an end of the range.
        factor: f64,
        /// Cost of kernels.
        compute_us: f64,
        /// Cost of communication for layout changes.
        communication_us: f64,
        /// Transition cost of layout changes.
        transition_us: f64,
        /// Number of nodes whose strategy differs in that plan.
        changed_nodes: usize,
    }
}

record! {
    /// Edges that are alike: the same operations and layouts, into modules whose paths differ only
    /// in numbers.
    PlanExplanationGroup<'a>, shw_plan_explanation_group(raw) {
        /// Module path of the consumers, with numbers as *.
        module_path: &'a str,
        /// Operation of the node that gives the value.
        producer: &'a str,
        /// Operation of the node that uses the value.
        consumer: &'a str,
        /// Layout of the producer's result.
        from: &'a str,
        /// Layout that the consumer needs.
        to: &'a str,
        /// Number of edges.
        count: usize,
        /// Cost of communication of all edges together.
        communication_us: f64,
    }
}

impl PlanExplanation {
    /// Costs, and how far prices may change.
    pub fn summary(&self) -> Result<PlanExplanationSummary> {
        // SAFETY: the handle is valid.
        unsafe {
            let get = |out: *mut _| sys::shw_plan_explanation_get_summary(self.as_ptr(), out);
            Ok(PlanExplanationSummary::from_raw(filled(sys::shw_plan_explanation_summary_init, get)?))
        }
    }

    rows! {
        /// The plans that are better outside the range of factors.
        rivals: PlanExplanationRival =
            shw_plan_explanation_num_rivals, shw_plan_explanation_get_rival, shw_plan_explanation_rival_init;
        /// The edges with the highest costs of communication, the most expensive first.
        edges: ExplanationEdge<'_> =
            shw_plan_explanation_num_edges, shw_plan_explanation_get_edge, shw_explanation_edge_init;
        /// All edges that communicate, in groups; the most expensive group first.
        groups: PlanExplanationGroup<'_> =
            shw_plan_explanation_num_groups, shw_plan_explanation_get_group, shw_plan_explanation_group_init;
    }

    texts! {
        /// The explanation as one JSON object.
        to_json = shw_plan_explanation_to_json;
        /// The explanation as text for a person.
        to_text = shw_plan_explanation_to_text;
    }
}

handle! {
    /// Step time against memory. Immutable.
    Pareto, shw_pareto, shw_pareto_destroy, { Send, Sync }
}

record! {
    /// The cheapest placement under one memory limit; with `Overlap::Simulated`, the fastest found.
    ParetoPoint, shw_pareto_point(raw) {
        /// The memory limit; 0: none.
        limit_bytes: i64,
        /// Memory peak of one rank, as the planner counts it.
        peak_bytes: i64,
        /// Memory that the lowered program needs; 0: not known.
        program_bytes: i64,
        /// Modelled cost of a step.
        objective_us: f64,
        /// Proven lower bound under this limit.
        bound_us: f64,
        /// The objective equals the bound.
        proven: bool,
        /// Time saved if the limit were one GiB higher, at the margin.
        price_us_per_gib: f64,
        /// Simulated step, with `Overlap::Simulated`; else 0.
        step_us: f64,
    }
}

impl Pareto {
    rows! {
        /// The points. Number 0 needs the most memory and is the fastest.
        points: ParetoPoint = shw_pareto_num_points, shw_pareto_get_point, shw_pareto_point_init;
    }

    texts! {
        /// The points as one JSON object.
        to_json = shw_pareto_to_json;
        /// The points as text for a person.
        to_text = shw_pareto_to_text;
        /// A chart, as an SVG document.
        to_svg = shw_pareto_to_svg;
    }
}

handle! {
    /// Plans of a model by well-known recipes, compared with the optimum. Immutable.
    Recipes, shw_recipes, shw_recipes_destroy, { Send, Sync }
}

record! {
    /// One plan. Figures are of one rank; all are 0 if there is no plan.
    RecipesRow<'a>, shw_recipes_row(raw) {
        /// Name of the recipe: "fsdp".
        name: &'a str,
        /// Title for a person.
        title: &'a str,
        /// Why there is no plan; "": there is one.
        why_not: &'a str,
        /// How the plan differs from the optimum, in one line; "": this is the optimum.
        difference: &'a str,
        /// Where the plan comes from.
        kind: RecipeKind,
        /// The plan is proven to be the cheapest of its kind.
        proven: bool,
        /// The simulated step is shorter than that of the optimum. This is possible only if the
        /// optimum is the cheapest placement: prices count communication that a schedule hides.
        ahead: bool,
        /// Simulated step.
        step_us: f64,
        /// Time of kernels.
        compute_us: f64,
        /// Communication that compute waits for.
        exposed_us: f64,
        /// The objective: one operation after another.
        price_us: f64,
        /// Memory peak.
        peak_bytes: i64,
        /// Bytes sent.
        wire_bytes: i64,
        /// Number of collectives, of all kinds.
        num_collectives: u64,
        /// Number of nodes that cannot follow the recipe; the planner chose their layouts.
        num_free: u64,
        /// Number of nodes of the foreign plan that the graph does not have.
        num_unknown: u64,
    }
}

impl Recipes {
    rows! {
        /// The rows; number 0 is the optimum.
        rows: RecipesRow<'_> = shw_recipes_num_rows, shw_recipes_get_row, shw_recipes_row_init;
    }

    texts! {
        /// The rows as one JSON object.
        to_json = shw_recipes_to_json;
        /// The rows as text for a person.
        to_text = shw_recipes_to_text;
        /// A chart, as an SVG document.
        to_svg = shw_recipes_to_svg;
    }
}
