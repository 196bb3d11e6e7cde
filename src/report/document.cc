#include "report/document.h"

#include <algorithm>
#include <cmath>

#include "answers/plan_diff.h"
#include "answers/plan_trace.h"
#include "plan/module_tree.h"
#include "plan/plan_format.h"
#include "plan/report.h"
#include "report/memory_curves.h"
#include "report/writer.h"
#include "simulate/entry_times.h"
#include "simulate/simulate.h"

namespace shw::report {
namespace {

const char* role_name(PortRole role) {
  switch (role) {
    case PortRole::kParameter:
      return "parameter";
    case PortRole::kBuffer:
      return "buffer";
    case PortRole::kInput:
      return "input";
    case PortRole::kTangent:
      return "tangent";
    case PortRole::kSeed:
      return "seed";
    case PortRole::kOptimizerState:
      return "optimizer state";
    case PortRole::kConstant:
      return "constant";
    case PortRole::kResult:
      return "result";
    case PortRole::kGradient:
      return "gradient";
    case PortRole::kUpdate:
      return "update";
  }
  return "";
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ".") + part;
  return text;
}

std::string group_name(const Program& program, const std::vector<uint8_t>& axes) {
  std::string text;
  for (uint8_t axis : axes) text += (text.empty() ? "" : "+") + axis_of(program, axis).name;
  return text;
}

class Document {
 public:
  explicit Document(const Plan& plan) : plan_(plan), p_(plan.program) {}

  Result<std::string> write(const Extras& extras) {
    SHW_ASSIGN_OR_RETURN(nodes_, answers::source_nodes(plan_));
    w_.open();
    w_.member("library", quoted(plan_format::kLibraryVersion));
    w_.member("plan", json_of(plan_));
    w_.member("tree", compact(module_tree_json(module_tree(plan_))));
    w_.column("mesh", p_.mesh.size(), [&](size_t i) {
      w_.add("[" + quoted(p_.mesh[i].name) + "," + std::to_string(p_.mesh[i].size) + "]");
    });
    w_.member("graph", nodes_.empty() ? "false" : "true");
    decisions();
    ports();
    w_.column("entries", p_.entries.size(), [&](size_t e) { entry(p_.entries[e]); });
    w_.key("reasons");
    extras.reasons != nullptr ? reasons(*extras.reasons) : w_.add("null");
    w_.member("pareto", extras.pareto.empty() ? "null" : compact(extras.pareto));
    w_.key("other");
    extras.other != nullptr ? difference(*extras.other) : w_.add("null");
    w_.write_tables();
    w_.close();
    return w_.take();
  }

 private:
  static std::string json_of(const Plan& plan) {
    return compact(plan_json(plan, entry_times(plan.program), /*with_decisions=*/false));
  }

  void decisions() {
    const auto& all = plan_.summary.decisions;
    const size_t n = all.size();
    w_.key("nodes");
    w_.open();
    w_.column("name", n, [&](size_t i) { w_.add(quoted(all[i].name)); });
    w_.column("op", n, [&](size_t i) { w_.text(all[i].op); });
    w_.column("phase", n, [&](size_t i) { w_.integer(all[i].phase); });
    w_.column("module", n, [&](size_t i) { w_.text(joined(module_names(all[i].module_path))); });
    w_.column("operands", n, [&](size_t i) { w_.text(all[i].operand_layouts); });
    w_.column("result", n, [&](size_t i) { w_.text(all[i].result_layout); });
    w_.column("compute", n, [&](size_t i) { w_.number(all[i].compute_us); });
    w_.column("comm", n, [&](size_t i) { w_.number(all[i].comm_us); });
    w_.column("transition", n, [&](size_t i) { w_.number(all[i].transition_us); });
    w_.close();
  }

  void ports() {
    std::vector<PortId> all;
    for (uint32_t i = 0; i < p_.ports.size(); ++i)
      if (p_.ports[PortId{i}].value.valid()) all.push_back(PortId{i});
    const size_t n = all.size();
    const auto port = [&](size_t i) -> const Port& { return p_.ports[all[i]]; };
    const auto piece = [&](size_t i) -> const TensorType& { return p_.values[port(i).value].type; };
    const auto mesh_rank = static_cast<int>(p_.mesh.size());
    w_.key("ports");
    w_.open();
    w_.column("name", n, [&](size_t i) { w_.add(quoted(port(i).name)); });
    w_.column("role", n, [&](size_t i) { w_.text(role_name(port(i).role)); });
    w_.column("type", n, [&](size_t i) { w_.text(to_string(port(i).global)); });
    w_.column("piece", n, [&](size_t i) { w_.text(to_string(piece(i))); });
    w_.column("layout", n, [&](size_t i) { w_.text(to_string(port(i).layout, mesh_rank)); });
    w_.column("bytes", n, [&](size_t i) { w_.integer(piece(i).bytes()); });
    w_.close();
  }

