#include "lowering/redistribute.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <queue>

#include "sharding/unfolding.h"
#include "support/hash.h"

namespace shw {
namespace {

// A few mesh dims, in an order.
class Axes {
 public:
  Axes() = default;
  Axes(std::initializer_list<uint8_t> list) {
    for (uint8_t a : list) push_back(a);
  }
  void push_back(uint8_t a) { axes_[size_++] = a; }
  size_t size() const { return size_; }
  uint8_t operator[](size_t i) const { return axes_[i]; }
  const uint8_t* begin() const { return axes_.data(); }
  const uint8_t* end() const { return axes_.data() + size_; }
  bool has(uint8_t a) const { return std::find(begin(), end(), a) != end(); }
  bool operator==(const Axes& o) const { return std::equal(begin(), end(), o.begin(), o.end()); }

 private:
  std::array<uint8_t, kMaxMeshRank> axes_{};
  size_t size_ = 0;
};

// Of two routes of equal price the one with fewer moves is better: each has overheads that no model
// knows. Far below any real difference of prices.
constexpr double kPerMoveUs = 1e-6;

uint32_t mask_of(const Axes& axes) {
  uint32_t mask = 0;
  for (uint8_t a : axes) mask |= 1u << a;
  return mask;
}

Axes axes_of(uint32_t mask) {
  Axes axes;
  for (; mask != 0; mask &= mask - 1) axes.push_back(static_cast<uint8_t>(std::countr_zero(mask)));
  return axes;
}

// `layout` with `axes` cutting tensor dim `dim` after all that cut it already, in that order.
Layout with_shards(Layout layout, int dim, const Axes& axes) {
  auto to = layout.order.begin();
  for (uint8_t m : Layout(layout).order)
    if (!axes.has(m)) *to++ = m;
  std::copy(axes.begin(), axes.end(), to);
  for (uint8_t a : axes) layout[a] = Placement::shard(dim);
  return normalised(layout);
}

Layout with_replicas(Layout layout, const Axes& axes) {
  for (uint8_t a : axes) layout[a] = Placement::replicate();
  return normalised(layout);
}

bool is_linear(Placement p) {
  return p == Placement::partial(ReduceOp::kSum) || p == Placement::partial(ReduceOp::kAvg);
}

// One search: the states met so far, and the edges out of each.
class Search {
 public:
  Search(const Mesh& mesh, const MovePrices& prices, const Dims& shape, int64_t element_bytes,
         const Layout& from, const Layout& to)
      : mesh_(mesh),
        prices_(prices),
        shape_(shape),
        element_bytes_(element_bytes),
        from_(from),
        to_(to) {
    choose_participants();
    choose_dims();
  }

  bool run(Route& route) {
    visit(from_, 0, {}, 0);
    while (!queue_.empty()) {
      const auto [cost, index] = queue_.top();
      queue_.pop();
      if (states_[index].done) continue;
      states_[index].done = true;
      if (states_[index].layout == to_) {
        trace(index, route);
        return true;
      }
      expand(index);
    }
    return false;
  }

 private:
  // A Move before it is worth making one.
  struct Edge {
    CollectiveKind kind = CollectiveKind::kNone;
    ReduceOp op = ReduceOp::kSum;
    int from_dim = -1, to_dim = -1;
    Axes axes{};
    double cost_us = 0, collective_us = 0;
  };
  struct State {
    Layout layout;
    double cost;
    uint32_t previous;
    Edge by;
    bool done = false;
  };
  struct LayoutHash {
    size_t operator()(const Layout& l) const { return hash_of(l); }
  };

  // A mesh dim stays as it is if neither its placement nor anything about the tensor dim that it
  // cuts changes.
  void choose_participants() {
    for (int m = 0; m < mesh_.rank(); ++m) {
      if (mesh_.size(m) == 1) continue;
      const bool same =
          from_[m] == to_[m] &&
          (!from_[m].is_shard() || from_.shards_of(from_[m].dim()) == to_.shards_of(to_[m].dim()));
      if (!same) moves_ |= 1u << m;
    }
  }

  // Tensor dims that may be cut on the way: those of the two layouts, and two others as way
  // stations (more are alike).
  void choose_dims() {
    uint32_t used = 0;
    for (int m = 0; m < mesh_.rank(); ++m)
      for (const Layout* l : {&from_, &to_})
        if ((*l)[m].is_shard()) used |= 1u << (*l)[m].dim();
    int others = 2;
    for (size_t d = 0; d < shape_.size(); ++d)
      if ((used >> d & 1) || (shape_[d] > 1 && others-- > 0)) dims_.push_back(static_cast<int>(d));
  }

