// shw_verification: checks the results of a run.
#include "shardwise/verification.h"

#include "blob.h"
#include "buffer.h"
#include "cancel.h"
#include "compile_options.h"
#include "plan.h"
#include "region.h"
#include "support/json_writer.h"
#include "verify/verify_run.h"

using namespace shw;
using namespace shw::capi;

struct shw_verification {
  ContextRef context;
  VerifyReport ours;
};

namespace shw::capi {
namespace {

constexpr size_t kVerificationOptionsSize_0_2 = SHW_SIZE_TO(shw_verification_options, num_state);
constexpr size_t kVerificationSummarySize_0_2 = SHW_SIZE_TO(shw_verification_summary, num_samples);
constexpr size_t kVerificationTensorSize_0_2 =
    SHW_SIZE_TO(shw_verification_tensor, num_expected_different);

using Views = std::vector<runtime::HostTensorView>;

// Reads the tensors of an entry's ports; absent ports get empty tensors.
Result<Views> views_of(const shw_tensor* tensors, size_t count, const char* what,
                       const std::vector<const Port*>& ports) {
  if (count != ports.size())
    return invalid_argument("the entry has " + std::to_string(ports.size()) + " " + what +
                            ", not " + std::to_string(count));
  if (count > 0 && tensors == nullptr) return invalid_argument(std::string(what) + " is NULL");
  Views views(count);
  for (size_t i = 0; i < count; ++i) {
    if (tensors[i].data == nullptr && !ports[i]->value.valid()) continue;
    auto type = type_of(tensors[i]);
    if (!type.ok()) return invalid_argument("'" + ports[i]->name + "': " + type.status().message());
    views[i] = {*type, tensors[i].data};
  }
  return views;
}

std::vector<const Port*> ports_of(const Program& program, const std::vector<PortId>& ids) {
  std::vector<const Port*> ports;
  for (const PortId id : ids) ports.push_back(&program.ports[id]);
  return ports;
}

Result<std::vector<ExpectedTensor>> expected_of(const shw_verification_options& in,
                                                const std::vector<const Port*>& outputs) {
  std::vector<ExpectedTensor> expected;
  if (in.expected == nullptr && in.num_expected == 0) return expected;
  if (in.expected == nullptr || in.num_expected != outputs.size())
    return invalid_argument("expected: want a tensor for each of " +
                            std::to_string(outputs.size()) + " outputs, or none");
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (in.expected[i].data == nullptr) continue;
    SHW_ASSIGN_OR_RETURN(const TensorType type, type_of(in.expected[i]));
    expected.push_back({outputs[i]->name, {type, in.expected[i].data}});
  }
  return expected;
}

Result<std::vector<VerifiedState>> state_of(const LoadedPlan& plan,
                                            const shw_verification_state* state, size_t count) {
  if (count > 0 && state == nullptr) return invalid_argument("state is NULL");
  std::vector<VerifiedState> ours;
  for (size_t i = 0; i < count; ++i) {
    SHW_ASSIGN_OR_RETURN(const PortId id, port_of(plan, state[i].port));
    SHW_ASSIGN_OR_RETURN(const TensorType before, type_of(state[i].before));
    SHW_ASSIGN_OR_RETURN(const TensorType after, type_of(state[i].after));
    ours.push_back({plan.plan.program.ports[id].name,
                    {before, state[i].before.data},
                    {after, state[i].after.data}});
  }
  return ours;
}

Result<VerifyReport> verify(const LoadedPlan& plan, const shw_verification_options& in) {
  const Program& program = plan.plan.program;
  SHW_RETURN_IF_ERROR(check_index(in.entry, program.entries.size(), "entry"));
  const ProgramEntry& entry = program.entries[in.entry];
  const std::vector<const Port*> results = ports_of(program, entry.outputs);
  SHW_ASSIGN_OR_RETURN(const Views inputs, views_of(in.inputs, in.num_inputs, "inputs",
                                                    ports_of(program, entry.inputs)));
  SHW_ASSIGN_OR_RETURN(const Views outputs,
                       views_of(in.outputs, in.num_outputs, "outputs", results));
  SHW_ASSIGN_OR_RETURN(const std::vector<ExpectedTensor> expected, expected_of(in, results));
  VerifyOptions options;
  options.entry = entry.name;
  SHW_ASSIGN_OR_RETURN(options.executor.regions, read_regions(in.regions, in.num_regions));
  SHW_ASSIGN_OR_RETURN(options.state, state_of(plan, in.state, in.num_state));
  Monitor monitor = monitor_of(in.cancel, nullptr, nullptr);
  SHW_RETURN_IF_ERROR(monitor.poll());
  return verify_run(plan.plan, inputs, outputs, expected, options, monitor);
}

shw_verdict to_c(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRight:
      return SHW_VERDICT_RIGHT;
    case Verdict::kTooFar:
      return SHW_VERDICT_TOO_FAR;
    case Verdict::kScaled:
      return SHW_VERDICT_SCALED;
    case Verdict::kDifferent:
      return SHW_VERDICT_DIFFERENT;
    case Verdict::kWrongPlan:
      return SHW_VERDICT_WRONG_PLAN;
  }
  return 0;
}

