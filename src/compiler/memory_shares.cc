#include "compiler/memory_shares.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "plan/module_tree.h"
#include "support/stable_sort.h"

namespace shw {
namespace {

// The module of a node; for a parameter or buffer, from its name; empty if there is none.
std::string module_of(const Graph& graph, NodeId n) {
  const int32_t input = graph.input_index(n);
  std::vector<std::string> names;
  if (input < 0) {
    names = module_names(graph.meta(n).module_path);
  } else if (const InputInfo& in = graph.inputs()[static_cast<size_t>(input)];
             in.role == InputRole::kParameter || in.role == InputRole::kBuffer) {
    names = module_names(in.name);
    if (!names.empty()) names.pop_back();
  }
  std::string path;
  for (const std::string& name : names) path += (path.empty() ? "" : ".") + name;
  return path;
}

}  // namespace

std::vector<MemoryShare> memory_shares(const Graph& graph, std::span<const MemoryPart> parts,
                                       int64_t peak_bytes) {
  std::map<std::pair<std::string, MemoryKind>, double> bytes;
  for (const MemoryPart& part : parts) bytes[{module_of(graph, part.of), part.kind}] += part.bytes;
  std::vector<MemoryShare> shares;
  int64_t left = peak_bytes;
  for (const auto& [key, held] : bytes) {
    const auto whole = static_cast<int64_t>(held);
    shares.push_back({std::string(to_string(key.second)), key.first, whole});
    left -= whole;
  }
  sort_stably(shares, std::ranges::greater(), &MemoryShare::bytes);
  if (!shares.empty()) shares[0].bytes += left;  // the fractional bytes of optimizer state
  return shares;
}

}  // namespace shw
