// The walk over the mesh dims, written once for a single price and for whole matrices.
#include "cost/redistribute.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

namespace shw::cost {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// How the size of the local piece is kept on the way, and what one step of a given size costs.
// DirectPrices asks the models each time; MemoPrices numbers the few sizes that a value can have on
// one mesh and asks once for each. A State stands for a size; walk() below is written once for
// both.
class DirectPrices {
 public:
  using State = double;  // bytes: a real number, as in the reference; cut only for a collective
  DirectPrices(const CollectiveModel& model, const Roofline& roofline)
      : model_(model), roofline_(roofline) {}

  State times(State bytes, int mesh_dim) { return bytes * size(mesh_dim); }
  State over(State bytes, int mesh_dim) { return bytes / size(mesh_dim); }
  double copy_us(State bytes) { return roofline_.rw_us(2 * bytes); }
  double collective_us(Collective c, int mesh_dim, State bytes) {
    return model_.us(c, mesh_dim, static_cast<int64_t>(bytes));
  }

 private:
  double size(int mesh_dim) const { return static_cast<double>(model_.mesh().size(mesh_dim)); }
  const CollectiveModel& model_;
  const Roofline& roofline_;
};

class MemoPrices {
 public:
  using State = uint32_t;
  MemoPrices(const CollectiveModel& model, const Roofline& roofline) : direct_(model, roofline) {
    sizes_.reserve(64);
  }

  State state_of(double bytes) {
    for (uint32_t i = 0; i < sizes_.size(); ++i)
      if (sizes_[i].bytes == bytes) return i;
    sizes_.push_back(Size{.bytes = bytes, .copy_us = direct_.copy_us(bytes)});
    for (auto& prices : sizes_.back().collective_us) prices.fill(-1);
    sizes_.back().times.fill(kUnknown);
    sizes_.back().over.fill(kUnknown);
    return static_cast<State>(sizes_.size() - 1);
  }
  State times(State s, int mesh_dim) {
    const auto d = static_cast<size_t>(mesh_dim);
    if (sizes_[s].times[d] == kUnknown) {
      const State next = state_of(direct_.times(sizes_[s].bytes, mesh_dim));
      sizes_[s].times[d] = next;
    }
    return sizes_[s].times[d];
  }
  State over(State s, int mesh_dim) {
    const auto d = static_cast<size_t>(mesh_dim);
    if (sizes_[s].over[d] == kUnknown) {
      const State next = state_of(direct_.over(sizes_[s].bytes, mesh_dim));
      sizes_[s].over[d] = next;
    }
    return sizes_[s].over[d];
  }
  double copy_us(State s) { return sizes_[s].copy_us; }
  double collective_us(Collective c, int mesh_dim, State s) {
    double& us = sizes_[s].collective_us[static_cast<size_t>(mesh_dim)][static_cast<size_t>(c)];
    if (us < 0) us = direct_.collective_us(c, mesh_dim, sizes_[s].bytes);
    return us;
  }

