#include "answers/export.h"

#include <cstdlib>
#include <optional>

#include "answers/clusters.h"
#include "answers/edges.h"
#include "support/json_writer.h"

namespace shw::answers {
namespace {

const char* dtype_name_there(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return "float32";
    case Dtype::kF64:
      return "float64";
    case Dtype::kF16:
      return "float16";
    case Dtype::kBF16:
      return "bfloat16";
    case Dtype::kI8:
      return "int8";
    case Dtype::kI16:
      return "int16";
    case Dtype::kI32:
      return "int32";
    case Dtype::kI64:
      return "int64";
    case Dtype::kU8:
      return "uint8";
    case Dtype::kBool:
      return "bool";
    case Dtype::kC64:
      return "complex64";
    case Dtype::kF8E4M3:
      return "float8_e4m3fn";
    case Dtype::kF8E5M2:
      return "float8_e5m2";
  }
  return "";
}

struct SourceLine {
  std::string_view file, line, function, code;
};

// "FILE:LINE in FUNCTION: CODE"; FUNCTION and CODE are optional.
std::optional<SourceLine> source_line(std::string_view text) {
  SourceLine s;
  const size_t in = text.find(" in ");
  const std::string_view place = text.substr(0, in);
  const size_t colon = place.rfind(':');
  if (colon == place.npos || colon == 0) return std::nullopt;
  s.file = place.substr(0, colon);
  s.line = place.substr(colon + 1);
  if (s.line.empty() || s.line.size() > 9 || s.line.find_first_not_of("0123456789") != s.line.npos)
    return std::nullopt;
  if (in == text.npos) return s;
  text.remove_prefix(in + 4);
  const size_t end = text.find(": ");
  s.function = text.substr(0, end);
  if (end != text.npos) s.code = text.substr(end + 2);
  return s;
}

class Exporter {
 public:
  Exporter(const PreparedModel& model, const Placed& placed, const OpNames& name_of)
      : model_(model),
        placed_(placed),
        name_of_(name_of),
        inputs_(model.graph().num_nodes(), nullptr),
        roots_(cluster_roots(model.graph())),
        clusters_(model.graph().num_nodes(), -1) {
    for (const InputInfo& in : model.graph().inputs()) inputs_[in.node.v] = &in;
  }

  std::string run() {
    j_.begin_object();
    write_mesh();
    j_.key("nodes").begin_array();
    for (uint32_t i = 0; i < graph().num_nodes(); ++i) write_node(NodeId{i});
    write_output();
    j_.end_array().key("summary").begin_object().member("total", placed_.objective_us);
    j_.member("comm", placed_.total.comm_us).member("compute", placed_.total.compute_us);
    j_.member("transition", placed_.total.transition_us);
    return j_.end_object().end_object().take();
  }

 private:
  const Graph& graph() const { return model_.graph(); }
  const Strategies& strategies() const { return model_.strategies(); }

  void write_mesh() {
    j_.key("mesh").begin_object().key("shape").begin_array();
    for (int m = 0; m < model_.mesh().rank(); ++m) j_.value(model_.mesh().size(m));
    j_.end_array().key("dim_names").begin_array();
    for (int m = 0; m < model_.mesh().rank(); ++m) j_.value(model_.mesh().name(m));
    j_.end_array().end_object();
  }

  // "S(0)P(sum)".
  std::string text(Layout layout) const {
    std::string s;
    for (int m = 0; m < model_.mesh().rank(); ++m) {
      if (layout[m] == Placement::partial()) {
        s += "P(sum)";
        continue;
      }
      Layout one;
      one[0] = layout[m];
      s += one[0].kind == Placement::Kind::kMasked ? "MaskP(sum)" : to_string(one, 1);
    }
    return s;
  }

  std::string placement_of(NodeId n) const {
    const auto& results = strategies().of(n).results;
    std::string s;
    for (size_t k = 0; k < results.size(); ++k)
      s += (k > 0 ? ", " : "") +
           (results[k].valid() ? text(placed_.assignment->results(n)[k]) : std::string("None"));
    return graph().is_tuple(n) ? "(" + s + ")" : s;
  }

