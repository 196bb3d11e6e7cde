#include "import/problem_json.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "import/file.h"
#include "import/json_at.h"
#include "import/json_bytes.h"

namespace shw::import {
namespace {

using nlohmann::json;
using solver::kForbidden;

constexpr double kRatioTolerance = 1e-9;  // ratios are sums of products of 1/(mesh sizes)
constexpr uint64_t kMaxStrategies = 1 << 20;

struct Table {
  uint32_t rows = 0, cols = 0;
  std::vector<double> costs;
};

class Reader {
 public:
  explicit Reader(bool tied) : tied_(tied) {}
  Result<ImportedProblem> read(const json& file);

 private:
  struct Node {
    bool output = false;
    uint32_t strategies = 0, root = 0;
    std::vector<uint32_t> inputs;
  };
  Status read_matrices(const At& file);
  Status read_nodes(const At& file);
  Status read_node(const At& at, uint32_t i);
  Status add_variables(const At& file);
  Status add_edges(const At& file);
  Status add_constraints(const At& file);
  using Ratios = std::vector<std::pair<uint32_t, std::vector<double>>>;  // by node
  Status add_memory(const At& memory);
  void force_smallest(const Ratios& ratios);
  void add_ratio_budget(double limit, double sign, const Ratios& ratios);
  Result<uint32_t> edge_matrix(const At& slot, uint32_t rows, uint32_t cols);
  Result<uint32_t> placed_node(const At& at) const;

