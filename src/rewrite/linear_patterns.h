// Building blocks of the patterns that linear layers form in a graph, shared by the passes that
// match them.
#pragma once
#include <algorithm>
#include <span>
#include <string>

#include "graph/graph.h"

namespace shw {

inline std::span<const int64_t> batch_of(const Dims& shape) {
  return shape.span().first(shape.size() - 1);
}

// "abc": at most kMaxRank letters, so "k" and "n" are free.
inline std::string batch_letters(size_t count) {
  std::string s;
  for (size_t i = 0; i < count; ++i) s += static_cast<char>('a' + i);
  return s;
}

// If `view` flattens [*batch, last] to [prod(batch), last], the value before it; otherwise kNoNode.
inline NodeId unflattened(const Graph& g, NodeId view) {
  if (!view.valid() || g.op(view) != OpKind::kView) return kNoNode;
  const NodeId x = g.operands(view)[0];
  const Dims &from = g.type(x).shape, &to = g.type(view).shape;
  if (from.size() < 3 || g.type(x).numel() == 0 || to.size() != 2) return kNoNode;
  int64_t rows = 1;
  for (int64_t n : batch_of(from)) rows *= n;
  return to[0] == rows && to[1] == from.back() ? x : kNoNode;
}

inline bool is_transpose(const Graph& g, NodeId n) {
  return n.valid() && g.op(n) == OpKind::kPermute &&
         g.attrs(n).get_ints(AttrKey::kDims) == std::vector<int64_t>{1, 0};
}

// The metadata of the pattern's last node, but with the sequence number, recompute tag and
// checkpoint region of its product, so that forward and backward stay paired.
inline NodeMeta joined_meta(const Graph& g, NodeId product, NodeId last) {
  NodeMeta meta = g.meta(last);
  meta.sequence_nr = g.meta(product).sequence_nr;
  meta.recompute = g.meta(product).recompute;
  meta.ac_graph_id = g.meta(product).ac_graph_id;
  return meta;
}

}  // namespace shw
