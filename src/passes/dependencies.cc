#include "passes/dependencies.h"

#include "passes/storage_uses.h"

namespace shw {
namespace {

struct Edge {
  uint32_t from, to;
};

// The edges in the order of their later steps.
std::vector<Edge> edges_of(const Program& p, const ProgramEntry& entry) {
  StorageUses uses(p);
  std::vector<Edge> edges;
  for (uint32_t i = 0; i < entry.num_steps; ++i) {
    const ProgramStep& step = p.steps[entry.first_step + i];
    uses.for_each_before(step, [&](uint32_t earlier) { edges.push_back({earlier, i}); });
    uses.add(step, i);
  }
  return edges;
}

}  // namespace

Dependencies::Dependencies(const Program& program, const ProgramEntry& entry) {
  const std::vector<Edge> edges = edges_of(program, entry);
  const auto sort = [&](Lists& lists, uint32_t Edge::*by, uint32_t Edge::*item) {
    lists.first.assign(entry.num_steps + 1, 0);
    lists.items.resize(edges.size());
    for (const Edge& e : edges) ++lists.first[e.*by];
    for (size_t i = 1; i < lists.first.size(); ++i) lists.first[i] += lists.first[i - 1];
    for (size_t k = edges.size(); k-- > 0;)
      lists.items[--lists.first[edges[k].*by]] = edges[k].*item;
  };
  sort(before_, &Edge::to, &Edge::from);
  sort(after_, &Edge::from, &Edge::to);
}

}  // namespace shw
