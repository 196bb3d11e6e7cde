#include "placement/pricing.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "ops/op_def.h"
#include "placement/kernel_work.h"
#include "strategy/alternatives.h"
#include "strategy/padding_wanted.h"
#include "support/function_ref.h"
#include "support/hash.h"

namespace shw {
namespace {

double tensor_bytes(const TensorType& t) { return static_cast<double>(t.bytes()); }

// A price from the route tables. A value that does not move needs no copy either.
double by_route(double us, double copy_us) { return us > 0 ? us + copy_us : 0; }

// The strides of a piece without gaps whose dims have the same memory order as those of the whole;
// 0 where the whole is expanded.
Dims strides_in_order_of(const TensorType& whole, const Dims& shape) {
  std::vector<size_t> dims(shape.size());
  std::iota(dims.begin(), dims.end(), size_t{0});
  std::stable_sort(dims.begin(), dims.end(),
                   [&](size_t a, size_t b) { return whole.strides[a] > whole.strides[b]; });
  Dims strides(shape.size(), 0);
  int64_t next = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    const size_t d = dims[i];
    if (whole.strides[d] == 0) continue;
    strides[d] = next;
    next *= shape[d];
  }
  return strides;
}

// Whether every rank already holds all that it needs, so that the change takes at most a copy and
// no communication.
bool only_slices(const Layout& from, const Layout& to) {
  const auto is_new = [&](uint8_t m) { return from[m] != to[m]; };
  Layout before = to;
  for (uint8_t m = 0; m < kMaxMeshRank; ++m) {
    if (!is_new(m)) continue;
    if (!from[m].is_replicate() || !to[m].is_shard_like()) return false;
    before[m] = Placement::replicate();
  }
  if (normalised(before) != from) return false;
  // A new mesh dim must cut after those that cut before.
  for (size_t i = 0; i < to.order.size(); ++i)
    for (size_t k = i + 1; is_new(to.order[i]) && k < to.order.size(); ++k)
      if (!is_new(to.order[k]) && to[to.order[k]] == to[to.order[i]]) return false;
  return true;
}

// The distinct layouts of a list, and the index of each entry among them.
struct DistinctLayouts {
  DistinctLayouts(const LayoutPool& pool, LayoutListId list) {
    std::unordered_map<uint32_t, uint32_t> seen;
    for (LayoutId id : pool.list(list)) {
      const auto [it, is_new] = seen.try_emplace(id.v, static_cast<uint32_t>(layouts.size()));
      if (is_new) {
        ids.push_back(id);
        layouts.push_back(pool.layout(id));
      }
      of.push_back(it->second);
    }
  }
  // The index of a layout among the distinct ones; their number if it is not in the list.
  size_t position_of(LayoutId id) const {
    return static_cast<size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin());
  }
  std::vector<LayoutId> ids;
  std::vector<Layout> layouts;
  std::vector<uint32_t> of;
};

// The positions of each value in a list of values below `count`, ascending.
class Groups {
 public:
  Groups(std::span<const uint32_t> values, size_t count)
      : first_(count + 1), members_(values.size()) {
    for (const uint32_t v : values) ++first_[v + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<uint32_t> next = first_;
    for (uint32_t i = 0; i < values.size(); ++i) members_[next[values[i]]++] = i;
  }
  std::span<const uint32_t> of(size_t value) const {
    return std::span(members_).subspan(first_[value], first_[value + 1] - first_[value]);
  }

 private:
  std::vector<uint32_t> first_, members_;
};

// How the cost of a change is charged on an edge.
struct Charge {
  double weight;
  EdgeDiscount discount;
  bool no_comm;    // forbids changes that communicate,
  bool by_routes;  // but not those that only slice
};

// The matrix of an edge whose ends have these layouts. `prices` fills a row of distinct layouts,
// without the fixed cost of a change; several threads may call it.
uint32_t fill_matrix(const DistinctLayouts& rows, const DistinctLayouts& columns,
                     FunctionRef<void(size_t i, std::span<double> row)> prices, const Charge& how,
                     const Threads& threads, solver::PlacementProblem& problem) {
  const auto charge = [&](size_t i, std::span<double> row) {
    prices(i, row);
    if (how.discount != EdgeDiscount{})
      for (double& c : row) c = how.discount.charged(c);
    const size_t same = columns.position_of(rows.ids[i]);
    const double stays = same < row.size() ? row[same] : 0;
    for (size_t j = 0; j < row.size(); ++j) {
      const bool sends = how.no_comm && row[j] > 0 &&
                         !(how.by_routes && only_slices(rows.layouts[i], columns.layouts[j]));
      row[j] = sends ? solver::kForbidden : how.weight * (row[j] + cost::kTransitionUs);
    }
    if (same < row.size())
      row[same] = how.no_comm && stays > 0 ? solver::kForbidden : how.weight * stays;
  };
  // A row is computed once and written for every strategy with that layout.
  const Groups strategies(rows.of, rows.layouts.size());
  const size_t width = columns.of.size();
  const std::span<double> out =
      problem.room_for_matrix(static_cast<uint32_t>(rows.of.size()), static_cast<uint32_t>(width));
  constexpr size_t kWorthThreads = 1 << 17;
  parallel_for(out.size() > kWorthThreads ? threads : Threads(), rows.layouts.size(), [&] {
    return [&, row = std::vector<double>(columns.layouts.size())](size_t i) mutable {
      const std::span<const uint32_t> same = strategies.of(i);
      double* const first = out.data() + same[0] * width;
      if (row.size() == width) {  // every strategy has its own layout
        charge(i, {first, width});
      } else {
        charge(i, row);
        for (size_t j = 0; j < width; ++j) first[j] = row[columns.of[j]];
      }
      for (const uint32_t s : same.subspan(1)) std::copy_n(first, width, out.data() + s * width);
    };
  });
  return problem.add_filled_matrix();
}

}  // namespace