  bool tied_;
  std::vector<Table> matrices_;
  std::vector<Node> nodes_;
  std::map<std::tuple<uint32_t, uint32_t, bool>, uint32_t>
      edge_matrices_;  // by comm, trans, forbid
  ImportedProblem result_;
};

Result<ImportedProblem> Reader::read(const json& value) {
  const At file{&value, "problem"};
  SHW_ASSIGN_OR_RETURN(const At format, file.get("format"));
  if (*format.value != "ap-problem-1") return format.error("is not \"ap-problem-1\"");
  SHW_RETURN_IF_ERROR(read_matrices(file));
  SHW_RETURN_IF_ERROR(read_nodes(file));
  SHW_RETURN_IF_ERROR(add_variables(file));
  SHW_RETURN_IF_ERROR(add_edges(file));
  SHW_RETURN_IF_ERROR(add_constraints(file));
  SHW_RETURN_IF_ERROR(result_.problem.validate());
  return std::move(result_);
}

Status Reader::read_matrices(const At& file) {
  SHW_ASSIGN_OR_RETURN(const At all, file.array("matrices"));
  for (size_t m = 0; m < all.size(); ++m) {
    const At matrix = all.item(m);
    if (!matrix.value->is_array()) return matrix.error("is not an array of rows");
    Table& t = matrices_.emplace_back();
    t.rows = static_cast<uint32_t>(matrix.size());
    for (size_t i = 0; i < matrix.size(); ++i) {
      const At row = matrix.item(i);
      if (!row.value->is_array()) return row.error("is not an array");
      if (i == 0) t.cols = static_cast<uint32_t>(row.size());
      if (row.size() != t.cols) return row.error("is not as long as the first row");
      for (size_t j = 0; j < row.size(); ++j) {
        SHW_ASSIGN_OR_RETURN(const double c, row.item(j).cost());
        t.costs.push_back(c);
      }
    }
  }
  return {};
}

Status Reader::read_nodes(const At& file) {
  SHW_ASSIGN_OR_RETURN(const At all, file.array("nodes"));
  nodes_.resize(all.size());
  for (uint32_t i = 0; i < nodes_.size(); ++i) SHW_RETURN_IF_ERROR(read_node(all.item(i), i));
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    const Node& root = nodes_[nodes_[i].root];
    if (nodes_[i].output) continue;
    if (root.output || root.root != nodes_[i].root || root.strategies != nodes_[i].strategies ||
        root.inputs.size() != nodes_[i].inputs.size())
      return all.item(i).error("its root (node " + std::to_string(nodes_[i].root) +
                               ") is an output, is tied itself, or has other strategies or slots");
    for (const uint32_t p : nodes_[i].inputs)
      if (nodes_[p].output)
        return all.item(i).error("reads node " + std::to_string(p) + ", an output");
  }
  return {};
}

Status Reader::read_node(const At& at, uint32_t i) {
  Node& node = nodes_[i];
  SHW_ASSIGN_OR_RETURN(const At op, at.get("op"));
  if (!op.value->is_string()) return op.error("is not a string");
  const bool named = at.has("name") && at.value->at("name").is_string();
  result_.node_name.push_back(named ? at.value->at("name").get<std::string>()
                                    : "node " + std::to_string(i));
  node.output = *op.value == "output";
  node.root = i;
  if (node.output) return {};
  SHW_ASSIGN_OR_RETURN(const At count, at.get("n_strats"));
  SHW_ASSIGN_OR_RETURN(node.strategies, count.index(kMaxStrategies));
  if (node.strategies == 0) return count.error("is 0: a node needs a strategy");
  if (at.has("root")) {
    SHW_ASSIGN_OR_RETURN(const At root, at.get("root"));
    SHW_ASSIGN_OR_RETURN(node.root, root.index(nodes_.size()));
  }
  SHW_ASSIGN_OR_RETURN(const At inputs, at.array("inputs"));
  for (size_t s = 0; s < inputs.size(); ++s) {
    SHW_ASSIGN_OR_RETURN(const uint32_t p, inputs.item(s).index(nodes_.size()));
    node.inputs.push_back(p);
  }
  return {};
}

Status Reader::add_variables(const At& file) {
  SHW_ASSIGN_OR_RETURN(const At all, file.array("nodes"));
  std::vector<std::vector<double>> compute(nodes_.size());
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].output || nodes_[i].root != i) continue;
    SHW_ASSIGN_OR_RETURN(const At costs, all.item(i).array("compute"));
    if (costs.size() != nodes_[i].strategies) return costs.error("does not have n_strats entries");
    for (size_t s = 0; s < costs.size(); ++s) {
      SHW_ASSIGN_OR_RETURN(const double c, costs.item(s).cost());
      compute[i].push_back(c);
    }
  }
  result_.variable.assign(nodes_.size(), ImportedProblem::kNoVariable);
  for (uint32_t i = 0; i < nodes_.size(); ++i)
    if (!nodes_[i].output && (!tied_ || nodes_[i].root == i))
      result_.variable[i] = result_.problem.add_variable(compute[nodes_[i].root]);
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].output || result_.variable[i] != ImportedProblem::kNoVariable) continue;
    result_.variable[i] = result_.variable[nodes_[i].root];
    result_.problem.add_unary(result_.variable[i], compute[nodes_[i].root]);
  }
  return {};
}

Result<uint32_t> Reader::edge_matrix(const At& slot, uint32_t rows, uint32_t cols) {
  SHW_ASSIGN_OR_RETURN(const At comm_at, slot.get("comm"));
  SHW_ASSIGN_OR_RETURN(const At trans_at, slot.get("trans"));
  SHW_ASSIGN_OR_RETURN(const uint32_t c, comm_at.index(matrices_.size()));
  SHW_ASSIGN_OR_RETURN(const uint32_t t, trans_at.index(matrices_.size()));
  bool forbid = false;
  if (slot.has("forbid_comm_gt0")) {
    const json& flag = slot.value->at("forbid_comm_gt0");
    if (!flag.is_boolean()) return slot.error("forbid_comm_gt0 is not a truth value");
    forbid = flag.get<bool>();
  }
  const Table &comm = matrices_[c], &trans = matrices_[t];
  for (const auto& [table, index] : {std::pair{&comm, c}, std::pair{&trans, t}})
    if (table->rows != rows || table->cols != cols)
      return slot.error("matrix " + std::to_string(index) + " is " + std::to_string(table->rows) +
                        " × " + std::to_string(table->cols) + ", but the nodes have " +
                        std::to_string(rows) + " and " + std::to_string(cols) + " strategies");
  const auto [known, added] = edge_matrices_.try_emplace({c, t, forbid}, 0);
  if (!added) return known->second;
  std::vector<double> costs(comm.costs.size());
  for (size_t i = 0; i < costs.size(); ++i)
    costs[i] = forbid && comm.costs[i] > 0 ? kForbidden : comm.costs[i] + trans.costs[i];
  return known->second = result_.problem.add_matrix(rows, cols, costs);
}

