#include "reference_problem.h"

#include <gtest/gtest.h>

#include <limits>

#include "import/fx_json.h"
#include "import/json_file.h"

namespace shw::testing {
namespace {

using nlohmann::json;

double number(const json& j) {
  return j.is_null() ? std::numeric_limits<double>::infinity() : j.get<double>();
}

// "S0,R" → "S(0)R". "P" of an embedding's rows is the masked partial.
std::string notation(const json& layout, const std::vector<bool>& masked) {
  if (layout.is_null()) return "none";
  std::string out;
  std::stringstream in(layout.get<std::string>());
  std::string p;
  for (size_t m = 0; std::getline(in, p, ','); ++m) {
    if (p[0] == 'S')
      out += "S(" + p.substr(1) + ")";
    else if (p == "P")
      out += m < masked.size() && masked[m] ? "M" : "P";
    else if (p[0] == 'P')
      out += "P(" + p.substr(1) + ")";
    else
      out += p;
  }
  return out;
}

}  // namespace

ReferenceProblem::ReferenceProblem(const std::string& path) {
  auto read = import::read_json_file(path);
  EXPECT_TRUE(read.ok()) << read.status().message();
  json_ = std::move(*read);
  json graph_json{{"format", "ap-graph-1"}, {"nodes", json_["nodes"]}};
  auto imported = import::import_fx_json(graph_json);
  EXPECT_TRUE(imported.ok()) << imported.status().message();
  graph = std::move(*imported);
  const json& shape = json_["mesh"]["shape"];
  for (size_t i = 0; i < shape.size(); ++i)
    mesh += (i ? "," : "") + json_["mesh"]["dim_names"][i].get<std::string>() + "=" +
            std::to_string(shape[i].get<int64_t>());
  objective = json_["objective"];
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) chosen.push_back(json_["nodes"][i]["chosen"]);

  const auto rank = static_cast<int>(shape.size());
  Layout batch;
  batch[0] = Placement::shard(0);
  const std::string name = path.substr(path.rfind('/') + 1);
  const bool llama = name.find("llama") != std::string::npos,
             gpt2 = name.find("gpt2") != std::string::npos;
  Layout out = batch;
  if (llama && rank > 1) out[1] = Placement::shard(2);
  constraints.input_layout = LayoutRule::exactly(batch);
  if (!gpt2) constraints.output_layout = LayoutRule::exactly(out);
  if (name.find("llama8b") != std::string::npos || name.find("gpt2_1d8") != std::string::npos)
    constraints.grad_reduce_dtype = Dtype::kF32;
  if (name.find("_mem0.05") != std::string::npos)
    constraints.parameter_budget = {ParameterBudget::Kind::kFactor, 0.05};
}

const json& ReferenceProblem::root(NodeId n) const {
  return json_["nodes"][json_["nodes"][n.v]["root"].get<size_t>()];
}

std::vector<std::string> ReferenceProblem::strategies(NodeId n) const {
  const json& node = json_["nodes"][n.v];
  const json& table = json_["strat_tables"][node["strats"].get<size_t>()];
  const size_t slots =
      node["inputs"].size();  // the dummy slot of inputs and factories is not printed
  const bool embedding = graph.op(n) == OpKind::kEmbedding;
  std::vector<std::string> list;
  for (size_t s = 0; s < table["out"].size(); ++s) {
    std::vector<bool> masked;
    if (embedding) {
      std::stringstream weight(table["in"][s][0].get<std::string>());
      for (std::string p; std::getline(weight, p, ',');) masked.push_back(p == "S0");
    }
    std::string text = "(";
    for (size_t k = 0; k < slots; ++k)
      text += (k ? ", " : "") + notation(table["in"][s][k], k == 1 ? masked : std::vector<bool>());
    text += ") -> ";
    const json& out = table["out"][s];
    if (out.is_array()) {
      text += "(";
      // cuDNN attention returns nine results, of which our tuple has numbers 0, 1, 6 and 7.
      const std::vector<size_t> cudnn = {0, 1, 6, 7};
      for (size_t k = 0; k < graph.results(n).size(); ++k) {
        const size_t place = out.size() == 9 ? cudnn[k] : k;
        text += (k ? ", " : "") + (place < out.size() ? notation(out[place], {}) : "none");
      }
      text += ")";
    } else {
      text += notation(out, masked);
    }
    list.push_back(text);
  }
  return list;
}

std::vector<double> ReferenceProblem::compute(NodeId n) const {
  std::vector<double> costs;
  for (const json& c : root(n)["compute"]) costs.push_back(number(c));
  return costs;
}

bool ReferenceProblem::no_comm(NodeId n, size_t slot) const {
  return root(n)["arg_cost"][slot].value("forbid_comm_gt0", false);
}

std::vector<std::vector<double>> ReferenceProblem::edge(NodeId n, size_t slot) const {
  const json& cost = root(n)["arg_cost"][slot];
  const json& comm = json_["matrices"][cost["comm"].get<size_t>()];
  const json& trans = json_["matrices"][cost["trans"].get<size_t>()];
  std::vector<std::vector<double>> rows;
  for (size_t i = 0; i < comm.size(); ++i) {
    rows.emplace_back();
    for (size_t j = 0; j < comm[i].size(); ++j) {
      const double c = number(comm[i][j]);
      rows.back().push_back(no_comm(n, slot) && c > 0 ? std::numeric_limits<double>::infinity()
                                                      : c + number(trans[i][j]));
    }
  }
  return rows;
}

}  // namespace shw::testing