cost::ValueMeta edge_value(const Graph& graph, NodeId consumer, size_t operand) {
  const NodeId from = graph.operands(consumer)[operand];
  const TensorType& type = edge_type(graph, consumer, operand);
  return {tensor_bytes(type), type.contiguous() || graph.op(from) == OpKind::kEinsum};
}

size_t Pricer::EdgeKeyHash::operator()(const EdgeKey& k) const {
  const uint64_t words[] = {uint64_t{k.from} << 32 | k.to,
                            static_cast<uint64_t>(k.bytes),
                            k.shape,
                            uint64_t{k.contiguous} << 1 | uint64_t{k.no_comm},
                            std::bit_cast<uint64_t>(k.discount.scale),
                            std::bit_cast<uint64_t>(k.discount.hidden_us),
                            std::bit_cast<uint64_t>(k.weight)};
  return hash_bytes(words, sizeof words);
}

TensorType Pricer::piece(const TensorType& whole, const Layout& layout) const {
  return row_major(whole.dtype, local_shape(whole.shape, layout, collectives_.mesh()));
}

// An equal share of the FLOPs that the node states for this alternative, and the bytes of its
// pieces.
Result<double> Pricer::opaque_cost(NodeId n, uint32_t strategy) const {
  const Mesh& mesh = collectives_.mesh();
  const std::vector<OptionalType> operands = operand_types(graph_, n);
  const auto results = graph_.results(n);
  SHW_ASSIGN_OR_RETURN(const std::vector<StatedAlternative> alternatives,
                       alternatives_on(graph_, n, mesh));
  const OpArgs args{operands, &alternatives[strategy].attrs};
  const double flops = op_def(graph_.op(n)).flops(args, results);
  if (flops == 0 || rules_ == cost::PriceRules::kCompat) return 0.0;
  double bytes = 0;
  std::optional<Dtype> arithmetic;  // of the first non-integer tensor
  const auto add = [&](const OptionalType& t, const Layout& layout) {
    bytes += tensor_bytes(piece(*t, layout));
    if (!arithmetic && is_floating(t->dtype)) arithmetic = t->dtype;
  };
  for (size_t k = 0; k < operands.size(); ++k)
    if (operands[k]) add(operands[k], strategies_.operand_layout(n, k, strategy));
  for (size_t r = 0; r < results.size(); ++r)
    if (results[r]) add(results[r], strategies_.result_layout(n, r, strategy));
  return roofline_.compute_us(flops / static_cast<double>(mesh.num_ranks()), bytes,
                              arithmetic.value_or(Dtype::kF32));
}

// The types of one rank's results. For some ops they depend on which piece of an operand a rank
// has, as for the groups of grouped_mm. The types of the pieces do not determine that, but the
// layouts do.
Result<std::vector<OptionalType>> Pricer::result_pieces(NodeId n, uint32_t strategy,
                                                        const OpArgs& pieces) const {
  const OpDef& def = op_def(graph_.op(n));
  if (rules_ == cost::PriceRules::kCompat || def.piece_position != PiecePosition::kOfOperand)
    return def.infer(pieces);
  const auto whole = graph_.results(n);
  std::vector<OptionalType> results(whole.begin(), whole.end());
  for (size_t r = 0; r < results.size(); ++r)
    if (results[r]) results[r] = piece(*results[r], strategies_.result_layout(n, r, strategy));
  return results;
}

