// Graph from bytes (schemas/graph.fbs). Nothing of the bytes is trusted: size limit, alignment,
// file identifier, FlatBuffers verifier, then everything that the schema cannot say: indices in
// range and before their use, known names and enumerators, sane types, limits on what is
// materialised. What needs knowledge of the operations (operand counts, shapes) is in
// rewrite/verify.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "graph/graph.h"
#include "support/status.h"

namespace shw {

inline constexpr uint32_t kGraphFormatVersion = 1;

// Refused beyond these, before memory is spent. FlatBuffers lets several fields share one string or
// vector, so a small file could otherwise ask for a huge graph.
struct GraphLimits {
  size_t max_bytes =
      size_t{256} << 20;  // of the file; weights are not in it (32-layer LLaMA: 2 MB)
  uint32_t max_nodes = 1u << 20;
  uint32_t max_list_items = 1u << 23;  // operands, results and attribute values, all together
  uint32_t max_string_bytes = 4096;    // one name or path
  size_t max_text_bytes = size_t{256} << 20;  // all names and paths together
  uint32_t max_entries = 256;
  size_t max_constant_bytes = size_t{1} << 20;  // of one constant
  size_t max_data_bytes = size_t{16} << 20;     // of all constants together
};

// INVALID_ARGUMENT for bytes that are no graph, UNIMPLEMENTED for what the format can say but we
// cannot do yet; with the node at fault where there is one. Bytes may lie at any address.
Result<Graph> read_graph(std::span<const uint8_t> bytes, const GraphLimits& limits = {});

}  // namespace shw
