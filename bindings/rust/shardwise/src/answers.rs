//! What a planner answers: why, what else, and at what price.

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
        /// In both plans, or in one.
        name: &'a str,
        /// Layout of its result; "" if that does not differ.
        from: &'a str,
        /// Likewise.
        to: &'a str,
        /// In what it differs.
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
        /// As one JSON object.
        to_json = shw_comparison_to_json;
        /// For a person.
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
        /// "": none
        module_path: &'a str,
        /// That was chosen: "(S(0)R, RS(1)) -> S(0)S(1)".
        strategy: &'a str,
        /// Forward or backward.
        phase: Phase,
        /// Of the plan.
        proven: bool,
        /// Of the node.
        compute_us: f64,
        /// Of the edges into it.
        communication_us: f64,
        /// Likewise.
        transition_us: f64,
        /// Of the plan.
        objective_us: f64,
        /// Of the plan.
        bound_us: f64,
        /// The cheapest alternative that was not chosen.
        second_best: Option<usize>,
        /// Of the plan, simulated, with `Overlap::Simulated`; else 0.
        step_us: f64,
    }
}

record! {
    /// A layout that the node's result could have.
    ExplanationAlternative<'a>, shw_explanation_alternative(raw) {
        /// "S(0)R"
        layout: &'a str,
        /// By the plan.
        chosen: bool,
        /// The plan was solved again with this layout; only then the fields from `possible` on are set.
        forced: bool,
        /// Of the node that have this layout.
        num_strategies: usize,
        /// Lower bound of all plans that have it; infinity: no plan has it.
        floor_us: f64,
        /// False: no plan has it.
        possible: bool,
        /// The objective equals the bound.
        proven: bool,
        /// Of the best plan that has it.
        objective_us: f64,
        /// Likewise.
        bound_us: f64,
        /// Of the node in that plan.
        strategy: &'a str,
        /// Whose strategy differs there.
        changed_nodes: usize,
        /// Of that plan, simulated, with `Overlap::Simulated`; else 0.
        step_us: f64,
    }
}

record! {
    /// A strategy of the node.
    ExplanationStrategy<'a>, shw_explanation_strategy(raw) {
        /// "(S(0)R, RS(1)) -> S(0)S(1)"
        name: &'a str,
        /// By the plan.
        chosen: bool,
        /// Of the node.
        compute_us: f64,
        /// Lower bound of all plans that have it; infinity: no plan has it.
        floor_us: f64,
    }
}

record! {
    /// An edge of the graph, and the layout change on it.
    ExplanationEdge<'a>, shw_explanation_edge(raw) {
        /// Node.
        producer: &'a str,
        /// Node.
        consumer: &'a str,
        /// Of the consumer.
        operand: usize,
        /// Layout of the producer's result.
        from: &'a str,
        /// Layout that the consumer needs.
        to: &'a str,
        /// Of the change.
        communication_us: f64,
        /// Likewise.
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
        /// As one JSON object.
        to_json = shw_explanation_to_json;
        /// For a person.
        to_text = shw_explanation_to_text;
    }
}

handle! {
    /// What a whole plan pays for, and how far prices may change before another one is better. Immutable.
    PlanExplanation, shw_plan_explanation, shw_plan_explanation_destroy, { Send, Sync }
}

record! {
    /// Costs, and how far prices may change.
    PlanExplanationSummary, shw_plan_explanation_summary(raw) {
        /// Of the plan.
        objective_us: f64,
        /// Of kernels.
        compute_us: f64,
        /// Of layout changes.
        communication_us: f64,
        /// Likewise.
        transition_us: f64,
        /// Proven.
        bound_us: f64,
        /// That communicate.
        num_paying_edges: usize,
        /// The objective equals the bound.
        proven: bool,
        /// False: a solve ended without proof; the range of factors may be smaller.
        factor_exact: bool,
        /// The plan stays optimal while all communication costs are multiplied by a factor from here …
        factor_from: f64,
        /// … to here.
        factor_to: f64,
        /// The plan is optimal for limits from its own peak …
        memory_from_bytes: f64,
        /// … up to this one.
        memory_to_at_least_bytes: f64,
        /// Here a cheaper plan fits; infinity: at no limit.
        memory_to_below_bytes: f64,
        /// False: a solve ended without proof; the range of limits may be smaller.
        memory_exact: bool,
    }
}