Result<double> Pricer::strategy_cost(NodeId n, uint32_t strategy) const {
  const OpDef& def = op_def(graph_.op(n));
  if (def.opaque) return opaque_cost(n, strategy);
  std::vector<OptionalType> operands = operand_types(graph_, n);
  double bytes = 0;
  const TensorType* first = nullptr;
  for (size_t k = 0; k < operands.size(); ++k) {
    if (!operands[k]) continue;
    operands[k] = piece(*operands[k], strategies_.operand_layout(n, k, strategy));
    bytes += tensor_bytes(*operands[k]);
    if (first == nullptr) first = &*operands[k];
  }
  const OpArgs args{operands, &graph_.attrs(n)};
  SHW_ASSIGN_OR_RETURN(const std::vector<OptionalType> results, result_pieces(n, strategy, args));
  const double flops = def.flops ? def.flops(args, results) : 0;
  for (const OptionalType& t : results)
    if (t) bytes += tensor_bytes(*t);
  if (roofline_.has_kernels()) {
    const std::vector<OptionalType> whole = operand_types(graph_, n);
    for (size_t k = 0; k < operands.size(); ++k)  // with the memory order of the whole
      if (operands[k]) operands[k]->strides = strides_in_order_of(*whole[k], operands[k]->shape);
    const auto us = roofline_.measured_us(kernel_works(graph_.op(n), args, results), bytes);
    if (us) return *us;
  }
  return roofline_.compute_us(flops, bytes, first ? first->dtype : Dtype::kF32);
}

Result<std::span<const double>> Pricer::node_costs(NodeId n) {
  static const NodeCopies kNone;
  const NodeCopies& copies = copies_.empty() ? kNone : copies_[n.v];
  const auto [it, is_new] = node_costs_.try_emplace({strategies_.set_of(n).v, weight(n), copies});
  std::vector<double>& costs = it->second;
  if (is_new) {
    costs.assign(strategies_.of(n).count, 0.0);
    const OpDef& def = op_def(graph_.op(n));
    for (uint32_t s = 0; s < costs.size() && !def.free; ++s) {
      auto cost = strategy_cost(n, s);
      if (!cost.ok()) return at_origin(cost.status(), graph_, n);
      costs[s] = weight(n) * *cost;
    }
    for (uint32_t s = 0; s < costs.size(); ++s) {
      if (copies.for_outputs > 0)
        costs[s] += weight(n) * copies.for_outputs *
                    output_copy_us(graph_.type(n), strategies_.result_layout(n, 0, s), copies);
      if (copies.to_look_at > 0)
        costs[s] += weight(n) * piece_copy_us(graph_.type(graph_.operands(n)[0]),
                                              strategies_.operand_layout(n, 0, s));
      costs[s] += weight(n) * fills_us(n, s);
    }
  }
  return std::span<const double>(costs);
}

uint32_t Pricer::edge_matrix(NodeId consumer, size_t operand, bool no_comm,
                             solver::PlacementProblem& problem) {
  const LayoutListId from = strategies_.produced(graph_, consumer, operand);
  const LayoutListId to = strategies_.of(consumer).operands[operand];
  const cost::ValueMeta value = edge_value(graph_, consumer, operand);
  const EdgeDiscount discount = discounts_.of(consumer, operand);
  const EdgeKey key{
      from.v,           to.v,    value.bytes, routes_ ? table_hash(consumer, operand) : 0,
      value.contiguous, no_comm, discount,    weight(consumer)};
  if (const auto it = matrices_.find(key); it != matrices_.end()) return it->second;

  const DistinctLayouts rows(strategies_.pool(), from), columns(strategies_.pool(), to);
  const RowPrices prices = row_prices(consumer, operand, value, rows.layouts, columns.layouts);
  const uint32_t matrix =
      fill_matrix(rows, columns, prices, {weight(consumer), discount, no_comm, routes_.has_value()},
                  threads_, problem);
  matrices_.emplace(key, matrix);
  return matrix;
}

uint32_t Pricer::change_matrix(const Change& change, LayoutListId from, LayoutListId to,
                               bool no_comm, solver::PlacementProblem& problem) {
  const DistinctLayouts rows(strategies_.pool(), from), columns(strategies_.pool(), to);
  const NodeId consumer = change.like.node;
  const size_t operand = change.like.operand;
  std::vector<double> us(rows.layouts.size() * columns.layouts.size());
  routes_->prices(consumer, operand, rows.layouts, columns.layouts, us);
  const auto prices = [&](size_t i, std::span<double> row) {
    const double copy = copy_us(consumer, operand, rows.layouts[i]);
    for (size_t j = 0; j < row.size(); ++j) row[j] = by_route(us[i * row.size() + j], copy);
  };
  return fill_matrix(rows, columns, prices, {weight(change.reader), {}, no_comm, true}, threads_,
                     problem);
}

double Pricer::change_us(const Change& change, const Layout& from, const Layout& to) {
  const NodeId consumer = change.like.node;
  const size_t operand = change.like.operand;
  return weight(change.reader) *
         by_route(routes_->price(consumer, operand, from, to), copy_us(consumer, operand, from));
}