 private:
  static constexpr State kUnknown = ~State{0};
  struct Size {
    double bytes = 0, copy_us = 0;
    std::array<State, kMaxMeshRank> times{}, over{};
    std::array<std::array<double, 4>, kMaxMeshRank> collective_us{};  // negative: not asked yet
  };
  DirectPrices direct_;
  std::vector<Size> sizes_;
};

// The one exception from "outermost mesh dim first": P(sum)P(sum) to shards on a 2-D mesh scatters
// the inner dim first, so that less crosses the outer.
bool visits_inner_first(int mesh_rank, const Layout& from, const Layout& to) {
  return mesh_rank == 2 && from[0] == Placement::partial() && from[1] == Placement::partial() &&
         to[0].is_shard() && to[1].is_shard();
}

double bytes_of_piece(const Mesh& mesh, double global_bytes, const Layout& layout) {
  double pieces = 1;
  for (int d = 0; d < mesh.rank(); ++d)
    if (layout[d].is_shard()) pieces *= static_cast<double>(mesh.size(d));
  return global_bytes / pieces;
}

// One mesh dim's change; `piece` becomes the state after it.
template <class Prices>
double step_us(Prices& prices, typename Prices::State& piece, int d, Placement from, Placement to,
               PriceRules rules) {
  const auto off_first_dim = [](Placement p) { return p.dim() != 0; };
  if (to.is_partial()) return from.is_partial() && rules == PriceRules::kCompat ? 0.0 : kInfinity;
  if (from.is_replicate()) return 0;  // the reference leaves the size as it is
  if (from.is_shard() && to.is_replicate()) {
    piece = prices.times(piece, d);
    const double us = prices.collective_us(Collective::kAllGather, d, piece);
    return off_first_dim(from) ? us + prices.copy_us(piece) : us;
  }
  if (from.is_shard()) {
    const double us = prices.collective_us(Collective::kAllToAll, d, piece);
    return us + (off_first_dim(from) + off_first_dim(to)) * prices.copy_us(piece);
  }
  if (to.is_replicate()) return prices.collective_us(Collective::kAllReduce, d, piece);
  double us = prices.collective_us(Collective::kReduceScatter, d, piece);
  if (off_first_dim(to)) us += prices.copy_us(piece);
  piece = prices.over(piece, d);
  return us;
}

template <class Prices>
double walk(Prices& prices, typename Prices::State piece, bool contiguous, int mesh_rank,
            const Layout& from, const Layout& to, PriceRules rules) {
  const bool inner_first = visits_inner_first(mesh_rank, from, to);
  double total = 0;
  for (int i = 0; i < mesh_rank; ++i) {
    const int d = inner_first ? mesh_rank - 1 - i : i;
    if (from[d] == to[d]) continue;
    if (!contiguous) total += prices.copy_us(piece);
    contiguous = true;
    total += step_us(prices, piece, d, from[d], to[d], rules);
  }
  return total;
}

double from_all_replicate_us(const Layout& to) { return to.has_partial() ? kInfinity : 0.0; }

// Layouts with their duplicates folded: the places of the distinct ones, and which of them each is.
struct Distinct {
  std::vector<uint32_t> places;
  std::vector<uint32_t> number;

  explicit Distinct(std::span<const Layout> layouts) : number(layouts.size()) {
    std::vector<std::pair<uint64_t, uint32_t>> keys(layouts.size());
    for (uint32_t i = 0; i < layouts.size(); ++i) keys[i] = {key_of(layouts[i]), i};
    std::sort(keys.begin(), keys.end());
    for (size_t i = 0; i < keys.size(); ++i) {
      if (i == 0 || keys[i].first != keys[i - 1].first) places.push_back(keys[i].second);
      number[keys[i].second] = static_cast<uint32_t>(places.size() - 1);
    }
  }

  static uint64_t key_of(const Layout& layout) {
    static_assert(kMaxMeshRank * 8 <= 64 && kMaxRank <= 64);
    uint64_t key = 0;
    for (const Placement p : layout.placement)
      key = key << 8 | static_cast<uint64_t>(p.kind) << 6 | p.arg;
    return key;
  }
};

}  // namespace

ValueMeta value_meta(const TensorType& type) {
  return {.bytes = static_cast<double>(type.bytes()), .contiguous = type.contiguous()};
}

double redistribute_us(const CollectiveModel& model, const Roofline& roofline, double global_bytes,
                       bool contiguous, const Layout& from, const Layout& to, PriceRules rules) {
  if (from.all_replicate()) return from_all_replicate_us(to);
  DirectPrices prices(model, roofline);
  return walk(prices, bytes_of_piece(model.mesh(), global_bytes, from), contiguous,
              model.mesh().rank(), from, to, rules);
}

void redistribute_matrix(const CollectiveModel& model, const Roofline& roofline,
                         double global_bytes, bool contiguous, std::span<const Layout> from,
                         std::span<const Layout> to, std::span<double> out_row_major,
                         PriceRules rules) {
  const Distinct rows(from), columns(to);
  const int mesh_rank = model.mesh().rank();
  MemoPrices prices(model, roofline);
  std::vector<double> distinct(rows.places.size() * columns.places.size());
  double* cell = distinct.data();
  for (const uint32_t i : rows.places) {
    const Layout& source = from[i];
    const bool all_replicate = source.all_replicate();
    const auto piece = prices.state_of(bytes_of_piece(model.mesh(), global_bytes, source));
    for (const uint32_t j : columns.places)
      *cell++ = all_replicate ? from_all_replicate_us(to[j])
                              : walk(prices, piece, contiguous, mesh_rank, source, to[j], rules);
  }
  double* out = out_row_major.data();
  for (const uint32_t row : rows.number)
    for (const uint32_t column : columns.number)
      *out++ = distinct[row * columns.places.size() + column];
}

double transition_us(const Layout& from, const Layout& to) {
  return from.same_placements(to) ? 0.0 : 1.0;
}

}  // namespace shw::cost
