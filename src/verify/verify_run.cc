#include "verify/verify_run.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "compiler/pipeline.h"
#include "runtime/entry.h"
#include "runtime/virtual_ranks.h"
#include "verify/judge.h"
#include "verify/numbers.h"
#include "verify/widen.h"

namespace shw {
namespace {

using runtime::HostTensor;
using runtime::HostTensorView;
using runtime::VirtualRanks;
using Tensors = std::vector<HostTensor>;

Status check_tensor(const Port& port, const HostTensorView& tensor) {
  if (tensor.type.shape == port.global.shape && tensor.type.dtype == port.global.dtype) return {};
  return invalid_argument("tensor '" + port.name + "' is " + to_string(tensor.type) +
                          ", but the plan's is " + to_string(port.global));
}

std::vector<HostTensorView> views_of(const Tensors& tensors) {
  std::vector<HostTensorView> views;
  for (const HostTensor& t : tensors) views.push_back({t.type, t.data.data()});
  return views;
}

// The tensors of one sample: the entry's inputs, then the state before the run.
struct Given {
  std::span<const HostTensorView> inputs, state;
};
Given split(std::span<const HostTensorView> all, size_t num_inputs) {
  return {all.first(num_inputs), all.subspan(num_inputs)};
}

// The outputs, then the state after the run.
Result<Tensors> run_with_state(VirtualRanks& ranks, const std::string& entry, const Given& given,
                               const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i)
    SHW_RETURN_IF_ERROR(ranks.write_state(names[i], given.state[i]));
  SHW_ASSIGN_OR_RETURN(Tensors results, ranks.run(entry, given.inputs));
  for (const std::string& name : names) {
    SHW_ASSIGN_OR_RETURN(results.emplace_back(), ranks.read_state(name));
  }
  return results;
}

Tensors changed(std::span<const HostTensorView> tensors,
                HostTensor (*change)(const HostTensorView&)) {
  Tensors others;
  for (const HostTensorView& t : tensors) others.push_back(change(t));
  return others;
}

std::shared_ptr<const Plan> plan_of(Program program) {
  auto plan = std::make_shared<Plan>();
  plan->program = std::move(program);
  return plan;
}

// A mesh of one rank. Manual regions state layouts for all dims of the plan's mesh, and name dims
// in their groups; for these the mesh has the same dims.
std::string one_rank(const Program& program) {
  if (std::ranges::find(program.steps, "local_map", &ProgramStep::kernel) == program.steps.end())
    return "one=1";
  std::string mesh;
  for (const Mesh::Axis& axis : program.mesh) mesh += (mesh.empty() ? "" : ",") + axis.name + "=1";
  return mesh;
}

// The same graph on a mesh of one rank. Nothing is sharded or sent, so prices do not matter.
Result<Program> unsharded_program(const Plan& plan, Monitor& monitor) {
  if (plan.source_graph.empty())
    return failed_precondition(
        "verification compares with the unsharded run, but the plan was written without its graph "
        "(--strip-graph)");
  CompileOptions options;
  options.mesh = one_rank(plan.program);
  options.keep_graph = false;
  for (const ProgramEntry& e : plan.program.entries) {
    const std::string& name = e.bucket_of.empty() ? e.name : e.bucket_of;
    if (std::ranges::find(options.entries, name) == options.entries.end())
      options.entries.push_back(name);
    for (size_t s = 0; s < e.bucket.size(); ++s)
      if (e.bucket[s] >= 0)
        options.buckets.push_back({name, plan.program.symbols[s].name, {e.bucket[s]}});
  }
  auto made = compile(plan.source_graph, options, monitor);
  if (!made.ok()) {  // its entries are the graph's own
    options.entries.clear();
    made = compile(plan.source_graph, options, monitor);
  }
  SHW_ASSIGN_OR_RETURN(Compiled compiled, std::move(made));
  SHW_ASSIGN_OR_RETURN(Plan read, read_plan(compiled.bytes));
  return std::move(read.program);
}

// The reference runs by which results are judged, collected sample by sample. Sample 0 uses the
// given inputs.
class Witnesses {
 public:
  static Result<std::unique_ptr<Witnesses>> create(const Plan& plan,
                                                   std::span<const HostTensorView> inputs,
                                                   const VerifyOptions& options, Monitor& monitor) {
    std::unique_ptr<Witnesses> w(new Witnesses(inputs, options));
    SHW_ASSIGN_OR_RETURN(Program unsharded, unsharded_program(plan, monitor));
    SHW_ASSIGN_OR_RETURN(const ProgramEntry* entry, runtime::find_entry(unsharded, options.entry));
    if (entry->inputs.size() != inputs.size())
      return internal_error("the unsharded program has other inputs than the plan");
    SHW_ASSIGN_OR_RETURN(Program exact, widen(unsharded, monitor));
    SHW_ASSIGN_OR_RETURN(Program sharded, widen(plan.program, monitor));
    if (has_f64(unsharded)) {
      SHW_ASSIGN_OR_RETURN(Program coarse, narrow(unsharded, monitor));
      SHW_ASSIGN_OR_RETURN(w->coarse_,
                           VirtualRanks::create(plan_of(std::move(coarse)), options.executor));
    }
    SHW_ASSIGN_OR_RETURN(w->run_,
                         VirtualRanks::create(plan_of(std::move(unsharded)), options.executor));
    SHW_ASSIGN_OR_RETURN(w->exact_,
                         VirtualRanks::create(plan_of(std::move(exact)), options.executor));
    SHW_ASSIGN_OR_RETURN(const auto ranks,
                         VirtualRanks::create(plan_of(std::move(sharded)), options.executor));
    SHW_ASSIGN_OR_RETURN(w->plan_, w->run(*ranks, views_of(changed(w->given_, widen))));
    return w;
  }