  // Of the first result with one.
  void write_shard_order(NodeId n) {
    const auto& results = strategies().of(n).results;
    for (size_t k = 0; k < results.size(); ++k) {
      if (!results[k].valid()) continue;
      const std::string whole = to_string(placed_.assignment->results(n)[k], model_.mesh().rank());
      const size_t bar = whole.find('|');
      if (bar == whole.npos) continue;
      j_.member("shard_order", whole.substr(bar + 1));
      return;
    }
  }

  void write_inputs(NodeId n) {
    j_.key("inputs").begin_array();
    const auto operands = graph().operands(n);
    for (uint32_t k = 0; k < operands.size(); ++k) {
      if (!operands[k].valid()) continue;
      const EdgeCost edge = edge_cost(model_, placed_, n, k);
      j_.begin_object().member("name", graph().name(operands[k]));
      j_.member("src_placement", text(edge.from)).member("dst_placement", text(edge.to));
      j_.member("comm_cost", edge.comm_us);
      j_.member("transition_cost", static_cast<int>(cost::transition_us(edge.from, edge.to)));
      j_.end_object();
    }
    j_.end_array();
  }

  void write_node(NodeId n) {
    const InputInfo* input = inputs_[n.v];
    const NodeMeta& meta = graph().meta(n);
    j_.begin_object().member("name", graph().name(n));
    j_.member("op", input != nullptr ? std::string_view("placeholder") : name_of_(graph(), n));
    j_.member("phase", meta.phase == Phase::kForward ? "forward" : "backward");
    j_.member("placement", placement_of(n));
    write_inputs(n);
    j_.member("compute_cost", placed_.costs[n.v].compute_us);
    j_.member("transition_cost", placed_.costs[n.v].transition_us);
    if (input != nullptr) j_.member("placeholder_kind", input_role_prefix(input->role));
    for (const auto& type : graph().results(n))
      if (type) {
        j_.member("dtype", dtype_name_there(type->dtype)).key("shape").begin_array();
        for (const int64_t d : type->shape) j_.value(d);
        j_.end_array();
        break;
      }
    const bool named = input != nullptr &&
                       (input->role == InputRole::kParameter || input->role == InputRole::kBuffer);
    const std::string& path = named ? input->name : meta.module_path;
    if (!path.empty()) j_.member("module_path", path);
    write_source(meta.source);
    write_cluster(n);
    write_shard_order(n);
    if (meta.ac_graph_id >= 0)
      j_.key("ac_region").begin_object().member("id", meta.ac_graph_id).end_object();
    j_.end_object();
  }

  void write_source(const std::string& text) {
    const std::optional<SourceLine> s = source_line(text);
    if (!s) return;
    j_.key("source").begin_object().member("file", s->file);
    j_.member("line", std::atoi(std::string(s->line).c_str()));
    j_.member("func", s->function).member("code", s->code).end_object();
  }

  // Clusters are numbered by their first node.
  void write_cluster(NodeId n) {
    const NodeId root = roots_[n.v];
    if (!root.valid()) return;
    if (clusters_[root.v] < 0) clusters_[root.v] = num_clusters_++;
    j_.member("cluster_id", clusters_[root.v]).member("cluster_root", graph().name(root));
  }

  void write_output() {
    j_.begin_object().member("name", "output").member("op", "output");
    j_.key("inputs").begin_array();
    for (const OutputInfo& out : graph().outputs())
      if (out.node.valid()) j_.begin_object().member("name", graph().name(out.node)).end_object();
    j_.end_array().end_object();
  }

  const PreparedModel& model_;
  const Placed& placed_;
  const OpNames& name_of_;
  std::vector<const InputInfo*> inputs_;  // of input nodes
  std::vector<NodeId> roots_;
  std::vector<int> clusters_;  // by root
  int num_clusters_ = 0;
  JsonWriter j_;
};

}  // namespace

std::string export_json(const PreparedModel& model, const Placed& placed, const OpNames& name_of) {
  return Exporter(model, placed, name_of).run();
}

}  // namespace shw::answers
