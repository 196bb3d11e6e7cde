#include "lowering/shared_versions.h"

#include <algorithm>

#include "support/buckets.h"

namespace shw {
namespace {

// The versions of one value as a tree. The root is the value as it was defined.
class Tree {
 public:
  Tree(const Graph& graph, const Assignment& assignment, const Redistributor& redistributor,
       std::span<const Versions::Version> versions, SharedVersions& out)
      : g_(graph), a_(assignment), r_(redistributor), versions_(versions), out_(out) {}

  // `reads`: all reads of the value, in order. `choice_points`: its aliases, in order.
  void add(std::span<const VersionRead> reads, std::span<const NodeId> choice_points) {
    if (choice_points.empty()) return;
    sources_.assign(versions_.size(), {});
    sources_[0] = {g_.operands(choice_points[0])[0]};
    root_like_ = {choice_points[0], 0};
    for (NodeId alias : choice_points) place(alias);
    count(reads);
    for (uint32_t i = 1; i < versions_.size(); ++i)
      if (!sources_[i].value.valid() && uses_[i] > 1) share(i, reads);
    for (NodeId alias : choice_points) redirect_choice_point(alias);
    for (const VersionRead& r : reads) redirect(r.edge, r.version);
  }

 private:
  std::optional<uint32_t> index_of(NodeId alias) const {
    const Layout layout = r_.canonical(a_.results(alias)[0]);
    for (uint32_t i = 0; i < versions_.size(); ++i)
      if (versions_[i].layout == layout) return i;
    return std::nullopt;
  }
  // The first choice point with the layout of a version represents this version.
  void place(NodeId alias) {
    const auto i = index_of(alias);
    if (i && !sources_[*i].value.valid()) sources_[*i] = {alias};
  }
  void count(std::span<const VersionRead> reads) {
    uses_.assign(versions_.size(), 0);
    for (const VersionRead& r : reads) ++uses_[r.version];
    for (uint32_t i = 1; i < versions_.size(); ++i) ++uses_[parent(i)];
  }
  uint32_t parent(uint32_t i) const { return versions_[i].from; }

  // The nearest version with a variable: this one, or an ancestor.
  uint32_t modelled(uint32_t i) const {
    while (!sources_[i].value.valid()) i = parent(i);
    return i;
  }
  bool descends(uint32_t i, uint32_t from) const {
    while (i != from && i != 0) i = parent(i);
    return i == from;
  }

  void share(uint32_t i, std::span<const VersionRead> reads) {
    const auto reader =
        std::ranges::find_if(reads, [&](const VersionRead& r) { return descends(r.version, i); });
    if (reader == reads.end()) return;  // only a choice point, which nobody reads
    const uint32_t from = modelled(parent(i));
    out_.versions.push_back(
        {sources_[from], versions_[i].layout, reader->edge, like(from, reader->edge)});
    sources_[i] = {sources_[0].value, static_cast<uint32_t>(out_.versions.size() - 1)};
  }

  void redirect_choice_point(NodeId alias) {
    const auto i = index_of(alias);
    if (!i)
      out_.unread.push_back(alias);
    else
      redirect({alias, 0}, sources_[*i].value == alias ? parent(*i) : *i);
  }
  // An operand that the program reads from version i.
  void redirect(GraphEdge edge, uint32_t i) {
    const uint32_t from = modelled(i);
    const NodeId behind = g_.operands(edge.node)[edge.operand];
    const bool is_alias = behind != sources_[0].value;
    const std::optional<uint32_t> planned = is_alias ? index_of(behind) : 0;
    if (planned == from) return;
    out_.reads.push_back({edge, sources_[from], like(from, edge)});
  }
  // The value as it was defined may have gaps in memory. A version that was moved has none.
  GraphEdge like(uint32_t from, GraphEdge reader) const { return from == 0 ? root_like_ : reader; }

  const Graph& g_;
  const Assignment& a_;
  const Redistributor& r_;
  const std::span<const Versions::Version> versions_;
  SharedVersions& out_;
  GraphEdge root_like_;
  std::vector<SharedVersions::Source> sources_;  // by version; no value: it has no variable
  std::vector<uint32_t> uses_;  // by version: reads of it, and versions made from it
};

}  // namespace

SharedVersions shared_versions(const Graph& graph, const Assignment& assignment,
                               const Redistributor& redistributor, std::span<const Slot> slots,
                               const Versions& versions, std::span<const VersionRead> reads) {
  const auto slot = [&](NodeId n) { return slots[n.v].index; };
  std::vector<NodeId> aliases;
  for (uint32_t i = 0; i < graph.num_nodes(); ++i)
    if (graph.op(NodeId{i}) == OpKind::kAlias) aliases.push_back(NodeId{i});
  const Buckets<NodeId> choice_points(aliases, graph.num_results(), slot);
  const Buckets<VersionRead> reads_of(reads, graph.num_results(), [&](const VersionRead& r) {
    return slot(graph.operands(r.edge.node)[r.edge.operand]);
  });
  SharedVersions out;
  for (uint32_t number = 0; number < reads_of.size(); ++number)
    if (!reads_of[number].empty())
      Tree(graph, assignment, redistributor, versions.of(number), out)
          .add(reads_of[number], choice_points[number]);
  std::ranges::sort(out.reads, {}, &SharedVersions::Read::edge);
  std::ranges::sort(out.unread);
  return out;
}

}  // namespace shw