  int samples() const { return static_cast<int>(runs_.size()); }

  Status add_sample() {
    const size_t sample = runs_.size();
    Tensors moved;
    std::vector<HostTensorView> at = given_;
    if (sample > 0) {
      for (size_t i = 0; i < given_.size(); ++i)
        moved.push_back(perturbed(given_[i], sample << 32 | i));
      at = views_of(moved);
    }
    SHW_ASSIGN_OR_RETURN(Tensors as_typed, run(*run_, at));
    SHW_ASSIGN_OR_RETURN(Tensors exact, run(*exact_, views_of(changed(at, widen))));
    if (coarse_ != nullptr) {
      SHW_ASSIGN_OR_RETURN(Tensors coarse, run(*coarse_, views_of(changed(at, narrow))));
      coarses_.push_back(std::move(coarse));
    }
    runs_.push_back(std::move(as_typed));
    exacts_.push_back(std::move(exact));
    return {};
  }

  Evidence of_output(size_t output) const {
    Evidence e;
    for (const Tensors& t : runs_) e.run.push_back(&t[output]);
    for (const Tensors& t : exacts_) e.exact.push_back(&t[output]);
    for (const Tensors& t : coarses_) e.coarse.push_back(&t[output]);
    e.plan = &plan_[output];
    return e;
  }

 private:
  Witnesses(std::span<const HostTensorView> inputs, const VerifyOptions& options)
      : given_(inputs.begin(), inputs.end()), num_inputs_(inputs.size()), entry_(options.entry) {
    for (const VerifiedState& s : options.state)
      given_.push_back(s.before), state_.push_back(s.name);
  }
  Result<Tensors> run(VirtualRanks& ranks, std::span<const HostTensorView> given) {
    return run_with_state(ranks, entry_, split(given, num_inputs_), state_);
  }