shw_verification_tensor to_c(const VerifiedTensor& t) {
  shw_verification_tensor c{};
  c.name = t.name.c_str();
  c.scale = t.scale;
  c.unsharded_error = t.unsharded;
  c.noise = t.noise;
  c.plan_error = t.plan;
  c.num_undecided = t.undecided;
  c.error = t.sharded.error;
  c.limit = t.sharded.limit;
  c.gain = t.sharded.gain;
  c.gain_limit = t.sharded.gain_limit;
  c.num_different = t.sharded.different;
  c.verdict = to_c(t.sharded.verdict);
  if (!t.expected) return c;
  c.expected_verdict = to_c(t.expected->verdict);
  c.expected_error = t.expected->error;
  c.expected_limit = t.expected->limit;
  c.expected_gain = t.expected->gain;
  c.expected_gain_limit = t.expected->gain_limit;
  c.num_expected_different = t.expected->different;
  return c;
}

size_t index_or_none(int index) { return index < 0 ? SHW_NONE : static_cast<size_t>(index); }

}  // namespace
}  // namespace shw::capi

void shw_verification_options_init(shw_verification_options* options, size_t size) {
  init_struct(options, size);
}
void shw_verification_summary_init(shw_verification_summary* summary, size_t size) {
  init_struct(summary, size);
}
void shw_verification_tensor_init(shw_verification_tensor* tensor, size_t size) {
  init_struct(tensor, size);
}

shw_status* shw_verification_create(const shw_plan* plan, const shw_verification_options* options,
                                    shw_verification** out_verification) {
  return make_handle(out_verification, "out_verification",
                     [&]() -> Result<std::unique_ptr<shw_verification>> {
                       SHW_WANT(plan);
                       SHW_WANT(options);
                       SHW_ASSIGN_OR_RETURN(const shw_verification_options in,
                                            copy_in(options, kVerificationOptionsSize_0_2));
                       SHW_RETURN_IF_ERROR(check_flags(in.flags, 0));
                       SHW_ASSIGN_OR_RETURN(VerifyReport report, verify(*plan->ref, in));
                       return std::make_unique<shw_verification>(
                           shw_verification{plan->ref->context, std::move(report)});
                     });
}

shw_status* shw_verification_get_summary(const shw_verification* verification,
                                         shw_verification_summary* out_summary) {
  return fill_struct(out_summary, "out_summary", kVerificationSummarySize_0_2,
                     [&](auto& out) -> Status {
                       SHW_WANT(verification);
                       const VerifyReport& report = verification->ours;
                       out.num_wrong = report.num_wrong;
                       out.num_expected_wrong = report.num_expected_wrong;
                       out.worst = index_or_none(report.worst);
                       out.worst_expected = index_or_none(report.worst_expected);
                       out.num_samples = static_cast<size_t>(report.samples);
                       return {};
                     });
}

size_t shw_verification_num_tensors(const shw_verification* verification) {
  return verification ? verification->ours.tensors.size() : 0;
}

shw_status* shw_verification_get_tensor(const shw_verification* verification, size_t index,
                                        shw_verification_tensor* out_tensor) {
  return fill_struct(
      out_tensor, "out_tensor", kVerificationTensorSize_0_2, [&](auto& out) -> Status {
        SHW_WANT(verification);
        SHW_RETURN_IF_ERROR(check_index(index, verification->ours.tensors.size(), "tensor"));
        out = to_c(verification->ours.tensors[index]);
        return {};
      });
}

shw_status* shw_verification_to_json(const shw_verification* verification, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(verification);
    JsonWriter json;
    write_json(verification->ours, json);
    return make_blob(verification->context, json.take());
  });
}

shw_status* shw_verification_to_text(const shw_verification* verification, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(verification);
    return make_blob(verification->context, to_text(verification->ours));
  });
}

void shw_verification_destroy(shw_verification* verification) { delete verification; }