record! {
    /// A plan that is better outside the range of factors. Costs are at today's prices.
    PlanExplanationRival, shw_plan_explanation_rival(raw) {
        /// Where it ties: an end of the range.
        factor: f64,
        /// Of kernels.
        compute_us: f64,
        /// Of layout changes.
        communication_us: f64,
        /// Likewise.
        transition_us: f64,
        /// Whose strategy differs there.
        changed_nodes: usize,
    }
}

record! {
    /// Edges that are alike.
    PlanExplanationGroup<'a>, shw_plan_explanation_group(raw) {
        /// Of the consumers, with numbers as *.
        module_path: &'a str,
        /// Operation.
        producer: &'a str,
        /// Operation.
        consumer: &'a str,
        /// Layout of the producer's result.
        from: &'a str,
        /// Layout that the consumer needs.
        to: &'a str,
        /// Of edges.
        count: usize,
        /// Of all.
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
        /// The edges that pay most, the dearest first.
        edges: ExplanationEdge<'_> =
            shw_plan_explanation_num_edges, shw_plan_explanation_get_edge, shw_explanation_edge_init;
        /// Groups of all edges that communicate, the dearest first.
        groups: PlanExplanationGroup<'_> =
            shw_plan_explanation_num_groups, shw_plan_explanation_get_group, shw_plan_explanation_group_init;
    }

    texts! {
        /// As one JSON object.
        to_json = shw_plan_explanation_to_json;
        /// For a person.
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
        /// 0: none.
        limit_bytes: i64,
        /// Of one rank, as the planner counts it.
        peak_bytes: i64,
        /// That the lowered program needs; 0: not known.
        program_bytes: i64,
        /// Modelled cost of a step.
        objective_us: f64,
        /// Proven lower bound under this limit.
        bound_us: f64,
        /// The objective equals the bound.
        proven: bool,
        /// Saved if the limit were one GiB higher, at the margin.
        price_us_per_gib: f64,
        /// Simulated, with `Overlap::Simulated`; else 0.
        step_us: f64,
    }
}

impl Pareto {
    rows! {
        /// The points; number 0 has the most memory and is the fastest.
        points: ParetoPoint = shw_pareto_num_points, shw_pareto_get_point, shw_pareto_point_init;
    }

    texts! {
        /// As one JSON object.
        to_json = shw_pareto_to_json;
        /// For a person.
        to_text = shw_pareto_to_text;
        /// A chart, as an SVG document.
        to_svg = shw_pareto_to_svg;
    }
}

handle! {
    /// A model planned by well-known recipes, beside the optimum. Immutable.
    Recipes, shw_recipes, shw_recipes_destroy, { Send, Sync }
}

record! {
    /// One plan: figures of one rank, 0 where there is none.
    RecipesRow<'a>, shw_recipes_row(raw) {
        /// "fsdp".
        name: &'a str,
        /// What it is.
        title: &'a str,
        /// Why there is no plan; "": there is one.
        why_not: &'a str,
        /// From the optimum, in a line.
        difference: &'a str,
        /// Where the plan comes from.
        kind: RecipeKind,
        /// The cheapest of its kind.
        proven: bool,
        /// Simulated faster than the optimum, whose price does not know what a schedule hides.
        ahead: bool,
        /// Simulated.
        step_us: f64,
        /// Of kernels.
        compute_us: f64,
        /// Communication that compute waits for.
        exposed_us: f64,
        /// The objective: one operation after another.
        price_us: f64,
        /// Of memory.
        peak_bytes: i64,
        /// Sent.
        wire_bytes: i64,
        /// Of all kinds.
        num_collectives: u64,
        /// Nodes that cannot do what the recipe says.
        num_free: u64,
        /// Nodes of the foreign plan that the graph does not have.
        num_unknown: u64,
    }
}

impl Recipes {
    rows! {
        /// The rows; number 0 is the optimum.
        rows: RecipesRow<'_> = shw_recipes_num_rows, shw_recipes_get_row, shw_recipes_row_init;
    }

    texts! {
        /// As one JSON object.
        to_json = shw_recipes_to_json;
        /// For a person.
        to_text = shw_recipes_to_text;
        /// A chart, as an SVG document.
        to_svg = shw_recipes_to_svg;
    }
}