  void visit(const Layout& layout, double cost, const Edge& by, uint32_t previous) {
    if (layout == to_) bound_ = cost;  // it is the cheapest so far
    const auto [it, fresh] = index_.try_emplace(layout, static_cast<uint32_t>(states_.size()));
    if (fresh)
      states_.push_back({layout, cost, previous, by});
    else if (cost < states_[it->second].cost)
      states_[it->second] = {layout, cost, previous, by};
    else
      return;
    queue_.emplace(cost, it->second);
  }

  void trace(uint32_t index, Route& route) const {
    for (; index != 0; index = states_[index].previous) {
      const Edge& e = states_[index].by;
      route.moves.push_back({e.kind,
                             e.op,
                             e.from_dim,
                             e.to_dim,
                             {e.axes.begin(), e.axes.end()},
                             states_[index].layout,
                             e.cost_us,
                             e.collective_us});
      route.cost_us += e.cost_us;
    }
    std::reverse(route.moves.begin(), route.moves.end());
  }

  int64_t group_size(const Axes& axes) const {
    int64_t n = 1;
    for (uint8_t a : axes) n *= mesh_.size(a);
    return n;
  }
  static bool outermost(const Dims& local, int dim) {
    return std::all_of(local.begin(), local.begin() + dim, [](int64_t n) { return n == 1; });
  }

  int64_t group_size(uint32_t mask) const {
    int64_t n = 1;
    for (int m = 0; m < mesh_.rank(); ++m)
      if (mask >> m & 1) n *= mesh_.size(m);
    return n;
  }

  // As one collective, or part by part: a gather's first part has not yet all the bytes, a
  // scatter's last part no longer.
  double group_us(CollectiveKind kind, uint32_t mask, int64_t bytes) const {
    double best = prices_.collective_us(kind, mask, bytes);
    for (uint32_t part = (mask - 1) & mask; part != 0; part = (part - 1) & mask) {
      const uint32_t rest = mask & ~part;
      const bool exchanges =
          kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kAllToAll;
      const int64_t less = exchanges ? bytes : bytes / group_size(rest);
      best = std::min(best, group_us(kind, part, less) + group_us(kind, rest, bytes));
    }
    return best;
  }

  // `after` gives the layout that the edge leads to; asked only if the price is worth it.
  template <class After>
  void take(uint32_t index, Edge edge, int64_t bytes, int64_t copied_bytes, After&& after) {
    edge.collective_us =
        edge.kind == CollectiveKind::kNone ? 0 : group_us(edge.kind, mask_of(edge.axes), bytes);
    edge.cost_us = edge.collective_us;
    if (states_[index].cost + edge.cost_us >= bound_) return;
    if (copied_bytes > 0) edge.cost_us += prices_.copy_us(copied_bytes);
    const double cost = states_[index].cost + edge.cost_us + kPerMoveUs;
    if (cost < bound_) visit(after(), cost, edge, index);
  }

  void expand(uint32_t index) {
    const Layout at = states_[index].layout;
    const Dims local = local_shape(shape_, at, mesh_);
    int64_t bytes = element_bytes_;
    for (int64_t n : local) bytes *= n;
    for (int d : dims_) leave(index, at, local, bytes, d);
    reduce(index, at, local, bytes);
    rescale(index, at, bytes);
    slice(index, at, local, bytes);
  }

  // Gathers and all-to-alls that make tensor dim `d` whole along the mesh dims that cut it last.
  void leave(uint32_t index, const Layout& at, const Dims& local, int64_t bytes, int d) {
    Axes cut;
    for (uint8_t m : at.order)
      if (at[m].is_shard(d)) cut.push_back(m);
    for (size_t k = cut.size(); k-- > 0 && (moves_ >> cut[k] & 1);) {
      Axes axes;
      for (size_t i = k; i < cut.size(); ++i) axes.push_back(cut[i]);
      const int64_t n = group_size(axes);
      // Blocks of blocks have padding between them unless they are even: one mesh dim at a time.
      if (axes.size() > 1 && size_before(cut, k, d) % n != 0) continue;
      const auto open = [&] { return with_replicas(at, axes); };
      take(index, {CollectiveKind::kAllGather, ReduceOp::kSum, d, -1, axes}, bytes * n,
           outermost(local, d) ? 0 : bytes * n, open);
      for (int e : dims_) {
        const auto ue = static_cast<size_t>(e);
        if (e == d || !can_cut(local[ue], axes)) continue;
        Dims sent = local;
        sent[ue] = (local[ue] + n - 1) / n;
        const int64_t copied = (outermost(local, e) ? 0 : bytes) + (outermost(sent, d) ? 0 : bytes);
        take(index, {CollectiveKind::kAllToAll, ReduceOp::kSum, d, e, axes}, bytes, copied,
             [&] { return with_shards(open(), e, axes); });
      }
    }
  }

