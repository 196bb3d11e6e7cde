#include "strategy/strategies.h"

#include <algorithm>

#include "ops/op_def.h"
#include "strategy/alternatives.h"
#include "strategy/compose.h"
#include "strategy/shard_orders.h"
#include "strategy/strided_rules.h"
#include "support/hash.h"

namespace shw {
namespace {

// Removes rows equal to an earlier one.
void drop_duplicates(StrategyTable& table) {
  const size_t width = table.width();
  std::unordered_multimap<uint64_t, size_t> seen;
  size_t kept = 0;
  for (size_t i = 0; i < table.count(); ++i) {
    const auto row = [&](size_t r) {
      return table.rows.begin() + static_cast<ptrdiff_t>(r * width);
    };
    const uint64_t h = hash_bytes(&*row(i), width * sizeof(Layout));
    const auto [first, last] = seen.equal_range(h);
    if (std::any_of(first, last, [&](const auto& s) {
          return std::equal(row(i), row(i) + static_cast<ptrdiff_t>(width), row(s.second));
        }))
      continue;
    seen.emplace(h, kept);
    std::copy(row(i), row(i) + static_cast<ptrdiff_t>(width), row(kept));
    ++kept;
  }
  table.rows.resize(kept * width);
}

// Whether a cast preserves a partial value: sums and averages only if it is (nearly) linear,
// nothing if it is to bool.
bool cast_keeps(const Layout& layout, Dtype from, Dtype to) {
  for (Placement p : layout.placement) {
    if (!p.is_partial()) continue;
    const bool additive = p.kind == Placement::Kind::kMasked || p.reduce_op() == ReduceOp::kSum ||
                          p.reduce_op() == ReduceOp::kAvg;
    const auto inexact = [](Dtype d) { return is_floating(d) || is_complex(d); };
    if (to == Dtype::kBool || (additive && inexact(from) && !inexact(to))) return false;
  }
  return true;
}

// A dim that changes its size, because a view joins or splits it, must be cut evenly on both sides.
// Only then does a rank's piece of one correspond to its piece of the other.
bool keeps_blocks(const Followed& f, const Dims& operand, const Dims& result, const Mesh& mesh) {
  for (int m = 0; m < mesh.rank(); ++m) {
    if (!f.operand[m].is_shard() || !f.result[m].is_shard()) continue;
    const auto from = static_cast<size_t>(f.operand[m].dim()),
               to = static_cast<size_t>(f.result[m].dim());
    if (operand[from] != result[to] &&
        !(cuts_evenly(operand, f.operand, mesh, from) && cuts_evenly(result, f.result, mesh, to)))
      return false;
  }
  return true;
}

// 8-bit floats are never partial, since ranks cannot reduce them.
bool has_parts_of_float8(const OptionalType& type, const Layout& layout) {
  return type && is_float8(type->dtype) &&
         std::ranges::any_of(layout.placement, [](Placement p) { return p.is_partial(); });
}

// Removes rules that would reduce 8-bit floats and, under `full`, rules that would sum partial
// truth values: cumsum accepts truth values, but its rule for partial operands is valid for numbers
// only.
RuleSet without_parts(const RuleSet& rules, std::span<const OptionalType> results,
                      std::span<const OptionalType> operands, Rules mode) {
  const auto may_be = [&](size_t k, Placement p) {
    const OptionalType& t = k < results.size() ? results[k] : operands[k - results.size()];
    if (!t || !p.is_partial()) return true;
    if (is_float8(t->dtype)) return false;
    return mode != Rules::kFull || t->dtype != Dtype::kBool ||
           !(p == Placement::partial(ReduceOp::kSum) || p == Placement::partial(ReduceOp::kAvg));
  };
  RuleSet kept(results.size(), operands.size());
  if (rules.replicate_last()) kept.put_replicate_last();
  for (size_t i = 0; i < rules.size(); ++i) {
    const auto rule = rules.rule(i);
    bool sound = true;
    for (size_t k = 0; k < rule.size(); ++k) sound = sound && may_be(k, rule[k]);
    if (sound) kept.add(rule.first(results.size()), rule.subspan(results.size()), rules.blocks(i));
  }
  return kept;
}

class Enumerator {
 public:
  Enumerator(const Graph& graph, const Mesh& mesh, const StrategyOptions& options, Strategies& out,
             LayoutPool& pool, IndexVec<StrategySetId, StrategySet>& sets)
      : graph_(graph),
        mesh_(mesh),
        mode_(options.rules),
        reachable_only_(options.reachable_only),
        strided_(options.strided),
        is_output_(graph.num_nodes(), false),
        out_(out),
        pool_(pool),
        sets_(sets) {
    if (options.shard_orders) orders_.emplace(graph, mesh, options.ordered);
    for (const OutputInfo& o : graph.outputs())
      if (o.node.valid()) is_output_[o.node.v] = true;
  }