  void entry(const ProgramEntry& entry) {
    const Simulation s = simulate(p_, entry);
    const size_t n = entry.num_steps;
    const ProgramStep* const steps = p_.steps.data() + entry.first_step;
    const TraceNode unknown;
    const auto node = [&](size_t i) -> const TraceNode& {
      return steps[i].node < nodes_.size() ? nodes_[steps[i].node] : unknown;
    };
    w_.open();
    w_.member("name", quoted(entry.name));
    w_.column("queues", s.queues.size(),
              [&](size_t q) { w_.add(quoted(queue_name(p_, s.queues[q]))); });
    w_.column("kernel", n, [&](size_t i) { w_.text(steps[i].kernel); });
    w_.column("node", n, [&](size_t i) { w_.text(node(i).name); });
    w_.column("module", n, [&](size_t i) { w_.text(node(i).module); });
    w_.column("phase", n, [&](size_t i) { w_.integer(steps[i].phase); });
    w_.column("queue", n, [&](size_t i) { w_.integer(s.steps[i].queue); });
    w_.column("start", n, [&](size_t i) { w_.add(in_nanoseconds(s.steps[i].start_us)); });
    w_.column("us", n, [&](size_t i) { w_.number(steps[i].cost_us); });
    w_.column("wire", n, [&](size_t i) { w_.integer(wire_bytes(p_, steps[i])); });
    w_.column("axes", n, [&](size_t i) { w_.text(group_name(p_, steps[i].collective.axes)); });
    w_.column("critical", s.critical_path.size(),
              [&](size_t i) { w_.integer(s.critical_path[i] - entry.first_step); });
    const auto curves = memory_curves(p_, entry, s.live);
    w_.column("memory", curves.size(), [&](size_t k) { memory(curves[k]); });
    w_.close();
  }

  // Runs of equal values: [bytes, steps, bytes, steps, …].
  void memory(const MemoryCurve& curve) {
    std::vector<int64_t> runs;
    for (size_t i = 0, end = 0; i < curve.bytes.size(); i = end) {
      while (end < curve.bytes.size() && curve.bytes[end] == curve.bytes[i]) ++end;
      runs.push_back(curve.bytes[i]);
      runs.push_back(static_cast<int64_t>(end - i));
    }
    w_.open();
    w_.member("kind", quoted(curve.kind));
    w_.column("runs", runs.size(), [&](size_t i) { w_.integer(runs[i]); });
    w_.close();
  }

  void reasons(const Reasons& r) {
    w_.open();
    w_.member("certified", shortest(r.certified_us));
    w_.column("operands", r.operands.size(), [&](size_t node) {
      std::string row;
      for (const Reasons::Operand& o : r.operands[node])
        append(row,
               {static_cast<int64_t>(o.producer) - static_cast<int64_t>(node),
                w_.tables().text(o.from), w_.tables().text(o.to), w_.tables().number(o.comm_us)});
      w_.text("[" + row + "]");
    });
    w_.column("alternatives", r.alternatives.size(), [&](size_t node) {
      std::string row;
      for (const Reasons::Alternative& a : r.alternatives[node]) {
        append(row, {w_.tables().text(a.layout)});
        row += "," + over_plan(a.floor_us);
      }
      w_.text("[" + row + "]");
    });
    w_.column("exact", r.exact.size(), [&](size_t k) {
      w_.open();
      w_.member("port", quoted(r.exact[k].port));
      w_.member("explanation", compact(to_json(r.exact[k].explanation)));
      w_.close();
    });
    w_.close();
  }
  static void append(std::string& row, std::initializer_list<int64_t> values) {
    for (const int64_t value : values) row += (row.empty() ? "" : ",") + std::to_string(value);
  }
  // By how much a floor exceeds the plan, at least 0, rounded down so that it stays a lower bound.
  std::string over_plan(double floor_us) const {
    if (!std::isfinite(floor_us)) return "null";
    const double over = std::max(0.0, floor_us - plan_.summary.objective_us);
    return in_nanoseconds(std::floor(over * 100) / 100);
  }

  void difference(const Plan& other) {
    w_.open();
    w_.member("plan", json_of(other));
    w_.member("diff", compact(to_json(answers::plan_diff(plan_, other))));
    w_.close();
  }

  const Plan& plan_;
  const Program& p_;
  std::vector<TraceNode> nodes_;
  Writer w_;
};

}  // namespace

Result<std::string> document(const Plan& plan, const Extras& extras) {
  return Document(plan).write(extras);
}

}  // namespace shw::report
