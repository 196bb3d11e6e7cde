#include "answers/nodes.h"

#include <algorithm>
#include <set>
#include <vector>

#include "support/similar.h"

namespace shw::answers {
namespace {

constexpr size_t kMaxOffers = 5;

// Calls f(name, node) for every name of every node.
template <class F>
void for_names(const Graph& graph, F f) {
  for (const InputInfo& in : graph.inputs()) f(graph.full_name(in), in.node);
  for (const OutputInfo& out : graph.outputs())
    if (out.node.valid()) f(graph.full_name(out), out.node);
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) f(graph.name(NodeId{i}), NodeId{i});
}

// Names that contain the requested one or a suffix of it, or that are spelled similarly.
std::string offers(const Graph& graph, std::string_view name) {
  const std::string_view asked = name;
  std::set<std::string> offered;  // a node and its port may have one name
  std::string text;
  for (;;) {
    for_names(graph, [&](const std::string& other, NodeId) {
      if (other.find(name) == std::string::npos || !offered.insert(other).second) return;
      if (offered.size() <= kMaxOffers) text += (text.empty() ? "" : ", ") + other;
    });
    const size_t dot = name.find('.');
    if (!offered.empty() || dot == std::string_view::npos) break;
    name.remove_prefix(dot + 1);
  }
  if (offered.empty()) {
    std::vector<std::string> names;
    for_names(graph, [&](const std::string& other, NodeId) { names.push_back(other); });
    const std::string near = did_you_mean(asked, std::move(names));
    if (!near.empty()) return near;
    return "; names are those after the rewrites (`show PLAN --nodes` lists them)";
  }
  return "; did you mean " + text + (offered.size() > kMaxOffers ? ", …" : "") + "?";
}

}  // namespace

Result<NodeId> node_named(const Graph& graph, std::string_view name) {
  std::vector<NodeId> found;
  for_names(graph, [&](const std::string& other, NodeId n) {
    if (other == name && std::find(found.begin(), found.end(), n) == found.end())
      found.push_back(n);
  });
  if (found.empty())
    return Status(Code::kNotFound,
                  "there is no node '" + std::string(name) + "'" + offers(graph, name));
  if (found.size() > 1)
    return invalid_argument(std::to_string(found.size()) + " nodes have the name '" +
                            std::string(name) + "'");
  return found.front();
}

}  // namespace shw::answers
