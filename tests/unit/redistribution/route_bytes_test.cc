// Routes never send more bytes than the best sequence of plain moves. The test finds that sequence
// with Dijkstra's algorithm by bytes, over permutes and over gathers, all-to-alls and slices of one
// mesh dim. This search shares no code with the planner's.
#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <map>
#include <queue>
#include <random>
#include <sstream>

#include "redistribution/redistributor.h"

namespace shw {
namespace {

// For each tensor dim, the mesh dims that cut it, starting with the first cut.
using Cuts = std::vector<std::vector<int>>;

struct Case {
  std::vector<int64_t> mesh;
  std::vector<int64_t> shape;
};

double elements(const Case& c, const Cuts& cuts) {
  double n = 1;
  for (int64_t d : c.shape) n *= static_cast<double>(d);
  for (const auto& list : cuts)
    for (int m : list) n /= static_cast<double>(c.mesh[static_cast<size_t>(m)]);
  return n;
}

std::vector<int64_t> blocks(const Case& c, const Cuts& cuts) {
  std::vector<int64_t> all;
  for (const auto& list : cuts) {
    all.push_back(1);
    for (int m : list) all.back() *= c.mesh[static_cast<size_t>(m)];
  }
  return all;
}

bool is_even(const Case& c, const Cuts& cuts) {
  const std::vector<int64_t> n = blocks(c, cuts);
  for (size_t d = 0; d < n.size(); ++d)
    if (c.shape[d] % n[d] != 0) return false;
  return true;
}

// One state, or all states that cut the same blocks. A permute leads from any of these to any
// other.
struct Node {
  bool is_class = false;
  Cuts cuts;
  std::vector<int64_t> blocks;
  auto operator<=>(const Node&) const = default;
};

class PlainSearch {
 public:
  // `dims` lists the groups of mesh dims that one gather can cover. Empty: each dim alone.
  explicit PlainSearch(const Case& c, std::vector<std::vector<int>> dims = {})
      : c_(c), dims_(std::move(dims)) {
    for (int m = 0; dims_.size() < c.mesh.size() && m < static_cast<int>(c.mesh.size()); ++m)
      dims_.push_back({m});
    deal(Cuts(c.shape.size()), 0);
    for (const Cuts& cuts : all_) by_blocks_[blocks(c_, cuts)].push_back(cuts);
  }
  const std::vector<Cuts>& all() const { return all_; }

  // The smallest number of elements that a rank sends.
  double least(const Cuts& from, const Cuts& to) const {
    using Entry = std::pair<double, Node>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    std::map<Node, double> best;
    const auto reach = [&](Node node, double cost) {
      const auto [it, is_new] = best.emplace(node, cost);
      if (!is_new && it->second <= cost) return;
      it->second = cost;
      queue.emplace(cost, std::move(node));
    };
    reach({false, from, {}}, 0);
    while (!queue.empty()) {
      const auto [cost, node] = queue.top();
      queue.pop();
      if (best.at(node) < cost) continue;
      if (!node.is_class && node.cuts == to) return cost;
      expand(node, cost, reach);
    }
    return -1;
  }

 private:
  // All ways to assign the mesh dims from `m` on to the tensor dims, in all orders.
  void deal(const Cuts& cuts, int m) {
    if (m == static_cast<int>(c_.mesh.size())) {
      if (is_even(c_, cuts)) all_.push_back(cuts);
      return;
    }
    deal(cuts, m + 1);
    for (size_t d = 0; d < cuts.size(); ++d)
      for (size_t at = 0; at <= cuts[d].size(); ++at) {
        Cuts more = cuts;
        more[d].insert(more[d].begin() + static_cast<std::ptrdiff_t>(at), m);
        deal(more, m + 1);
      }
  }

