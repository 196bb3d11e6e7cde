#include "passes/dependencies.h"

namespace shw {
namespace {

struct Edge {
  uint32_t from, to;
};

// The edges in the order of their later steps. A storage chains its readers and its writers, the
// last of them first, so that no list is allocated for each.
std::vector<Edge> edges_of(const Program& p, const ProgramEntry& entry) {
  constexpr uint32_t kEnd = UINT32_MAX;
  struct Use {
    uint32_t step, previous;
  };
  std::vector<Use> uses;
  std::vector<uint32_t> last_write(p.storages.size(), kEnd), last_read(p.storages.size(), kEnd);
  std::vector<Edge> edges;
  for (uint32_t i = 0; i < entry.num_steps; ++i) {
    const ProgramStep& step = p.steps[entry.first_step + i];
    const auto comes_after = [&](uint32_t use) {
      for (; use != kEnd; use = uses[use].previous)
        if (uses[use].step != i) edges.push_back({uses[use].step, i});
    };
    const auto add_use = [&](std::vector<uint32_t>& last, ValueId v) {
      uint32_t& use = last[p.values[v].storage.v];
      uses.push_back({i, use});
      use = static_cast<uint32_t>(uses.size() - 1);
    };
    for (ValueId v : step.inputs)
      if (v.valid()) comes_after(last_write[p.values[v].storage.v]);
    for (ValueId v : step.outputs)
      if (v.valid()) comes_after(last_read[p.values[v].storage.v]);
    for (ValueId v : step.inputs)
      if (v.valid()) add_use(last_read, v);
    for (ValueId v : step.outputs)
      if (v.valid()) add_use(last_write, v);
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
