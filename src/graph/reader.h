// Reads a graph from bytes (schemas/graph.fbs). The bytes are not trusted. The reader checks the
// size limit, the alignment and the file identifier, and runs the FlatBuffers verifier. Then it
// checks everything that the schema cannot express: indices are in range and defined before their
// use, names and enumerators are known, types are sane, and limits on memory hold. Checks that need
// knowledge of the operations (operand counts, shapes) are in rewrite/verify.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "graph/graph.h"
#include "support/status.h"

namespace shw {

inline constexpr uint32_t kGraphFormatVersion = 1;

// A graph beyond these limits is refused before memory is allocated. FlatBuffers lets several
// fields share one string or vector, so a small file could otherwise describe a huge graph.
struct GraphLimits {
  size_t max_bytes = size_t{256} << 20;  // of the file, which has no weights (32-layer LLaMA: 2 MB)
  uint32_t max_nodes = 1u << 20;
  uint32_t max_list_items = 1u << 23;  // operands, results and attribute values, all together
  uint32_t max_string_bytes = 4096;    // one name or path
  size_t max_text_bytes = size_t{256} << 20;  // all names and paths together
  uint32_t max_entries = 256;
  size_t max_constant_bytes = size_t{1} << 20;  // of one constant
  size_t max_data_bytes = size_t{16} << 20;     // of all constants together
};

// INVALID_ARGUMENT: the bytes are not a graph. UNIMPLEMENTED: the format permits the graph, but the
// library does not support it yet. The status names the node at fault if there is one. The bytes
// need no alignment.
Result<Graph> read_graph(std::span<const uint8_t> bytes, const GraphLimits& limits = {});

}  // namespace shw