  std::vector<HostTensorView> given_;  // inputs, then the state before the run
  size_t num_inputs_;
  std::vector<std::string> state_;  // names
  std::string entry_;
  std::unique_ptr<VirtualRanks> run_, exact_, coarse_;
  std::vector<Tensors> runs_, exacts_, coarses_;  // by sample
  Tensors plan_;
};

// The error relative to its limits; below 1 if right.
double excess(const Judged& j) {
  if (j.verdict == Verdict::kDifferent || j.verdict == Verdict::kWrongPlan) return INFINITY;
  const auto share = [](double error, double limit) {
    return limit > 0 ? error / limit : error > 0 ? INFINITY : 0;
  };
  return std::max(share(j.error, j.limit), share(j.gain, j.gain_limit));
}

void summarise(VerifyReport& report) {
  report.num_wrong = report.num_expected_wrong = 0;
  double worst = -1, worst_expected = -1;
  for (size_t i = 0; i < report.tensors.size(); ++i) {
    const VerifiedTensor& t = report.tensors[i];
    report.num_wrong += t.sharded.verdict != Verdict::kRight;
    if (const double over = excess(t.sharded); over > worst)
      worst = over, report.worst = static_cast<int>(i);
    if (!t.expected) continue;
    report.num_expected_wrong += t.expected->verdict != Verdict::kRight;
    if (const double over = excess(*t.expected); over > worst_expected)
      worst_expected = over, report.worst_expected = static_cast<int>(i);
  }
}

// The ports of the state that the options list; all must be there, once.
Result<std::vector<const Port*>> state_ports(const Program& program,
                                             const std::vector<VerifiedState>& state) {
  std::vector<const Port*> ports(state.size());
  size_t wanted = 0;
  for (const Port& port : program.ports) {
    if (!is_input(port.role) || !program.lies_in(port, StorageKind::kState)) continue;
    ++wanted;
    const auto found = std::ranges::find(state, port.name, &VerifiedState::name);
    if (found == state.end())
      return invalid_argument("verification needs the state '" + port.name +
                              "', before and after the run");
    SHW_RETURN_IF_ERROR(check_tensor(port, found->before));
    SHW_RETURN_IF_ERROR(check_tensor(port, found->after));
    ports[static_cast<size_t>(found - state.begin())] = &port;
  }
  if (wanted != state.size()) return invalid_argument("the plan does not keep all of this state");
  return ports;
}

Status check_tensors(const Program& program, const ProgramEntry& entry,
                     std::span<const HostTensorView> inputs,
                     std::span<const HostTensorView> outputs,
                     std::span<const ExpectedTensor> expected) {
  if (inputs.size() != entry.inputs.size() || outputs.size() != entry.outputs.size())
    return invalid_argument(
        "entry '" + entry.name + "' has " + std::to_string(entry.inputs.size()) + " inputs and " +
        std::to_string(entry.outputs.size()) + " outputs, not " + std::to_string(inputs.size()) +
        " and " + std::to_string(outputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i)
    SHW_RETURN_IF_ERROR(check_tensor(program.input(entry, i), inputs[i]));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Port& port = program.output(entry, i);
    if (!port.value.valid()) continue;
    SHW_RETURN_IF_ERROR(check_tensor(port, outputs[i]));
    for (const ExpectedTensor& e : expected)
      if (e.name == port.name) SHW_RETURN_IF_ERROR(check_tensor(port, e.tensor));
  }
  return {};
}

}  // namespace

Result<VerifyReport> verify_run(const Plan& plan, std::span<const HostTensorView> inputs,
                                std::span<const HostTensorView> outputs,
                                std::span<const ExpectedTensor> expected,
                                const VerifyOptions& options, Monitor& monitor) {
  SHW_ASSIGN_OR_RETURN(const ProgramEntry* entry, runtime::find_entry(plan.program, options.entry));
  if (!entry->after.empty())
    return unimplemented("verification of an entry that runs after another one");
  SHW_ASSIGN_OR_RETURN(const std::vector<const Port*> state,
                       state_ports(plan.program, options.state));
  SHW_RETURN_IF_ERROR(check_tensors(plan.program, *entry, inputs, outputs, expected));
  SHW_ASSIGN_OR_RETURN(const auto witnesses, Witnesses::create(plan, inputs, options, monitor));
  VerifyReport report;
  // If a result exceeds its limit, the noise may have been underestimated, so more samples are
  // taken.
  for (int wanted = 1 + options.samples;; wanted = 1 + options.most_samples) {
    while (witnesses->samples() < wanted) {
      SHW_RETURN_IF_ERROR(monitor.poll());
      SHW_RETURN_IF_ERROR(witnesses->add_sample());
    }
    report.samples = witnesses->samples();
    report.tensors.clear();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Port& port = plan.program.output(*entry, i);
      if (!port.value.valid()) continue;
      Evidence evidence = witnesses->of_output(i);
      evidence.sharded = outputs[i];
      for (const ExpectedTensor& e : expected)
        if (e.name == port.name) evidence.expected = &e.tensor;
      report.tensors.push_back(judge(port, evidence));
    }
    for (size_t i = 0; i < state.size(); ++i) {
      Evidence evidence = witnesses->of_output(outputs.size() + i);
      evidence.sharded = options.state[i].after;
      report.tensors.push_back(judge(*state[i], evidence));
    }
    summarise(report);
    if (report.num_wrong + report.num_expected_wrong == 0 || wanted > options.most_samples ||
        options.most_samples <= options.samples)
      return report;
  }
}

}  // namespace shw
