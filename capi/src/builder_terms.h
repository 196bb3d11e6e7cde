// Converts the caller's descriptions of nodes, inputs, outputs and entries (shw_builder) to the
// graph's types. Nothing here changes the graph.
#pragma once
#include <string>
#include <vector>

#include "boundary.h"
#include "graph/graph.h"
#include "rewrite/infer_sizes.h"
#include "shardwise/builder.h"

namespace shw::capi {

constexpr uint32_t kMaxNodes = 1u << 20;  // same limit as graph/reader.h

struct NodeTexts {
  std::string name;
  NodeMeta meta;
};
// A node's attributes from the caller. Symbolic attributes are evaluated at the symbols' hints.
struct NodeAttrs {
  Attrs attrs;
  SymbolicAttrs symbolic;
};
struct InputType {
  TensorType type;  // at the hints
  Exprs sizes;      // empty: they are numbers
};

inline std::string text_or_empty(const char* text) {
  return text == nullptr ? std::string() : text;
}
Result<NodeTexts> read_node_options(const shw_node_options* in);
Result<NodeAttrs> read_attrs(const Graph& graph, OpKind op, const shw_attr* attrs, size_t count);
// SHW_NONE, or a node of the graph.
Result<NodeId> node_of(const Graph& graph, size_t node, const char* what);
Result<InputType> input_type(const Graph& graph, const shw_builder_input& in);
// Buckets share data that outlive a run, so its sizes must not depend on symbols.
Status check_is_not_shared(const InputInfo& info, const Exprs& sizes);
Result<InputInfo> input_info(const Graph& graph, const shw_builder_input& in);
Result<InputInfo> constant_info(const Graph& graph, const char* name, const TensorType& type,
                                const shw_tensor& tensor);
Result<OutputInfo> output_info(const Graph& graph, const shw_builder_output& out);
// Callers identify outputs by name, so names must be unique.
Status check_output_is_new(const Graph& graph, const OutputInfo& info);
Result<EntryInfo> entry_info(const Graph& graph, const shw_builder_entry& in);

}  // namespace shw::capi
