// Versions that several uses of a value share, as variables of the placement problem: the labels of
// one are the layouts of the choice point behind its uses. Uses that it serves pay for the way from
// it in place of the way from their choice point.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "placement/pricing.h"
#include "solver/problem.h"
#include "strategy/shared_versions.h"
#include "strategy/strategies.h"

namespace shw {

// `problem` has the variables and edges of priced_problem(); the versions become its next
// variables, in their order.
void add_shared_versions(const Graph& graph, const Strategies& strategies,
                         const SharedVersions& shared, const std::vector<bool>& no_comm,
                         Pricer& pricer, solver::PlacementProblem& problem);

// The versions in the layouts of their labels.
// Their labels. None: a version lies as its choice point cannot.
std::optional<std::vector<uint32_t>> labels_of(const Graph& graph, const Strategies& strategies,
                                               const SharedVersions& shared);
SharedVersions with_labels(const Graph& graph, const Strategies& strategies, SharedVersions shared,
                           std::span<const uint32_t> labels);

}  // namespace shw
