// How long a plan's steps take.
#include "runtime/bench/bench.h"
#include "blob.h"
#include "device.h"
#include "plan.h"
#include "runtime/bench/rank_backend.h"
#include "shardwise/runtime.h"

using namespace shw;
using namespace shw::capi;

namespace shw::capi {
namespace {

constexpr size_t kBenchOptionsSize_0_2 = SHW_SIZE_TO(shw_bench_options, reserved);

Result<std::string_view> device_name(shw_device_kind kind) {
  if (kind == 0 || kind == SHW_DEVICE_CPU) return std::string_view("cpu");
  if (kind == SHW_DEVICE_CUDA) return std::string_view("cuda");
  if (kind == SHW_DEVICE_NULL) return std::string_view("null");
  return invalid_argument("device kind " + std::to_string(kind) + " is unknown");
}

Result<runtime::BenchOptions> read_options(const shw_bench_options& in, int64_t ranks,
                                           const ContextRef& context) {
  SHW_RETURN_IF_ERROR(check_flags(in.flags, SHW_BENCH_TEXT | SHW_BENCH_TRACE));
  if (in.flags == (SHW_BENCH_TEXT | SHW_BENCH_TRACE))
    return invalid_argument("SHW_BENCH_TEXT and SHW_BENCH_TRACE do not go together");
  SHW_RETURN_IF_ERROR(check_reserved(in.reserved));
  runtime::BenchOptions ours;
  if (in.entry != nullptr) ours.entry = in.entry;
  if (in.warm_up != 0) ours.warm_up = std::max(in.warm_up, 0);
  if (in.repeats != 0) ours.repeats = in.repeats;
  SHW_ASSIGN_OR_RETURN(const std::string_view device, device_name(in.device));
  SHW_ASSIGN_OR_RETURN(ours.backend, runtime::rank_backend(device, ranks));
  if (device == "cpu") ours.backend.device = [=](int64_t) { return make_host_device(context); };
  return ours;
}

}  // namespace
}  // namespace shw::capi

void shw_bench_options_init(shw_bench_options* options, size_t size) { init_struct(options, size); }

shw_status* shw_plan_bench(const shw_plan* plan, const shw_bench_options* options,
                           shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(plan);
    SHW_ASSIGN_OR_RETURN(const shw_bench_options in, copy_in(options, kBenchOptionsSize_0_2));
    const std::shared_ptr<const Plan> shared(plan->ref, &plan->ref->plan);
    SHW_ASSIGN_OR_RETURN(const runtime::BenchOptions ours,
                         read_options(in, num_ranks(shared->program), plan->ref->context));
    SHW_ASSIGN_OR_RETURN(const runtime::BenchResult result, runtime::bench(shared, ours));
    return make_blob(plan->ref->context, in.flags & SHW_BENCH_TEXT    ? to_text(result)
                                         : in.flags & SHW_BENCH_TRACE ? to_trace(result)
                                                                      : to_json(result));
  });
}