  // Of tensor dim d, once the first k of `cut` have cut it.
  int64_t size_before(const Axes& cut, size_t k, int d) const {
    int64_t size = shape_[static_cast<size_t>(d)];
    for (size_t i = 0; i < k; ++i) size = (size + mesh_.size(cut[i]) - 1) / mesh_.size(cut[i]);
    return size;
  }
  // In one collective, with padding at the end if one mesh dim does not divide it.
  bool can_cut(int64_t size, const Axes& axes) const {
    const int64_t n = group_size(axes);
    return size % n == 0 || (axes.size() == 1 && size >= n);
  }
  // In a copy, block of block: as long as there are elements for every step.
  bool can_slice(int64_t size, const Axes& axes) const {
    for (uint8_t a : axes) {
      if (size < mesh_.size(a)) return false;
      size = (size + mesh_.size(a) - 1) / mesh_.size(a);
    }
    return true;
  }

  void reduce(uint32_t index, const Layout& at, const Dims& local, int64_t bytes) {
    for (int op = 0; op <= static_cast<int>(ReduceOp::kProduct); ++op) {
      uint32_t partial = 0;
      for (int m = 0; m < mesh_.rank(); ++m)
        if (at[m] == Placement::partial(static_cast<ReduceOp>(op)) && (moves_ >> m & 1))
          partial |= 1u << m;
      for (uint32_t set = partial; set != 0; set = (set - 1) & partial) {
        const Axes axes = axes_of(set);
        const auto reduction = static_cast<ReduceOp>(op);
        take(index, {CollectiveKind::kAllReduce, reduction, -1, -1, axes}, bytes, 0,
             [&] { return with_replicas(at, axes); });
        const auto can = [&](int64_t size, const Axes& order) { return can_cut(size, order); };
        for_each_cut(axes, local, can, [&](int e, const Axes& order) {
          take(index, {CollectiveKind::kReduceScatter, reduction, -1, e, order}, bytes,
               outermost(local, e) ? 0 : bytes, [&] { return with_shards(at, e, order); });
        });
      }
    }
  }

  void rescale(uint32_t index, const Layout& at, int64_t bytes) {
    for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kAvg}) {
      Layout after = at;
      uint32_t set = 0;
      for (int m = 0; m < mesh_.rank(); ++m) {
        if (to_[m] != Placement::partial(op) || at[m] == to_[m] || !is_linear(at[m])) continue;
        after[m] = to_[m];
        set |= 1u << m;
      }
      if (set != 0)
        take(index, {CollectiveKind::kNone, op, -1, -1, axes_of(set)}, 0, bytes,
             [&] { return after; });
    }
  }

  void slice(uint32_t index, const Layout& at, const Dims& local, int64_t bytes) {
    uint32_t whole = 0;
    for (int m = 0; m < mesh_.rank(); ++m)
      if (at[m].is_replicate() && to_[m].is_shard() && (moves_ >> m & 1)) whole |= 1u << m;
    for (uint32_t set = whole; set != 0; set = (set - 1) & whole) {
      const Axes axes = axes_of(set);
      const auto can = [&](int64_t size, const Axes& order) { return can_slice(size, order); };
      for_each_cut(axes, local, can, [&](int e, const Axes& order) {
        take(index, {CollectiveKind::kNone, ReduceOp::kSum, -1, e, order}, bytes,
             bytes / group_size(order), [&] { return with_shards(at, e, order); });
      });
    }
  }