  Result<StrategySetId> set_for(NodeId n) {
    const OpDef& def = op_def(graph_.op(n));
    const auto operands = operand_types(graph_, n);
    const uint64_t key = class_key(n, def, operands);
    if (const auto it = by_class_.find(key); it != by_class_.end()) return it->second;
    SHW_ASSIGN_OR_RETURN(StrategyTable table, table_for(n, def, operands));
    if (strided_ && is_output_[n.v]) drop_strided_results(table);
    if (offers_orders(n, def)) orders_->add(graph_.results(n), operands, table);
    if (table.count() == 0)
      return internal_error(std::string("op ") + std::string(op_name(graph_.op(n))) +
                            " has no strategy");
    const StrategySetId id = store(n, table);
    by_class_.emplace(key, id);
    return id;
  }

 private:
  bool offers_orders(NodeId n, const OpDef& def) const {
    return orders_ && orders_->offered(n) && def.sharding != Sharding::kDeclared;
  }

  // Nodes with equal keys have equal strategies. XXH3-64 over a few thousand classes: collisions
  // are negligible.
  uint64_t class_key(NodeId n, const OpDef& def, std::span<const OptionalType> operands) {
    uint64_t h = hash_combine(static_cast<uint64_t>(def.kind), hash_of(graph_.attrs(n)));
    for (const OptionalType& t : operands) h = hash_combine(h, t ? hash_of(*t) : 1);
    for (const OptionalType& t : graph_.results(n)) h = hash_combine(h, t ? hash_of(*t) : 2);
    if (def.sharding == Sharding::kFollow || def.sharding == Sharding::kElement)
      h = hash_combine(h, out_.produced(graph_, n, 0).v);
    if ((reachable_only_ && def.sharding == Sharding::kRules) ||
        def.sharding == Sharding::kDeclared)
      for (const PartialKinds& kinds : produced_partials(n))
        h = hash_bytes(kinds.on.data(), kinds.on.size(), h);
    if (orders_) h = hash_combine(h, orders_->offered(n));
    if (!strided_) return h;
    for (const auto& factors : factors_seen(n, def)) h = hash_span(std::span(factors), h);
    return hash_combine(h, is_output_[n.v]);
  }

  // The strided shards that the producers of the operands offer; none if the op cannot use them.
  SeenFactors factors_seen(NodeId n, const OpDef& def) {
    const auto operands = graph_.operands(n);
    SeenFactors seen(operands.size());
    const bool takes_strided = (def.takes_strided && !def.needs_position(graph_.attrs(n))) ||
                               def.sharding == Sharding::kFree;
    if (!strided_ || !takes_strided) return seen;
    for (size_t k = 0; k < operands.size(); ++k)
      if (operands[k].valid()) seen[k] = factors_.of(out_.produced(graph_, n, k), pool_);
    return seen;
  }