Status Reader::add_edges(const At& file) {
  SHW_ASSIGN_OR_RETURN(const At all, file.array("nodes"));
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (node.output || node.inputs.empty()) continue;
    SHW_ASSIGN_OR_RETURN(const At slots, all.item(node.root).array("arg_cost"));
    if (slots.size() < node.inputs.size())
      return slots.error("has fewer entries than the node has inputs");
    for (uint32_t s = 0; s < node.inputs.size(); ++s) {
      const uint32_t producer = node.inputs[s];
      SHW_ASSIGN_OR_RETURN(const uint32_t m, edge_matrix(slots.item(s), node.strategies,
                                                         nodes_[producer].strategies));
      result_.problem.add_edge(result_.variable[i], result_.variable[producer], m);
    }
  }
  return {};
}

Result<uint32_t> Reader::placed_node(const At& at) const {
  SHW_ASSIGN_OR_RETURN(const uint32_t i, at.index(nodes_.size()));
  if (nodes_[i].output) return at.error("names an output");
  return i;
}

Status Reader::add_constraints(const At& file) {
  SHW_ASSIGN_OR_RETURN(const At constraints, file.get("constraints"));
  SHW_ASSIGN_OR_RETURN(const At pins, constraints.array("node"));
  for (size_t n = 0; n < pins.size(); ++n) {
    SHW_ASSIGN_OR_RETURN(const At node, pins.item(n).get("node"));
    SHW_ASSIGN_OR_RETURN(const At allowed, pins.item(n).array("allowed"));
    SHW_ASSIGN_OR_RETURN(const uint32_t i, placed_node(node));
    std::vector<double> costs(nodes_[i].strategies, kForbidden);
    for (size_t k = 0; k < allowed.size(); ++k) {
      SHW_ASSIGN_OR_RETURN(const uint32_t s, allowed.item(k).index(costs.size()));
      costs[s] = 0;
    }
    result_.problem.add_unary(result_.variable[i], costs);
  }
  SHW_ASSIGN_OR_RETURN(const At paired, constraints.array("paired"));
  for (size_t n = 0; n < paired.size(); ++n) {
    SHW_ASSIGN_OR_RETURN(const At at_a, paired.item(n).get("a"));
    SHW_ASSIGN_OR_RETURN(const At at_b, paired.item(n).get("b"));
    SHW_ASSIGN_OR_RETURN(const At pairs, paired.item(n).array("pairs"));
    SHW_ASSIGN_OR_RETURN(const uint32_t a, placed_node(at_a));
    SHW_ASSIGN_OR_RETURN(const uint32_t b, placed_node(at_b));
    const uint32_t rows = nodes_[a].strategies, cols = nodes_[b].strategies;
    std::vector<double> costs(size_t{rows} * cols, kForbidden);
    for (size_t k = 0; k < pairs.size(); ++k) {
      const At pair = pairs.item(k);
      if (!pair.value->is_array() || pair.size() != 2) return pair.error("is not a pair");
      SHW_ASSIGN_OR_RETURN(const uint32_t x, pair.item(0).index(rows));
      SHW_ASSIGN_OR_RETURN(const uint32_t y, pair.item(1).index(cols));
      costs[size_t{x} * cols + y] = 0;
    }
    result_.problem.add_edge(result_.variable[a], result_.variable[b],
                             result_.problem.add_matrix(rows, cols, costs));
  }
  if (!constraints.has("memory")) return {};
  SHW_ASSIGN_OR_RETURN(const At memory, constraints.get("memory"));
  return add_memory(memory);
}