  // Every tensor dim that the set of mesh dims can cut, with the orders worth trying: both of two;
  // of more, ascending and the one that `to` wants.
  template <class Can, class F>
  void for_each_cut(const Axes& axes, const Dims& local, Can&& can, F&& f) const {
    for (int e : dims_) {
      const int64_t size = local[static_cast<size_t>(e)];
      if (can(size, axes)) f(e, axes);
      if (axes.size() < 2) continue;
      Axes other;
      if (axes.size() == 2) {
        other = {axes[1], axes[0]};
      } else {
        for (uint8_t m : to_.order)
          if (axes.has(m)) other.push_back(m);
      }
      if (!(other == axes) && can(size, other)) f(e, other);
    }
  }

  const Mesh& mesh_;
  const MovePrices& prices_;
  const Dims& shape_;
  const int64_t element_bytes_;
  const Layout from_, to_;
  uint32_t moves_ = 0;  // mesh dims that may change
  std::vector<int> dims_;
  double bound_ = std::numeric_limits<double>::infinity();  // of a way to `to`
  std::vector<State> states_;                               // number 0 is `from`
  std::unordered_map<Layout, uint32_t, LayoutHash> index_;  // look-up only
  std::priority_queue<std::pair<double, uint32_t>, std::vector<std::pair<double, uint32_t>>,
                      std::greater<>>
      queue_;  // of equal costs the state that was met first
};

// A consumer may ask for a partial value only where it is one already; sums and averages turn into
// each other.
Status check_partials(const Layout& from, const Layout& to, const Mesh& mesh) {
  bool linear = true, reduces = false;
  int kinds = 0;
  uint32_t seen = 0;
  for (int m = 0; m < mesh.rank(); ++m) {
    if (to[m].is_partial() && from[m] != to[m] && !(is_linear(from[m]) && is_linear(to[m])))
      return invalid_argument("a value that lies as " + to_string(from, mesh.rank()) +
                              " is asked for as " + to_string(to, mesh.rank()) +
                              ": only the operation that makes a partial value can make one");
    if (!from[m].is_partial()) continue;
    reduces |= from[m] != to[m];
    linear &= is_linear(from[m]);
    if (!(seen >> from[m].arg & 1)) ++kinds;
    seen |= 1u << from[m].arg;
  }
  if (reduces && kinds > 1 && !linear)
    return invalid_argument("a value that lies as " + to_string(from, mesh.rank()) +
                            " has no single meaning: its reductions do not commute");
  return {};
}

}  // namespace

size_t Redistributor::KeyHash::operator()(const Key& k) const {
  return hash_combine(hash_combine(hash_of(k.from), hash_of(k.to)),
                      hash_span(k.shape.span(), static_cast<uint64_t>(k.element_bytes)));
}

Layout Redistributor::canonical(Layout layout) const {
  for (int m = 0; m < kMaxMeshRank; ++m) {
    if (m >= mesh_.rank() || mesh_.size(m) == 1)
      layout[m] = Placement::replicate();
    else if (layout[m].kind == Placement::Kind::kMasked)
      layout[m] = Placement::partial();
  }
  return normalised(layout);
}

Result<const Route*> Redistributor::route(const Dims& shape, int64_t element_bytes,
                                          const Layout& from, const Layout& to) {
  static const Route kStay;
  if (from == to) return &kStay;
  const Key key{shape, element_bytes, from, to};
  if (const auto it = routes_.find(key); it != routes_.end()) return &it->second;
  SHW_RETURN_IF_ERROR(check_partials(from, to, mesh_));
  Route route;
  if (!Search(mesh_, prices_, shape, element_bytes, from, to).run(route))
    return unimplemented("no sequence of even blocks leads from " + to_string(from, mesh_.rank()) +
                         " to " + to_string(to, mesh_.rank()));
  return &routes_.emplace(key, std::move(route)).first->second;  // nodes of the map stay in place
}

double Redistributor::route_us(const Dims& shape, int64_t element_bytes, const Layout& from,
                               const Layout& to) {
  const Layout a = canonical(from), b = canonical(to);
  const auto u = Unfolding::of(shape, mesh_, {a, b});
  if (!u) return std::numeric_limits<double>::infinity();
  const auto found = route(u->shape(), element_bytes, u->unfolded(a), u->unfolded(b));
  if (!found.ok()) return std::numeric_limits<double>::infinity();
  double us = 0;
  for (const Move& move : (*found)->moves)
    if (move.kind != CollectiveKind::kNone || move.to_dim < 0) us += move.cost_us;
  return us;
}

}  // namespace shw
