#include "answers/clusters.h"

#include <cctype>
#include <string>
#include <unordered_map>

namespace shw::answers {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

struct Path {
  std::string form;               // of "layers.12.wq": "layers.#.wq"
  std::vector<uint64_t> numbers;  // 12
};

Path path_of(const std::string& text) {
  Path path;
  for (size_t i = 0; i < text.size();) {
    const bool begins = i == 0 || text[i - 1] == '.';
    size_t end = i;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (begins && end > i && end - i < 10 && (end == text.size() || text[end] == '.')) {
      path.form += '#';
      path.numbers.push_back(std::stoull(text.substr(i, end - i)));
      i = end;
    } else {
      path.form += text[i++];
    }
  }
  return path;
}

std::string kind_of(const Graph& graph, NodeId n) {
  std::string kind = std::string(op_name(graph.op(n))) + '|' +
                     (graph.meta(n).phase == Phase::kForward ? 'f' : 'b');
  for (const auto& type : graph.results(n)) kind += '|' + (type ? to_string(*type) : "");
  return kind;
}

}  // namespace

std::vector<NodeId> cluster_roots(const Graph& graph) {
  struct Cluster {
    NodeId root;
    std::vector<uint64_t> numbers;  // of the root's module
    uint32_t members = 0;
  };
  std::vector<Cluster> clusters;
  std::vector<uint32_t> of(graph.num_nodes(), UINT32_MAX);
  std::unordered_map<std::string, uint32_t> place;   // index of the next such node in its module
  std::unordered_map<std::string, uint32_t> by_key;  // kind, form of the module, index
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const NodeId n{i};
    const std::string& module = graph.meta(n).module_path;
    if (graph.input_index(n) >= 0 || module.empty()) continue;
    const std::string kind = kind_of(graph, n);
    Path path = path_of(module);
    const std::string at = std::to_string(place[kind + '|' + module]++);
    of[i] = by_key.try_emplace(kind + '|' + path.form + '|' + at, clusters.size()).first->second;
    if (of[i] == clusters.size()) clusters.push_back({n, path.numbers});
    Cluster& cluster = clusters[of[i]];
    ++cluster.members;
    if (path.numbers < cluster.numbers) cluster = {n, std::move(path.numbers), cluster.members};
  }
  std::vector<NodeId> roots(graph.num_nodes(), kNoNode);
  for (uint32_t i = 0; i < graph.num_nodes(); ++i)
    if (of[i] != UINT32_MAX && clusters[of[i]].members > 1) roots[i] = clusters[of[i]].root;
  return roots;
}

}  // namespace shw::answers
