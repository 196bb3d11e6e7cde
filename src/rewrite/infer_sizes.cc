#include "rewrite/infer_sizes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "rewrite/at_sizes.h"
#include "rewrite/verify.h"

namespace shw {
namespace {

using Sizes = std::vector<int64_t>;  // one a symbol
using Types = std::vector<std::optional<TensorType>>;

// The smallest and the largest size that a symbol can have.
int64_t first_size(const Symbol& s) {
  return s.min % s.divisor == 0 ? s.min : s.min + (s.divisor - s.min % s.divisor);
}
int64_t last_size(const Symbol& s) { return s.max - s.max % s.divisor; }

// Sizes other than the hint, the nearest first.
std::vector<int64_t> other_sizes(const Symbol& s) {
  const int64_t first = first_size(s), last = last_size(s);
  std::vector<int64_t> sizes;
  if (s.hint != last) sizes = {s.hint + s.divisor, last};
  if (s.hint != first) sizes.insert(sizes.end(), {s.hint - s.divisor, first});
  return sizes;
}

class Inference {
 public:
  Inference(const Graph& graph, OpKind op, std::span<const NodeId> operands, const Attrs& attrs,
            const SymbolicAttrs& symbolic, std::span<const std::optional<TensorType>> results)
      : graph_(graph),
        op_(op),
        operands_(operands),
        attrs_(attrs),
        symbolic_(symbolic),
        at_hints_(results),
        symbols_(graph.symbols().table),
        hints_(hints_of(symbols_)) {
    for (const auto& [key, value] : symbolic) note(value.exprs);
    for (NodeId o : operands)
      for (uint32_t r = 0; o.valid() && r < graph.results(o).size(); ++r)
        if (const Exprs* exprs = sizes_of(o, r)) note(*exprs);
  }

  Result<std::vector<Exprs>> run() {
    std::vector<Exprs> sizes(at_hints_.size());
    if (used_.empty()) return sizes;
    for (size_t r = 0; r < at_hints_.size(); ++r)
      for (size_t d = 0; at_hints_[r] && d < at_hints_[r]->shape.size(); ++d)
        sizes[r].push_back({at_hints_[r]->shape[d], {}});
    for (uint32_t symbol : used_) SHW_RETURN_IF_ERROR(add_factors(symbol, sizes));
    SHW_RETURN_IF_ERROR(check(sizes));
    for (Exprs& exprs : sizes)
      if (!has_symbols(exprs)) exprs.clear();
    return sizes;
  }

 private:
  void note(std::span<const Expr> exprs) {
    for (const Expr& e : exprs)
      for (const auto& [symbol, factor] : e.terms) used_.insert(symbol);
  }

  const Exprs* sizes_of(NodeId n, uint32_t result) const {
    const auto it = graph_.symbols().shapes.find({n.v, result});
    return it == graph_.symbols().shapes.end() ? nullptr : &it->second;
  }

  // The result types at these sizes of the symbols.
  Result<Types> results_at(const Sizes& sizes) const {
    Graph probe;
    std::vector<NodeId> operands;
    for (NodeId o : operands_) {
      operands.push_back(kNoNode);
      if (!o.valid()) continue;
      Types types(graph_.results(o).begin(), graph_.results(o).end());
      for (uint32_t r = 0; r < types.size(); ++r)
        if (const Exprs* exprs = sizes_of(o, r); exprs != nullptr && types[r]) {
          SHW_ASSIGN_OR_RETURN(types[r], type_at(*types[r], *exprs, sizes, symbols_));
        }
      operands.back() =
          probe.add_node(graph_.op(o), graph_.name(o), {}, {}, types, graph_.is_tuple(o), {});
    }
    Attrs attrs = attrs_;
    for (const auto& [key, value] : symbolic_)
      SHW_RETURN_IF_ERROR(set_at(key, value, sizes, attrs));
    SHW_ASSIGN_OR_RETURN(Types types, infer_results(probe, op_, operands, attrs));
    for (size_t r = 0; r < at_hints_.size(); ++r)
      if (r >= types.size() || types[r].has_value() != at_hints_[r].has_value() ||
          (types[r] && types[r]->shape.size() != at_hints_[r]->shape.size()))
        return invalid_argument("result " + std::to_string(r) + " has other dims than at " +
                                text(hints_));
    return types;
  }