  template <class Reach>
  void expand(const Node& node, double cost, Reach&& reach) const {
    if (node.is_class) {
      for (const Cuts& cuts : by_blocks_.at(node.blocks)) reach({false, cuts, {}}, cost);
      return;
    }
    const double piece = elements(c_, node.cuts);
    reach({true, {}, blocks(c_, node.cuts)}, cost + piece);
    std::vector<bool> cuts_some(c_.mesh.size(), false);
    for (size_t d = 0; d < node.cuts.size(); ++d) {
      for (int m : node.cuts[d]) cuts_some[static_cast<size_t>(m)] = true;
      if (node.cuts[d].empty()) continue;
      gather(node.cuts, d, cost, reach);
      Cuts open = node.cuts;
      const int m = open[d].back();
      const auto n = static_cast<double>(c_.mesh[static_cast<size_t>(m)]);
      open[d].pop_back();
      for (size_t e = 0; e < node.cuts.size(); ++e)
        if (e != d) reach_even(with(open, e, m), cost + piece * (n - 1) / n, reach);
    }
    for (size_t m = 0; m < c_.mesh.size(); ++m)
      for (size_t d = 0; !cuts_some[m] && d < node.cuts.size(); ++d)
        reach_even(with(node.cuts, d, static_cast<int>(m)), cost, reach);
  }
  // Gathers what was cut last from tensor dim `d`.
  template <class Reach>
  void gather(Cuts cuts, size_t d, double cost, Reach&& reach) const {
    const double piece = elements(c_, cuts);
    const std::vector<int>& dim = *std::ranges::find_if(
        dims_, [&](const auto& list) { return std::ranges::count(list, cuts[d].back()) > 0; });
    if (cuts[d].size() < dim.size() ||
        !std::is_permutation(dim.begin(), dim.end(), cuts[d].end() - std::ssize(dim)))
      return;
    cuts[d].resize(cuts[d].size() - dim.size());
    reach({false, cuts, {}}, cost + elements(c_, cuts) - piece);
  }
  template <class Reach>
  void reach_even(const Cuts& cuts, double cost, Reach&& reach) const {
    if (is_even(c_, cuts)) reach(Node{false, cuts, {}}, cost);
  }
  static Cuts with(Cuts cuts, size_t d, int m) {
    cuts[d].push_back(m);
    return cuts;
  }

