#include "placement/saved_placements.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

#include "support/json_value.h"

namespace shw {
namespace {

using Kind = JsonValue::Kind;
using Layouts = std::vector<std::optional<Layout>>;  // nullopt: no tensor

// The member of an object, which must have that type.
Result<const JsonValue*> member(const JsonValue& object, std::string_view key, Kind kind,
                                const std::string& where) {
  const JsonValue* value = object.find(key);
  if (value == nullptr || value->kind != kind)
    return invalid_argument("placements: " + where + " needs \"" + std::string(key) + "\", " +
                            (kind == Kind::kString   ? "a string"
                             : kind == Kind::kNumber ? "a number"
                             : kind == Kind::kArray  ? "an array"
                                                     : "an object"));
  return value;
}

Status check_mesh(const JsonValue& root, const Mesh& mesh) {
  SHW_ASSIGN_OR_RETURN(const JsonValue* object, member(root, "mesh", Kind::kObject, "the file"));
  SHW_ASSIGN_OR_RETURN(const JsonValue* shape, member(*object, "shape", Kind::kArray, "mesh"));
  SHW_ASSIGN_OR_RETURN(const JsonValue* names, member(*object, "dim_names", Kind::kArray, "mesh"));
  const auto rank = static_cast<size_t>(mesh.rank());
  bool same = shape->items.size() == rank && names->items.size() == rank;
  for (size_t m = 0; same && m < rank; ++m)
    same = shape->items[m].kind == Kind::kNumber &&
           shape->items[m].number == static_cast<double>(mesh.size(static_cast<int>(m))) &&
           names->items[m].string == mesh.name(static_cast<int>(m));
  if (same) return {};
  return invalid_argument("placements: the file is for another mesh than " + mesh.to_string());
}

class Reader {
 public:
  Reader(const Graph& graph, const Mesh& mesh, const Strategies& strategies, bool any_order)
      : graph_(graph), mesh_(mesh), strategies_(strategies), any_order_(any_order) {
    for (uint32_t i = graph.num_nodes(); i-- > 0;)
      by_name_[graph.name(NodeId{i})].push_back(NodeId{i});
  }

  Result<AllowedLabels> read(const JsonValue& entry, size_t index) {
    const std::string where = "node " + std::to_string(index);
    SHW_ASSIGN_OR_RETURN(const JsonValue* name, member(entry, "name", Kind::kString, where));
    SHW_ASSIGN_OR_RETURN(const NodeId n, take(name->string));
    SHW_ASSIGN_OR_RETURN(const JsonValue* output,
                         member(entry, "output", Kind::kString, name->string));
    SHW_ASSIGN_OR_RETURN(const JsonValue* inputs,
                         member(entry, "inputs", Kind::kArray, name->string));
    std::string_view results = output->string;
    if (results.size() >= 2 && results.front() == '(' && results.back() == ')')
      results = results.substr(1, results.size() - 2);
    SHW_ASSIGN_OR_RETURN(const Layouts want_results, read_list(results));
    Layouts want_operands;
    for (const JsonValue& input : inputs->items) {
      if (input.kind != Kind::kString)
        return invalid_argument("placements: inputs of " + name->string + " are not all strings");
      SHW_ASSIGN_OR_RETURN(want_operands.emplace_back(), read_one(input.string));
    }
    return choose(n, want_results, want_operands);
  }

 private:
  // The next node of that name.
  Result<NodeId> take(const std::string& name) {
    const auto it = by_name_.find(name);
    if (it == by_name_.end())
      return invalid_argument("placements: there is no node '" + name +
                              "' (names are those after the rewrites)");
    if (it->second.empty())
      return invalid_argument("placements: node '" + name +
                              "' occurs more often in the file than in the graph");
    const NodeId n = it->second.back();
    it->second.pop_back();
    return n;
  }

  Result<std::optional<Layout>> read_one(std::string_view text) const {
    if (text == "none") return std::optional<Layout>();
    SHW_ASSIGN_OR_RETURN(const Layout layout, parse_layout(text, mesh_.rank()));
    return std::optional<Layout>(layout);
  }

  Result<Layouts> read_list(std::string_view text) const {
    Layouts list;
    while (!text.empty()) {
      const size_t comma = text.find(", ");
      SHW_ASSIGN_OR_RETURN(list.emplace_back(), read_one(text.substr(0, comma)));
      text = comma == text.npos ? std::string_view() : text.substr(comma + 2);
    }
    return list;
  }

  const Layout& layout(LayoutListId list, uint32_t strategy) const {
    return strategies_.pool().layout(strategies_.pool().list(list)[strategy]);
  }

  bool has(const std::vector<LayoutListId>& lists, uint32_t strategy, const Layouts& want) const {
    if (lists.size() != want.size()) return false;
    for (size_t k = 0; k < lists.size(); ++k) {
      if (lists[k].valid() != want[k].has_value()) return false;
      if (!want[k]) continue;
      const Layout& is = layout(lists[k], strategy);
      if (any_order_ ? !is.same_placements(*want[k]) : is != *want[k]) return false;
    }
    return true;
  }

  Result<AllowedLabels> choose(NodeId n, const Layouts& results, const Layouts& operands) const {
    const StrategySet& set = strategies_.of(n);
    AllowedLabels out{n, {}, "placement of " + graph_.name(n)};
    for (uint32_t s = 0; s < set.count; ++s)
      out.allowed.push_back(has(set.results, s, results) && has(set.operands, s, operands));
    for (const auto& layout : results) out.results.push_back(layout.value_or(Layout{}));
    for (const auto& layout : operands) out.operands.push_back(layout.value_or(Layout{}));
    if (std::find(out.allowed.begin(), out.allowed.end(), true) != out.allowed.end()) return out;
    return at_origin(
        invalid_argument("placements: " + graph_.name(n) +
                         " has no strategy with these layouts; one of its strategies is " +
                         strategy_text(strategies_, n, 0, mesh_.rank())),
        graph_, n);
  }

  const Graph& graph_;
  const Mesh& mesh_;
  const Strategies& strategies_;
  const bool any_order_;
  std::unordered_map<std::string, std::vector<NodeId>> by_name_;  // in reverse order
};

}  // namespace

Result<std::vector<AllowedLabels>> read_placements(std::string_view json, const Graph& graph,
                                                   const Mesh& mesh, const Strategies& strategies,
                                                   bool any_order) {
  auto parsed = parse_json(json, kMaxPlacementsText);
  if (!parsed.ok())
    return Status(parsed.status().code(), "placements: " + parsed.status().message());
  SHW_ASSIGN_OR_RETURN(const JsonValue* version,
                       member(*parsed, "version", Kind::kNumber, "the file"));
  if (version->number != 1)
    return failed_precondition(
        "placements: another version of the format wrote them; this library reads version 1");
  SHW_RETURN_IF_ERROR(check_mesh(*parsed, mesh));
  SHW_ASSIGN_OR_RETURN(const JsonValue* nodes, member(*parsed, "nodes", Kind::kArray, "the file"));
  Reader reader(graph, mesh, strategies, any_order);
  std::vector<AllowedLabels> choices;
  for (size_t i = 0; i < nodes->items.size(); ++i) {
    SHW_ASSIGN_OR_RETURN(choices.emplace_back(), reader.read(nodes->items[i], i));
  }
  return choices;
}

}  // namespace shw
