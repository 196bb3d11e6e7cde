#include "import/iopddl.h"

#include <vector>

#include "import/file.h"
#include "import/json_at.h"
#include "import/json_bytes.h"

namespace shw::import {
namespace {

using solver::kForbidden;
using solver::PlacementProblem;

constexpr double kForbiddenFrom = 1e18;

Result<double> cost(const At& at) {
  SHW_ASSIGN_OR_RETURN(const double c, at.cost());
  return c >= kForbiddenFrom ? kForbidden : c;
}

template <class Read>
Result<std::vector<double>> numbers(const At& at, Read read) {
  if (!at.value->is_array()) return at.error("is not an array");
  std::vector<double> result;
  for (size_t i = 0; i < at.size(); ++i) {
    SHW_ASSIGN_OR_RETURN(const double x, read(at.item(i)));
    result.push_back(x);
  }
  return result;
}

Result<std::pair<uint32_t, uint32_t>> index_pair(const At& at, uint64_t end) {
  if (!at.value->is_array() || at.size() != 2) return at.error("is not a pair");
  SHW_ASSIGN_OR_RETURN(const uint32_t a, at.item(0).index(end));
  SHW_ASSIGN_OR_RETURN(const uint32_t b, at.item(1).index(end));
  return std::pair{a, b};
}

Status add_nodes(const At& nodes, const At& limit, PlacementProblem& problem) {
  SHW_ASSIGN_OR_RETURN(const At intervals, nodes.array("intervals"));
  SHW_ASSIGN_OR_RETURN(const At costs, nodes.array("costs"));
  SHW_ASSIGN_OR_RETURN(const At usages, nodes.array("usages"));
  if (costs.size() != intervals.size() || usages.size() != intervals.size())
    return nodes.error("intervals, costs and usages are not equally many");
  const bool limited = !limit.value->is_null();
  if (limited) {
    SHW_ASSIGN_OR_RETURN(const double most, limit.number());
    problem.add_budget(most);
  }
  for (uint32_t v = 0; v < costs.size(); ++v) {
    SHW_ASSIGN_OR_RETURN(const std::vector<double> own, numbers(costs.item(v), cost));
    problem.add_variable(own);
    SHW_ASSIGN_OR_RETURN(const auto live, index_pair(intervals.item(v), UINT32_MAX));
    SHW_ASSIGN_OR_RETURN(const std::vector<double> usage,
                         numbers(usages.item(v), [](const At& at) { return at.number(); }));
    if (usage.size() != own.size())
      return usages.item(v).error("does not have a number for each cost");
    if (limited && live.first < live.second)
      problem.add_usage(0, v, live.first, live.second, usage);
  }
  return {};
}

Status add_edges(const At& edges, PlacementProblem& problem) {
  SHW_ASSIGN_OR_RETURN(const At ends, edges.array("nodes"));
  SHW_ASSIGN_OR_RETURN(const At costs, edges.array("costs"));
  if (ends.size() != costs.size()) return edges.error("nodes and costs are not equally many");
  for (size_t e = 0; e < ends.size(); ++e) {
    SHW_ASSIGN_OR_RETURN(const auto ab, index_pair(ends.item(e), problem.num_variables()));
    SHW_ASSIGN_OR_RETURN(const std::vector<double> own, numbers(costs.item(e), cost));
    const uint32_t rows = problem.num_labels(ab.first), cols = problem.num_labels(ab.second);
    if (own.size() != size_t{rows} * cols)
      return costs.item(e).error("has " + std::to_string(own.size()) +
                                 " entries, but the nodes have " + std::to_string(rows) + " and " +
                                 std::to_string(cols) + " strategies");
    problem.add_edge(ab.first, ab.second, problem.add_matrix(rows, cols, own));
  }
  return {};
}

}  // namespace

Result<PlacementProblem> parse_iopddl(std::span<const uint8_t> bytes, const std::string& what,
                                      uint64_t max_text_bytes) {
  SHW_ASSIGN_OR_RETURN(const JsonTree json, parse_json_bytes(bytes, what, max_text_bytes));
  SHW_ASSIGN_OR_RETURN(const At file, (At{&json.root, "file"}).get("problem"));
  SHW_ASSIGN_OR_RETURN(const At nodes, file.get("nodes"));
  SHW_ASSIGN_OR_RETURN(const At edges, file.get("edges"));
  SHW_ASSIGN_OR_RETURN(const At limit, file.get("usage_limit"));
  PlacementProblem problem;
  SHW_RETURN_IF_ERROR(add_nodes(nodes, limit, problem));
  SHW_RETURN_IF_ERROR(add_edges(edges, problem));
  SHW_RETURN_IF_ERROR(problem.validate());
  return problem;
}

Result<PlacementProblem> read_iopddl(const std::string& path) {
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, read_file(path));
  return parse_iopddl(bytes, path);
}

}  // namespace shw::import