  const Case c_;
  std::vector<std::vector<int>> dims_;
  std::vector<Cuts> all_;
  std::map<std::vector<int64_t>, std::vector<Cuts>> by_blocks_;
};

Mesh mesh_of(const Case& c) {
  std::vector<Mesh::Axis> axes;
  for (size_t m = 0; m < c.mesh.size(); ++m)
    axes.push_back({std::string(1, static_cast<char>('a' + m)), c.mesh[m]});
  return *Mesh::create(std::move(axes));
}

Layout layout_of(const Cuts& cuts) {
  Layout layout;
  size_t next = 0;
  uint32_t placed = 0;
  for (size_t d = 0; d < cuts.size(); ++d)
    for (int m : cuts[d]) {
      layout[m] = Placement::shard(static_cast<int>(d));
      layout.order[next++] = static_cast<uint8_t>(m);
      placed |= 1u << m;
    }
  for (uint8_t m = 0; m < kMaxMeshRank; ++m)
    if (!(placed >> m & 1)) layout.order[next++] = m;
  return normalised(layout);
}

// Prices in which one microsecond is one byte sent by a rank.
MovePrices bytes_alone(const Mesh& mesh) {
  return {[&mesh](CollectiveKind kind, uint32_t mask, int64_t bytes) {
            double n = 1;
            for (uint32_t left = mask; left != 0; left &= left - 1)
              n *= static_cast<double>(mesh.size(std::countr_zero(left)));
            const double all = static_cast<double>(bytes);
            return kind == CollectiveKind::kPermute ? all : all * (n - 1) / n;
          },
          [](int64_t) { return 0.0; }};
}

// The cuts with each mesh dim replaced by its parts.
Cuts by_parts(const Cuts& cuts, const std::vector<std::vector<int>>& parts) {
  Cuts made(cuts.size());
  for (size_t d = 0; d < cuts.size(); ++d)
    for (int m : cuts[d])
      made[d].insert(made[d].end(), parts[static_cast<size_t>(m)].begin(),
                     parts[static_cast<size_t>(m)].end());
  return made;
}

// Compares on a mesh whose dims have these parts. A route must not send more than the best sequence
// of moves of parts, in which whole dims are gathered at once. Returns the number of pairs that
// send less than moves of whole dims do.
int compare_by_parts(const Case& whole, const Case& fine,
                     const std::vector<std::vector<int>>& parts) {
  const PlainSearch layouts(whole), plain(fine, parts);
  const Mesh mesh = with_parts(mesh_of(whole), 4);
  EXPECT_EQ(mesh.by_parts().rank(), static_cast<int>(fine.mesh.size()));
  const MovePrices prices = bytes_alone(mesh);
  Redistributor planner(mesh, prices);
  Dims shape;
  for (int64_t d : whole.shape) shape.push_back(d);
  int less = 0;
  for (const Cuts& from : layouts.all())
    for (const Cuts& to : layouts.all()) {
      const Layout a = layout_of(from), b = layout_of(to);
      const auto route = planner.route(shape, 1, a, b);
      EXPECT_TRUE(route.ok());
      double sent = 0;
      for (const Move& move : (*route)->moves) sent += move.collective_us;
      const double least = plain.least(by_parts(from, parts), by_parts(to, parts));
      EXPECT_LE(sent, least + 1e-6) << mesh.to_string() << ": " << to_string(a, mesh.rank())
                                    << " -> " << to_string(b, mesh.rank());
      less += sent < layouts.least(from, to) - 1e-6;
    }
  return less;
}

TEST(RouteBytes, AreNeverMoreThanThoseOfPartsOfMeshDims) {
  EXPECT_GT(compare_by_parts({{4, 8}, {64, 64}}, {{4, 4, 2}, {64, 64}}, {{0}, {1, 2}}), 0);
  EXPECT_GT(compare_by_parts({{8, 2}, {32, 32}}, {{2, 4, 2}, {32, 32}}, {{0, 1}, {2}}), 0);
  EXPECT_GT(compare_by_parts({{2, 4}, {16, 8, 8}}, {{2, 2, 2}, {16, 8, 8}}, {{0}, {1, 2}}), 0);
}

void compare(const Case& c, int pairs) {
  const PlainSearch plain(c);
  const Mesh mesh = mesh_of(c);
  const MovePrices prices = bytes_alone(mesh);
  Redistributor planner(mesh, prices);
  Dims shape;
  for (int64_t d : c.shape) shape.push_back(d);
  std::mt19937 random(7);
  std::uniform_int_distribution<size_t> any(0, plain.all().size() - 1);
  for (int i = 0; i < pairs; ++i) {
    const Cuts &from = plain.all()[any(random)], &to = plain.all()[any(random)];
    const Layout a = layout_of(from), b = layout_of(to);
    const auto route = planner.route(shape, 1, a, b);
    ASSERT_TRUE(route.ok()) << route.status().message();
    const double least = plain.least(from, to);
    ASSERT_GE(least, 0);
    double sent = 0;
    for (const Move& move : (*route)->moves) sent += move.collective_us;
    EXPECT_LE(sent, least + 1e-6) << mesh.to_string() << ": " << to_string(a, mesh.rank()) << " -> "
                                  << to_string(b, mesh.rank());
  }
}

TEST(RouteBytes, AreNeverMoreThanThoseOfPlainMoves) {
  compare({{8}, {16, 16, 16}}, 40);
  compare({{8, 8}, {64, 64}}, 60);
  compare({{2, 4}, {16, 32, 8}}, 60);
  compare({{2, 3, 2}, {12, 24}}, 60);
  compare({{4, 2, 2}, {16, 16, 16}}, 60);
  compare({{2, 2, 2, 2}, {16, 32}}, 60);
}

// Routes never send more bytes than Shardy's, and never use more collectives for as many bytes. The
// fixed price of a collective is below that of any saved byte.
TEST(RouteBytes, AreNeverMoreThanShardys) {
  std::ifstream file(std::string(SHW_TEST_DATA) + "/redistribution/shardy.txt");
  int cases = 0, fewer = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    SCOPED_TRACE(line);
    std::istringstream words(line);
    std::string axes, sizes, before, after;
    double bytes = 0;
    size_t collectives = 0;
    ASSERT_TRUE(words >> axes >> sizes >> before >> after >> bytes >> collectives);
    const auto mesh = Mesh::parse(axes);
    ASSERT_TRUE(mesh.ok()) << mesh.status().message();
    Dims shape;
    std::istringstream dims(sizes);
    for (std::string d; std::getline(dims, d, ',');) shape.push_back(std::stoll(d));
    const MovePrices alone = bytes_alone(*mesh);
    const MovePrices prices{[&alone](CollectiveKind kind, uint32_t mask, int64_t n) {
                              return 0.01 + alone.collective_us(kind, mask, n);
                            },
                            alone.copy_us};
    Redistributor planner(*mesh, prices);
    const auto route = planner.route(shape, 4, *parse_layout(before, mesh->rank()),
                                     *parse_layout(after, mesh->rank()));
    ASSERT_TRUE(route.ok()) << route.status().message();
    double sent = 0;
    size_t made = 0;
    for (const Move& move : (*route)->moves) {
      if (move.kind == CollectiveKind::kNone) continue;
      ++made;
      sent += move.collective_us - 0.01;
    }
    EXPECT_LE(sent, bytes + 0.5);
    if (sent > bytes - 0.5) {
      EXPECT_LE(made, collectives);
    }
    fewer += sent < bytes - 0.5;
    ++cases;
  }
  EXPECT_EQ(cases, 77);
  EXPECT_GE(fewer, 18);
}

TEST(RouteBytes, AreNeverMoreOnFiveAndSixMeshDims) {
  compare({{2, 2, 2, 2, 2}, {32, 32}}, 20);
  compare({{2, 3, 2, 2, 2}, {48, 96}}, 10);
  compare({{2, 2, 2, 2, 2, 2}, {64, 64}}, 8);
}

}  // namespace
}  // namespace shw
