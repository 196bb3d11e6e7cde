// Which mesh dim cuts first where several cut one tensor dim.
//
// The planner says S(0)S(0) and leaves the order open: any will do as long as producer and consumer
// agree, but some make the way between two layouts one collective and others three. With the inner
// mesh dim cutting first, a parameter's S(0)S(0) → RS(0) is one all-gather and its gradient's
// PS(0) → S(0)S(0) one reduce-scatter. The reference hard-codes that pattern; here
// the orders are chosen for all values at once: one variable per node with a tensor dim that is cut
// more than once, one label per order, an edge wherever such a node is joined to another, weighed
// by the redistribution planner. It is the placement problem again, small, and solved by its
// solver.
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

// Sets the orders in `assignment`; placements stay. Without mesh dims that cut one tensor dim
// together, nothing changes.
// FAILED_PRECONDITION: the rules leave no orders that fit together; INVALID_ARGUMENT: none for a
// node.
Status choose_shard_orders(const Graph& graph, Redistributor& redistributor,
                           std::span<const OrderRule> rules, Assignment& assignment,
                           Monitor& monitor);

}  // namespace shw