  // Callers see plain shards only.
  static void drop_strided_results(StrategyTable& table) {
    size_t kept = 0;
    for (size_t i = 0; i < table.count(); ++i) {
      const auto row = table.rows.begin() + static_cast<ptrdiff_t>(i * table.width());
      if (std::any_of(row, row + static_cast<ptrdiff_t>(table.num_results),
                      [](const Layout& l) { return l.has_strided(); }))
        continue;
      std::copy_n(row, table.width(),
                  table.rows.begin() + static_cast<ptrdiff_t>(kept++ * table.width()));
    }
    table.rows.resize(kept * table.width());
  }

  // By operand; absent operands impose nothing.
  std::vector<PartialKinds> produced_partials(NodeId n) const {
    const auto operands = graph_.operands(n);
    std::vector<PartialKinds> kinds(operands.size());
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!operands[k].valid()) continue;
      const LayoutListId list = out_.produced(graph_, n, k);
      auto [it, is_new] = partials_.try_emplace(list.v);
      if (is_new)
        for (LayoutId id : pool_.list(list)) it->second.add(pool_.layout(id));
      kinds[k] = it->second;
    }
    return kinds;
  }

  // Whether the producers of the operands can make the partial placements in these layouts.
  Status check_partials(NodeId n, std::span<const Layout> operands) const {
    const auto kinds = produced_partials(n);
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!graph_.operands(n)[k].valid()) continue;
      for (int m = 0; m < mesh_.rank(); ++m)
        if (operands[k][m].is_partial() && mesh_.size(m) > 1 &&
            !(mode_ == Rules::kFull ? kinds[k].has(m, operands[k][m]) : kinds[k].any(m)))
          return invalid_argument(
              "operand " + std::to_string(k) + " must be " + to_string(operands[k], mesh_.rank()) +
              ", but '" + graph_.name(graph_.operands(n)[k]) +
              "' never produces this partial on mesh dim '" + mesh_.name(m) + "'");
    }
    return {};
  }

  Status check_no_parts_of_float8(NodeId n, std::span<const Layout> stated) const {
    const auto results = graph_.results(n);
    const std::vector<OptionalType> operands = operand_types(graph_, n);
    for (size_t k = 0; k < stated.size(); ++k) {
      const OptionalType& type = k < results.size() ? results[k] : operands[k - results.size()];
      if (has_parts_of_float8(type, stated[k]))
        return unimplemented("the layout " + to_string(stated[k], mesh_.rank()) + " of " +
                             to_string(*type) + ": 8-bit floats are not reduced over ranks");
    }
    return {};
  }

  // One strategy for each alternative that the node states. If an alternative requires a partial
  // that is never produced, its price is infinite. It is kept anyway, unless this is true of all
  // alternatives.
  Result<StrategyTable> declared_table(NodeId n) const {
    const size_t num_results = graph_.results(n).size();
    StrategyTable table{num_results, graph_.operands(n).size(), {}};
    SHW_ASSIGN_OR_RETURN(const std::vector<StatedAlternative> alternatives,
                         alternatives_on(graph_, n, mesh_));
    Status refusal;
    bool any = false;
    for (const StatedAlternative& a : alternatives) {
      SHW_RETURN_IF_ERROR(check_no_parts_of_float8(n, a.layouts));
      const Status status = check_partials(n, std::span(a.layouts).subspan(num_results));
      any |= status.ok();
      if (!status.ok()) add_refusal(a, status, refusal);
      table.rows.insert(table.rows.end(), a.layouts.begin(), a.layouts.end());
    }
    if (!any) return refusal;
    return table;
  }

  Result<StrategyTable> table_for(NodeId n, const OpDef& def,
                                  std::span<const OptionalType> operands) {
    const auto results = graph_.results(n);
    std::vector<const Dims*> shapes;
    for (const OptionalType& t : results) shapes.push_back(t ? &t->shape : nullptr);
    for (const OptionalType& t : operands) shapes.push_back(t ? &t->shape : nullptr);
    const OpArgs args{operands, &graph_.attrs(n), strided_};
    switch (def.sharding) {
      case Sharding::kRules: {
        RuleSet rules(results.size(), operands.size());
        if (def.rules) def.rules(args, results, rules);
        if (strided_) add_strided_rules(factors_seen(n, def), shapes, rules);
        // After those, because rules that depend on the position of a piece hold for plain shards
        // only.
        if (mode_ == Rules::kFull && def.full_rules) def.full_rules(args, results, rules);
        rules = without_parts(rules, results, operands, mode_);
        if (!reachable_only_) return compose(rules, shapes, mesh_, mode_);
        return compose(rules, shapes, mesh_, mode_, produced_partials(n));
      }
      case Sharding::kFree: {
        RuleSet rules(results.size(), operands.size());
        for (size_t d = 0; d < results[0]->shape.size(); ++d) {
          const std::vector<Placement> same(rules.width(), Placement::shard(static_cast<int>(d)));
          rules.add(std::span(same).first(results.size()), std::span(same).subspan(results.size()));
        }
        if (strided_) add_strided_rules(factors_seen(n, def), shapes, rules);
        return compose(rules, shapes, mesh_, mode_);
      }
      case Sharding::kDeclared:
        return declared_table(n);
      case Sharding::kFollow:
      case Sharding::kElement:
        break;
    }
    StrategyTable table{1, operands.size(), {}};
    const bool checks_cast = mode_ == Rules::kFull && (def.kind == OpKind::kConvertElementType ||
                                                       def.kind == OpKind::kDtypeCast);
    for (LayoutId id : pool_.list(out_.produced(graph_, n, 0))) {
      Layout from = pool_.layout(id);
      from.order = Layout{}.order;  // orders are added to all strategies uniformly
      if (checks_cast && !cast_keeps(from, operands[0]->dtype, results[0]->dtype)) continue;
      const auto f = def.sharding == Sharding::kElement
                         ? std::optional(Followed{from, from})
                         : def.follow(args, *results[0], from, mesh_);
      if (!f || !is_legal(f->operand, operands[0]->shape, mesh_, mode_) ||
          !is_legal(f->result, results[0]->shape, mesh_, mode_))
        continue;
      if (has_parts_of_float8(results[0], f->result)) continue;
      if (mode_ == Rules::kFull && !keeps_blocks(*f, operands[0]->shape, results[0]->shape, mesh_))
        continue;
      table.rows.push_back(f->result);
      table.rows.push_back(f->operand);
    }
    drop_duplicates(table);
    return table;
  }

  StrategySetId store(NodeId n, const StrategyTable& table) {
    StrategySet set;
    set.count = static_cast<uint32_t>(table.count());
    std::vector<LayoutId> column(table.count());
    const auto add_column = [&](size_t c, bool present) {
      if (!present) return LayoutListId{};
      for (size_t i = 0; i < column.size(); ++i)
        column[i] = pool_.add(table.rows[i * table.width() + c]);
      return pool_.add_list(column);
    };
    const auto results = graph_.results(n);
    for (size_t i = 0; i < table.num_results; ++i)
      set.results.push_back(add_column(i, results[i].has_value()));
    for (size_t i = 0; i < table.num_operands; ++i)
      set.operands.push_back(add_column(table.num_results + i, graph_.operands(n)[i].valid()));
    return sets_.push_back(std::move(set));
  }

  const Graph& graph_;
  const Mesh& mesh_;
  Rules mode_;
  bool reachable_only_;
  bool strided_;
  std::optional<ShardOrders> orders_;
  std::vector<bool> is_output_;
  StridedFactors factors_;
  Strategies& out_;
  LayoutPool& pool_;
  IndexVec<StrategySetId, StrategySet>& sets_;
  std::unordered_map<uint64_t, StrategySetId> by_class_;
  mutable std::unordered_map<uint32_t, PartialKinds> partials_;  // by LayoutListId; look-up only
};

}  // namespace

