// Chooses which mesh dim cuts first where several cut one tensor dim.
//
// A layout such as S(0)S(0) may leave the order open. Any order is valid as long as producer and
// consumer agree. But with some orders a change of layout is one collective, with others three. If
// the inner mesh dim cuts first, a parameter's S(0)S(0) → RS(0) is one all-gather, and its
// gradient's PS(0) → S(0)S(0) is one reduce-scatter. The reference planner hard-codes that pattern.
// Here the orders of all values are chosen together, as a small placement problem: a variable for
// each node with a tensor dim that is cut more than once, a label for each order, and an edge
// between each such node and its neighbours, with prices from the redistribution planner. The
// solver for placements solves it.
//
// A parameter and its gradient get the same order. Every other input, and every other output, keeps
// the default order, which callers expect, unless a rule states another.
#pragma once
#include "graph/graph.h"
#include "redistribution/redistributor.h"
#include "sharding/layout.h"
#include "strategy/assignment.h"
#include "strategy/order_rule.h"
#include "support/monitor.h"

namespace shw {

// Sets the orders in `assignment`, and keeps the placements. Changes nothing if no tensor dim is
// cut by several mesh dims. FAILED_PRECONDITION: no orders of all nodes together satisfy the rules.
// INVALID_ARGUMENT: no order of one node does.
Status choose_shard_orders(const Graph& graph, Redistributor& redistributor,
                           std::span<const OrderRule> rules, Assignment& assignment,
                           Monitor& monitor);

}  // namespace shw
