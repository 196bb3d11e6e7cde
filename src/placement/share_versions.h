// Adds versions that several uses of a value share to the placement problem. Each version is a
// variable. Its labels are the layouts of the choice point that its uses read. A use that a version
// serves pays for the change of layout from the version, instead of that from its choice point.
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

// `problem` has the variables and edges of priced_problem(). The versions become its next
// variables, in the order of shared.versions.
void add_shared_versions(const Graph& graph, const Strategies& strategies,
                         const SharedVersions& shared, const std::vector<bool>& no_comm,
                         Pricer& pricer, solver::PlacementProblem& problem);

// Converts between the layouts of versions and their labels. nullopt: a version has a layout that
// its choice point cannot have.
std::optional<std::vector<uint32_t>> labels_of(const Graph& graph, const Strategies& strategies,
                                               const SharedVersions& shared);
SharedVersions with_labels(const Graph& graph, const Strategies& strategies, SharedVersions shared,
                           std::span<const uint32_t> labels);

}  // namespace shw