std::string_view rules_name(Rules rules) { return rules == Rules::kCompat ? "compat" : "full"; }

Result<Rules> rules_from_name(std::string_view name) {
  if (name == "compat") return Rules::kCompat;
  if (name == "full") return Rules::kFull;
  return invalid_argument("unknown rule set '" + std::string(name) + "': choose full or compat");
}

Status StrategyOptions::check() const {
  if (strided && rules != Rules::kFull)
    return invalid_argument("strided shards need the rules 'full': the reference plans none");
  if (shard_orders && rules != Rules::kFull)
    return invalid_argument("shard orders need the rules 'full': the reference plans none");
  return {};
}

std::vector<std::optional<TensorType>> operand_types(const Graph& graph, NodeId n) {
  std::vector<std::optional<TensorType>> types;
  for (NodeId o : graph.operands(n)) {
    if (!o.valid())
      types.push_back(std::nullopt);
    else if (graph.op(n) == OpKind::kGetItem)
      types.push_back(
          graph.results(o)[static_cast<size_t>(graph.attrs(n).get_int(AttrKey::kIndex, 0))]);
    else
      types.push_back(graph.type(o));
  }
  return types;
}

LayoutListId Strategies::produced(const Graph& graph, NodeId n, size_t operand) const {
  const NodeId from = graph.operands(n)[operand];
  const size_t element = graph.op(n) == OpKind::kGetItem
                             ? static_cast<size_t>(graph.attrs(n).get_int(AttrKey::kIndex, 0))
                             : 0;
  return of(from).results[element];
}

