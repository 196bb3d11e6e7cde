#include "reference_choice.h"

#include <sstream>
#include <unordered_map>

#include "import/aten_table.h"
#include "import/fx_json.h"
#include "import/json_file.h"

namespace shw::testing {
namespace {

using nlohmann::json;

// Parses a layout such as "S0,R", as the reference prints it. "P" is a sum.
Layout layout_of(const std::string& text) {
  Layout layout;
  std::istringstream words(text);
  std::string word;
  for (int m = 0; std::getline(words, word, ','); ++m) {
    if (word[0] == 'S') layout[m] = Placement::shard(std::stoi(word.substr(1)));
    if (word == "P") layout[m] = Placement::partial();
    if (word == "Pavg") layout[m] = Placement::partial(ReduceOp::kAvg);
    if (word == "Pmax") layout[m] = Placement::partial(ReduceOp::kMax);
    if (word == "Pmin") layout[m] = Placement::partial(ReduceOp::kMin);
  }
  return layout;
}

std::optional<Layout> layout_of(const json& text) {
  if (!text.is_string()) return std::nullopt;
  return layout_of(text.get<std::string>());
}

// The position of our result number `result` in the reference's tuple.
size_t tuple_place(const std::string& target, size_t result) {
  const std::optional<import::AtenOp> op = import::find_aten_op(target);
  std::istringstream words(std::string(op ? op->results : ""));
  std::string word;
  for (size_t i = 0; words >> word; ++i)
    if (i == result) return word == "-" ? SIZE_MAX : std::stoul(word);
  return result;
}

class Reader {
 public:
  Reader(const json& file, ReferenceChoice& out) : file_(file), out_(out) {}

  Status read() {
    std::vector<Mesh::Axis> axes;
    for (size_t m = 0; m < file_["mesh"]["shape"].size(); ++m)
      axes.push_back({file_["mesh"]["dim_names"][m], file_["mesh"]["shape"][m]});
    SHW_ASSIGN_OR_RETURN(out_.mesh, Mesh::create(std::move(axes)));
    json graph = {{"format", "ap-graph-1"}, {"nodes", file_["nodes"]}};
    SHW_ASSIGN_OR_RETURN(out_.graph, import::import_fx_json(graph));
    out_.assignment.emplace(out_.graph);
    out_.compute_us.assign(out_.graph.num_nodes(), 0);
    std::unordered_map<std::string, NodeId> by_name;
    for (uint32_t i = 0; i < out_.graph.num_nodes(); ++i)
      by_name[out_.graph.name(NodeId{i})] = NodeId{i};
    for (const json& node : file_["nodes"])
      if (node["op"] != "output") {
        const std::string name = node["name"];
        if (by_name.count(name) == 0) return internal_error("no node " + name);
        SHW_RETURN_IF_ERROR(read_node(node, by_name[name]));
      }
    return {};
  }

 private:
  // Tied nodes have no tables and costs of their own.
  const json& root_of(const json& node) const {
    return file_["nodes"][node.value("root", node["i"].get<size_t>())];
  }

  Status read_node(const json& node, NodeId n) {
    const json& root = root_of(node);
    const json& table = file_["strat_tables"][root["strats"].get<size_t>()];
    const size_t choice = (node.contains("chosen") ? node : root)["chosen"];
    out_.compute_us[n.v] = root["compute"].empty() ? 0 : root["compute"][choice].get<double>();
    const json& result = table["out"][choice];
    auto results = out_.assignment->results(n);
    for (size_t r = 0; r < results.size(); ++r) {
      const size_t place = tuple_place(node["target"], r);
      const json& text = result.is_array() ? result[std::min(place, result.size() - 1)] : result;
      if (const auto layout = layout_of(text); layout && place != SIZE_MAX) results[r] = *layout;
    }
    return read_operands(node, table["in"][choice], n);
  }

  // The reference's slots are in the order of its arguments, ours in the order of our parameters.
  // They are matched by their producers.
  Status read_operands(const json& node, const json& layouts, NodeId n) {
    const auto operands = out_.graph.operands(n);
    std::vector<uint8_t> done(operands.size(), 0);
    for (size_t slot = 0; slot < node["inputs"].size(); ++slot) {
      const std::string producer = file_["nodes"][node["inputs"][slot].get<size_t>()]["name"];
      for (size_t k = 0; k < operands.size(); ++k) {
        if (done[k] || !operands[k].valid() || out_.graph.name(operands[k]) != producer) continue;
        done[k] = 1;
        if (const auto layout = layout_of(layouts[slot])) out_.assignment->operands(n)[k] = *layout;
        break;
      }
    }
    return {};
  }

  const json& file_;
  ReferenceChoice& out_;
};

}  // namespace

Result<ReferenceChoice> read_reference_choice(const std::string& path) {
  SHW_ASSIGN_OR_RETURN(const json file, import::read_json_file(path));
  ReferenceChoice out{{}, *Mesh::parse("x=1"), std::nullopt, {}};
  if (Status s = Reader(file, out).read(); !s.ok()) return s;
  return out;
}

}  // namespace shw::testing
