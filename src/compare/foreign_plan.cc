#include "compare/foreign_plan.h"

#include <algorithm>

#include "answers/nodes.h"
#include "placement/saved_placements.h"
#include "support/json_value.h"

namespace shw::compare {
namespace {

using Kind = JsonValue::Kind;

Result<std::vector<Layout>> parse_layouts(std::string_view text, const Mesh& mesh) {
  if (text.size() >= 2 && text.front() == '(' && text.back() == ')')
    text = text.substr(1, text.size() - 2);
  std::vector<Layout> list;
  while (!text.empty()) {
    const size_t comma = text.find(", ");
    const std::string_view one = text.substr(0, comma);
    list.emplace_back();
    if (one != "none" && one != "None") {
      SHW_ASSIGN_OR_RETURN(list.back(), parse_layout(one, mesh.rank()));
    }
    text = comma == text.npos ? std::string_view() : text.substr(comma + 2);
  }
  return list;
}

std::string_view string_at(const JsonValue& object, std::string_view key) {
  const JsonValue* value = object.find(key);
  return value != nullptr && value->kind == Kind::kString ? value->string : std::string_view();
}

class Reader {
 public:
  explicit Reader(const PreparedModel& model)
      : graph_(model.graph()), mesh_(model.mesh()), strategies_(model.strategies()) {}

  // {name: layout}
  Status read_map(const JsonValue& root) {
    for (size_t i = 0; i < root.items.size(); ++i) {
      const std::string& name = root.keys[i];
      if (root.items[i].kind != Kind::kString)
        return invalid_argument("plan: the layout of '" + name + "' is no text such as \"S(0)R\"");
      const Result<NodeId> n = answers::node_named(graph_, name);
      if (!n.ok()) return invalid_argument("plan: " + n.status().message());
      SHW_RETURN_IF_ERROR(allow(*n, root.items[i].string, {}));
    }
    return {};
  }

  // AutoParallel's export.
  Status read_export(const JsonValue& root, const JsonValue& nodes) {
    SHW_RETURN_IF_ERROR(check_mesh(root));
    for (const JsonValue& node : nodes.items) {
      const std::string_view name = string_at(node, "name"), layout = string_at(node, "placement");
      if (name.empty()) return invalid_argument("plan: a node has no \"name\"");
      if (layout.empty()) continue;  // the list of outputs
      const Result<NodeId> n = answers::node_named(graph_, name);
      if (!n.ok())
        ++out_.num_unknown;
      else
        SHW_RETURN_IF_ERROR(allow(*n, layout, operand_texts(node)));
    }
    if (!out_.choices.empty()) return {};
    return invalid_argument("plan: the graph has none of its " +
                            std::to_string(nodes.items.size()) + " nodes");
  }

  ForeignLayouts take() { return std::move(out_); }

 private:
  static std::vector<std::string_view> operand_texts(const JsonValue& node) {
    std::vector<std::string_view> texts;
    if (const JsonValue* inputs = node.find("inputs"); inputs != nullptr)
      for (const JsonValue& input : inputs->items)
        texts.push_back(string_at(input, "dst_placement"));
    return texts;
  }

  Status check_mesh(const JsonValue& root) const {
    const JsonValue* mesh = root.find("mesh");
    const JsonValue* shape = mesh != nullptr ? mesh->find("shape") : nullptr;
    bool same = shape != nullptr && shape->items.size() == static_cast<size_t>(mesh_.rank());
    for (size_t m = 0; same && m < shape->items.size(); ++m)
      same = shape->items[m].number == static_cast<double>(mesh_.size(static_cast<int>(m)));
    if (same) return {};
    return invalid_argument("plan: it is for another mesh than " + mesh_.to_string());
  }

  // Allows the strategies with these results; among those, only the ones with these operands, if
  // there are any.
  Status allow(NodeId n, std::string_view results, std::span<const std::string_view> operands) {
    SHW_ASSIGN_OR_RETURN(const std::vector<Layout> wanted, parse_layouts(results, mesh_));
    const StrategySet& set = strategies_.of(n);
    AllowedLabels with_results{n, std::vector<bool>(set.count), "plan of " + graph_.name(n)};
    AllowedLabels with_both = with_results;
    for (uint32_t s = 0; s < set.count; ++s) {
      with_results.allowed[s] = has_results(n, s, wanted);
      with_both.allowed[s] = with_results.allowed[s] && has_operands(n, s, operands);
    }
    const auto any = [](const AllowedLabels& a) {
      return std::ranges::find(a.allowed, true) != a.allowed.end();
    };
    if (!any(with_results))
      return at_origin(invalid_argument("plan: " + graph_.name(n) + " cannot have the layout " +
                                        std::string(results)),
                       graph_, n);
    out_.choices.push_back(any(with_both) ? std::move(with_both) : std::move(with_results));
    return {};
  }

  bool has_results(NodeId n, uint32_t s, const std::vector<Layout>& wanted) const {
    const StrategySet& set = strategies_.of(n);
    if (wanted.size() != set.results.size()) return false;
    for (size_t r = 0; r < wanted.size(); ++r)
      if (set.results[r].valid() && !same(strategies_.result_layout(n, r, s), wanted[r]))
        return false;
    return true;
  }
  // Whether the strategy's operands have these layouts. Ignores texts that are no layouts, and
  // texts of operands that the node does not have.
  bool has_operands(NodeId n, uint32_t s, std::span<const std::string_view> texts) const {
    const StrategySet& set = strategies_.of(n);
    if (texts.size() != set.operands.size()) return true;
    for (size_t k = 0; k < texts.size(); ++k) {
      if (!set.operands[k].valid()) continue;
      const auto layout = parse_layout(texts[k], mesh_.rank());
      if (layout.ok() && !same(strategies_.operand_layout(n, k, s), *layout)) return false;
    }
    return true;
  }
  // Exports do not distinguish masked partial placements from others.
  bool same(const Layout& is, const Layout& wanted) const {
    for (int m = 0; m < mesh_.rank(); ++m)
      if (is[m] != wanted[m] && !(is[m].is_partial() && wanted[m] == Placement::partial()))
        return false;
    return true;
  }

  const Graph& graph_;
  const Mesh& mesh_;
  const Strategies& strategies_;
  ForeignLayouts out_;
};

}  // namespace

Result<ForeignLayouts> read_foreign_plan(std::string_view json, const PreparedModel& model) {
  auto root = parse_json(json, kMaxPlacementsText);
  if (!root.ok()) return Status(root.status().code(), "plan: " + root.status().message());
  if (root->kind != Kind::kObject) return invalid_argument("plan: expected a JSON object");
  if (root->find("version") != nullptr) {
    ForeignLayouts out;
    SHW_ASSIGN_OR_RETURN(out.choices,
                         read_placements(json, model.graph(), model.mesh(), model.strategies(),
                                         /*any_order=*/!model.plans_orders()));
    return out;
  }
  Reader reader(model);
  const JsonValue* nodes = root->find("nodes");
  if (nodes != nullptr && nodes->kind == Kind::kArray)
    SHW_RETURN_IF_ERROR(reader.read_export(*root, *nodes));
  else
    SHW_RETURN_IF_ERROR(reader.read_map(*root));
  return reader.take();
}

}  // namespace shw::compare
