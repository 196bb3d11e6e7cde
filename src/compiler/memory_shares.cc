#include "compiler/memory_shares.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "plan/module_tree.h"
#include "support/stable_sort.h"

namespace shw {
namespace {

// The modules of nodes; of a parameter or buffer, from its name; empty if there is none.
class Modules {
 public:
  explicit Modules(const Graph& graph) : graph_(graph) {}

  const std::string& of(NodeId n) {
    const int32_t input = graph_.input_index(n);
    if (input < 0) return named(graph_.meta(n).module_path, 0);
    const InputInfo& in = graph_.inputs()[static_cast<size_t>(input)];
    if (in.role != InputRole::kParameter && in.role != InputRole::kBuffer) return none_;
    return named(in.name, 1);
  }

 private:
  // Without its last `leaves` names. Many nodes have one path.
  const std::string& named(std::string_view path, size_t leaves) {
    const auto [at, is_new] = by_path_[leaves].try_emplace(path);
    if (!is_new) return at->second;
    const std::vector<std::string> names = module_names(path);
    for (size_t i = 0; i + leaves < names.size(); ++i) at->second += (i > 0 ? "." : "") + names[i];
    return at->second;
  }

  const Graph& graph_;
  const std::string none_;
  std::unordered_map<std::string_view, std::string> by_path_[2];  // for look-up only
};

}  // namespace

std::vector<MemoryShare> memory_shares(const Graph& graph, std::span<const MemoryPart> parts,
                                       int64_t peak_bytes) {
  Modules modules(graph);
  std::map<std::pair<std::string, MemoryKind>, double> bytes;
  for (const MemoryPart& part : parts) bytes[{modules.of(part.of), part.kind}] += part.bytes;
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