Status Reader::add_memory(const At& memory) {
  SHW_ASSIGN_OR_RETURN(const At coeffs, memory.array("coeffs"));
  SHW_ASSIGN_OR_RETURN(const At high_at, memory.get("high"));
  SHW_ASSIGN_OR_RETURN(const double high, high_at.number());
  double low = 0;
  if (memory.has("low")) {
    SHW_ASSIGN_OR_RETURN(const At low_at, memory.get("low"));
    SHW_ASSIGN_OR_RETURN(low, low_at.number());
  }
  double smallest_total = 0;
  double next_step = kForbidden;  // lower bound on the cost of leaving the minimum, over all nodes
  Ratios ratios;
  for (size_t n = 0; n < coeffs.size(); ++n) {
    const At entry = coeffs.item(n);
    if (!entry.value->is_array() || entry.size() != 2 || !(*entry.value)[1].is_array())
      return entry.error("is not [node, ratios]");
    SHW_ASSIGN_OR_RETURN(const uint32_t i, placed_node(entry.item(0)));
    const At ratios_at = entry.item(1);
    if (ratios_at.size() != nodes_[i].strategies)
      return ratios_at.error("does not have n_strats entries");
    ratios.emplace_back(i, std::vector<double>());
    for (size_t s = 0; s < ratios_at.size(); ++s) {
      SHW_ASSIGN_OR_RETURN(const double r, ratios_at.item(s).number());
      ratios.back().second.push_back(r);
    }
    const double least = *std::ranges::min_element(ratios.back().second);
    smallest_total += least;
    for (const double r : ratios.back().second)
      if (r > least + kRatioTolerance) next_step = std::min(next_step, r - least);
  }
  const double tolerance = kRatioTolerance * std::max(1.0, std::abs(smallest_total));
  if (high < smallest_total - tolerance)
    return failed_precondition(memory.place + ": the budget is " + std::to_string(high) +
                               ", but the smallest ratios add up to " +
                               std::to_string(smallest_total));
  if (high - smallest_total < next_step - tolerance && low <= smallest_total + tolerance) {
    force_smallest(ratios);
    return {};
  }
  add_ratio_budget(high + tolerance, 1, ratios);
  if (low > smallest_total + tolerance) add_ratio_budget(tolerance - low, -1, ratios);
  return {};
}

// A budget that permits only the smallest ratio of every node.
void Reader::force_smallest(const Ratios& ratios) {
  for (const auto& [node, own] : ratios) {
    const double least = *std::ranges::min_element(own);
    std::vector<double> costs;
    for (const double r : own) costs.push_back(r > least + kRatioTolerance ? kForbidden : 0);
    result_.problem.add_unary(result_.variable[node], costs);
  }
}

// Σ sign · ratio ≤ limit.
void Reader::add_ratio_budget(double limit, double sign, const Ratios& ratios) {
  const uint32_t budget = result_.problem.add_budget(limit);
  for (const auto& [node, own] : ratios) {
    std::vector<double> usage;
    for (const double r : own) usage.push_back(sign * r);
    result_.problem.add_usage(budget, result_.variable[node], 0, 1, usage);
  }
}

}  // namespace

Result<ImportedProblem> parse_problem(std::span<const uint8_t> bytes, const std::string& what,
                                      bool tied, uint64_t max_text_bytes) {
  SHW_ASSIGN_OR_RETURN(const JsonTree file, parse_json_bytes(bytes, what, max_text_bytes));
  return Reader(tied).read(file.root);
}

Result<ImportedProblem> read_problem(const std::string& path, bool tied) {
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, read_file(path));
  return parse_problem(bytes, path, tied);
}

}  // namespace shw::import
