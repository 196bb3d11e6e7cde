// Measures the time of a plan's steps, and of collectives.
#include "runtime/bench/bench.h"
#include "blob.h"
#include "buffer.h"
#include "compile_options.h"
#include "device.h"
#include "mesh_axes.h"
#include "plan.h"
#include "runtime/bench/collectives.h"
#include "runtime/bench/rank_backend.h"
#include "shardwise/runtime.h"

using namespace shw;
using namespace shw::capi;

namespace shw::capi {
namespace {

constexpr size_t kBenchOptionsSize_0_2 = SHW_SIZE_TO(shw_bench_options, reserved);
constexpr size_t kCollectiveBenchOptionsSize_0_2 =
    SHW_SIZE_TO(shw_collective_bench_options, repeats);

Result<std::string_view> device_name(shw_device_kind kind) {
  if (kind == 0 || kind == SHW_DEVICE_CPU) return std::string_view("cpu");
  if (kind == SHW_DEVICE_CUDA) return std::string_view("cuda");
  if (kind == SHW_DEVICE_NULL) return std::string_view("null");
  return invalid_argument("device kind " + std::to_string(kind) + " is unknown");
}

Result<runtime::RankBackend> backend_of(shw_device_kind kind, int64_t ranks,
                                        const ContextRef& context) {
  SHW_ASSIGN_OR_RETURN(const std::string_view device, device_name(kind));
  SHW_ASSIGN_OR_RETURN(runtime::RankBackend backend,
                       runtime::rank_backend(device, ranks, context->cuda()));
  if (device == "cpu") backend.device = [=](int64_t) { return make_host_device(context); };
  return backend;
}

Result<runtime::BenchOptions> read_options(const shw_bench_options& in, int64_t ranks,
                                           const ContextRef& context) {
  SHW_RETURN_IF_ERROR(
      check_flags(in.flags, SHW_BENCH_TEXT | SHW_BENCH_TRACE | SHW_BENCH_WHOLE | SHW_BENCH_GRAPHS));
  if ((in.flags & SHW_BENCH_TRACE) != 0 && in.flags != SHW_BENCH_TRACE)
    return invalid_argument(
        "SHW_BENCH_TRACE does not go together with SHW_BENCH_TEXT, SHW_BENCH_WHOLE or "
        "SHW_BENCH_GRAPHS");
  SHW_RETURN_IF_ERROR(check_reserved(in.reserved));
  runtime::BenchOptions ours;
  if (in.entry != nullptr) ours.entry = in.entry;
  if (in.warm_up != 0) ours.warm_up = std::max(in.warm_up, 0);
  if (in.repeats != 0) ours.repeats = in.repeats;
  ours.whole = (in.flags & SHW_BENCH_WHOLE) != 0;
  ours.graphs = (in.flags & SHW_BENCH_GRAPHS) != 0;
  SHW_ASSIGN_OR_RETURN(ours.backend, backend_of(in.device, ranks, context));
  return ours;
}

Result<runtime::CollectiveBenchOptions> read_options(const shw_collective_bench_options& in,
                                                     const ContextRef& context) {
  SHW_RETURN_IF_ERROR(check_flags(in.flags, SHW_BENCH_TEXT));
  runtime::CollectiveBenchOptions ours;
  SHW_ASSIGN_OR_RETURN(ours.mesh, mesh_of(in.mesh_axes, in.num_mesh_axes));
  SHW_ASSIGN_OR_RETURN(ours.group, names_of(in.group, in.num_group, "group"));
  if (in.min_bytes != 0) ours.min_bytes = in.min_bytes;
  if (in.max_bytes != 0) ours.max_bytes = in.max_bytes;
  if (in.factor != 0) ours.factor = in.factor;
  if (in.dtype != 0) {
    SHW_ASSIGN_OR_RETURN(ours.dtype, read_dtype(in.dtype));
  }
  if (in.warm_up != 0) ours.warm_up = std::max(in.warm_up, 0);
  if (in.repeats != 0) ours.repeats = in.repeats;
  SHW_ASSIGN_OR_RETURN(ours.backend, backend_of(in.device, ours.mesh.num_ranks(), context));
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

void shw_collective_bench_options_init(shw_collective_bench_options* options, size_t size) {
  init_struct(options, size);
}

shw_status* shw_bench_collectives(shw_context* context, const shw_collective_bench_options* options,
                                  shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(context);
    SHW_ASSIGN_OR_RETURN(const shw_collective_bench_options in,
                         copy_in(options, kCollectiveBenchOptionsSize_0_2));
    SHW_ASSIGN_OR_RETURN(const runtime::CollectiveBenchOptions ours,
                         read_options(in, context->ref));
    SHW_ASSIGN_OR_RETURN(const auto result, runtime::bench_collectives(ours));
    return make_blob(context->ref, in.flags & SHW_BENCH_TEXT ? to_text(result) : to_json(result));
  });
}