uint64_t Pricer::table_hash(NodeId consumer, size_t operand) const {
  if (routes_) return routes_->table_hash(consumer, operand);
  const TensorType& type = edge_type(graph_, consumer, operand);
  return hash_span(type.shape.span(), static_cast<uint64_t>(dtype_size(type.dtype)));
}

double Pricer::redistribution_us(NodeId consumer, size_t operand, const Layout& from,
                                 const Layout& to) {
  double us = 0;
  if (!routes_) {
    const cost::ValueMeta value = edge_value(graph_, consumer, operand);
    us = cost::redistribute_us(collectives_, roofline_, value.bytes, value.contiguous, from, to,
                               rules_);
  } else if (from != to) {
    us = by_route(routes_->price(consumer, operand, from, to), copy_us(consumer, operand, from));
  }
  return weight(consumer) * discounts_.of(consumer, operand).charged(us);
}

// Prices of all pairs of two lists, row by row, without the fixed cost of a change. Valid until the
// next call.
Pricer::RowPrices Pricer::row_prices(NodeId consumer, size_t operand, const cost::ValueMeta& value,
                                     std::span<const Layout> from, std::span<const Layout> to) {
  if (!routes_) {
    pair_us_.resize(from.size() * to.size());
    cost::redistribute_matrix(collectives_, roofline_, value.bytes, value.contiguous, from, to,
                              pair_us_, rules_);
    return [this](size_t i, std::span<double> row) {
      std::copy_n(pair_us_.data() + i * row.size(), row.size(), row.data());
    };
  }
  routes_->turn_to(consumer, operand);
  std::vector<uint32_t> columns;
  for (const Layout& l : to) columns.push_back(routes_->column(l));
  const bool in_a_row = std::ranges::adjacent_find(columns, [](uint32_t a, uint32_t b) {
                          return b != a + 1;
                        }) == columns.end();
  return [=, this, columns = std::move(columns)](size_t i, std::span<double> row) {
    const double* const us = routes_->row(from[i]);
    const double copy = copy_us(consumer, operand, from[i]);
    if (in_a_row)
      for (size_t j = 0; j < row.size(); ++j) row[j] = by_route(us[columns[0] + j], copy);
    else
      for (size_t j = 0; j < row.size(); ++j) row[j] = by_route(us[columns[j]], copy);
  };
}

// The additional price of a move if the value has gaps in memory and must be copied first.
double Pricer::copy_us(NodeId consumer, size_t operand, const Layout& from) const {
  if (routes_->is_dense(consumer, operand)) return 0;
  return piece_copy_us(edge_type(graph_, consumer, operand), from);
}

double Pricer::fills_us(NodeId n, uint32_t strategy) const {
  const OpDef& def = op_def(graph_.op(n));
  if (!routes_ || def.is_view || def.free) return 0;  // the reference planner has no such price
  const auto operands = graph_.operands(n);
  const Mesh& mesh = collectives_.mesh();
  std::vector<Layout> operand_layouts, result_layouts;
  double us = 0;
  for (size_t k = 0; k < operands.size(); ++k) {
    if (!operands[k].valid() || graph_.is_tuple(operands[k])) continue;
    const Layout& lies = strategies_.operand_layout(n, k, strategy);
    if (is_evenly_sharded(graph_.type(operands[k]).shape, lies, mesh)) continue;
    for (size_t o = 0; operand_layouts.size() < operands.size(); ++o)
      operand_layouts.push_back(operands[o].valid() ? strategies_.operand_layout(n, o, strategy)
                                                    : Layout{});
    for (size_t r = 0; result_layouts.size() < graph_.results(n).size(); ++r)
      result_layouts.push_back(graph_.results(n)[r] ? strategies_.result_layout(n, r, strategy)
                                                    : Layout{});
    if (padding_wanted(graph_, mesh, n, k, lies, operand_layouts, result_layouts))
      us += piece_copy_us(graph_.type(operands[k]), lies);
  }
  return us;
}

// The price of copying an output that is not row-major. A piece of it may still be, if it has dims
// of size 1.
double Pricer::output_copy_us(const TensorType& type, const Layout& layout,
                              const NodeCopies& copies) const {
  const Dims shape = local_shape(type.shape, layout, collectives_.mesh());
  auto dims = copies.order;
  erase_if(dims, [&](uint8_t d) { return shape[d] == 1; });
  const bool is_row_major = !copies.order.empty() && std::ranges::is_sorted(dims);
  return is_row_major ? 0 : piece_copy_us(type, layout);
}

double Pricer::piece_copy_us(const TensorType& type, const Layout& layout) const {
  return roofline_.copy_us(tensor_bytes(piece(type, layout)));
}

}  // namespace shw