  // The sizes of the relevant symbols, for messages.
  std::string text(Sizes sizes) const {
    for (uint32_t s = 0; s < sizes.size(); ++s)
      if (!used_.contains(s)) sizes[s] = -1;
    return sizes_text(sizes, symbols_);
  }
  Status at(const Sizes& sizes, const Status& s) const {
    return {s.code(), "at " + text(sizes) + ": " + s.message()};
  }

  // Adds the factor of the symbol to each size.
  Status add_factors(uint32_t symbol, std::vector<Exprs>& exprs) const {
    const Symbol& s = symbols_[symbol];
    Status failed;
    for (const int64_t other : other_sizes(s)) {
      Sizes sizes = hints_;
      sizes[symbol] = other;
      const Result<Types> types = results_at(sizes);
      if (!types.ok()) {
        if (failed.ok()) failed = at(sizes, types.status());
        continue;
      }
      for (size_t r = 0; r < exprs.size(); ++r)
        for (size_t d = 0; d < exprs[r].size(); ++d) {
          const int64_t grown = (*types)[r]->shape[d] - at_hints_[r]->shape[d];
          if (grown % (other - s.hint) != 0) return not_affine(r, d);
          const int64_t factor = grown / (other - s.hint);
          if (factor == 0) continue;
          int64_t part = 0;
          if (__builtin_mul_overflow(factor, s.hint, &part) ||
              __builtin_sub_overflow(exprs[r][d].constant, part, &exprs[r][d].constant))
            return not_affine(r, d);
          exprs[r][d].terms.emplace_back(symbol, factor);
        }
      return {};
    }
    return failed;  // or the symbol has only one size
  }

  // Checks the expressions at the extreme sizes. If the node itself is not valid there, the planner
  // reports it when a bucket of these sizes is requested.
  Status check(const std::vector<Exprs>& exprs) const {
    Sizes smallest = hints_, largest = hints_, farthest = hints_;
    for (uint32_t s : used_) {
      smallest[s] = first_size(symbols_[s]);
      largest[s] = last_size(symbols_[s]);
      farthest[s] = hints_[s] - smallest[s] > largest[s] - hints_[s] ? smallest[s] : largest[s];
    }
    for (const Sizes& sizes : {smallest, largest, farthest}) {
      const Result<Types> types = results_at(sizes);
      if (!types.ok()) continue;
      for (size_t r = 0; r < exprs.size(); ++r)
        for (size_t d = 0; d < exprs[r].size(); ++d)
          if (value_of(exprs[r][d], sizes) != (*types)[r]->shape[d])
            return at(sizes, not_affine(r, d));
    }
    return {};
  }

  Status not_affine(size_t result, size_t dim) const {
    return invalid_argument("the size of dim " + std::to_string(dim) + " of result " +
                            std::to_string(result) + " is no affine expression of the symbols");
  }

  const Graph& graph_;
  const OpKind op_;
  const std::span<const NodeId> operands_;
  const Attrs& attrs_;
  const SymbolicAttrs& symbolic_;
  const std::span<const std::optional<TensorType>> at_hints_;
  const std::span<const Symbol> symbols_;
  const Sizes hints_;
  std::set<uint32_t> used_;  // symbols that the operands' sizes and the attributes depend on
};

}  // namespace

Result<std::vector<Exprs>> infer_sizes(const Graph& graph, OpKind op,
                                       std::span<const NodeId> operands, const Attrs& attrs,
                                       const SymbolicAttrs& symbolic,
                                       std::span<const std::optional<TensorType>> results) {
  return Inference(graph, op, operands, attrs, symbolic, results).run();
}

}  // namespace shw