Result<Strategies> Strategies::enumerate(const Graph& graph, const Mesh& mesh,
                                         const StrategyOptions& options, Monitor& monitor) {
  SHW_RETURN_IF_ERROR(options.check());
  Strategies s;
  s.set_of_.reserve(graph.num_nodes());
  Enumerator enumerator(graph, mesh, options, s, s.pool_, s.sets_);
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    if (i % 256 == 0) SHW_RETURN_IF_ERROR(monitor.poll());
    auto set = enumerator.set_for(NodeId{i});
    if (!set.ok()) return at_origin(set.status(), graph, NodeId{i});
    s.set_of_.push_back(*set);
  }
  return s;
}

void Strategies::keep(NodeId n, const std::vector<bool>& kept) {
  const StrategySet& all = of(n);
  const auto chosen = [&](LayoutListId id) {
    if (!id.valid()) return id;
    std::vector<LayoutId> list;
    for (uint32_t s = 0; s < all.count; ++s)
      if (kept[s]) list.push_back(pool_.list(id)[s]);
    return pool_.add_list(list);
  };
  StrategySet set;
  set.count = static_cast<uint32_t>(std::count(kept.begin(), kept.end(), true));
  for (LayoutListId id : all.results) set.results.push_back(chosen(id));
  for (LayoutListId id : all.operands) set.operands.push_back(chosen(id));
  set_of_[n] = sets_.push_back(std::move(set));
}

uint64_t Strategies::total() const {
  uint64_t n = 0;
  for (StrategySetId id : set_of_) n += sets_[id].count;
  return n;
}

std::string strategy_text(const Strategies& s, NodeId n, uint32_t strategy, int mesh_rank) {
  const StrategySet& set = s.of(n);
  const auto list = [&](const std::vector<LayoutListId>& lists) {
    std::string text;
    for (LayoutListId id : lists) {
      if (!text.empty()) text += ", ";
      text +=
          id.valid() ? to_string(s.pool().layout(s.pool().list(id)[strategy]), mesh_rank) : "none";
    }
    return text;
  };
  const std::string results = list(set.results);
  return "(" + list(set.operands) + ") -> " +
         (set.results.size() > 1 ? "(" + results + ")" : results);
}

}  // namespace shw
