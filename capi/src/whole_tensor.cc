// Whole tensors to pieces and back: shw_plan_shard_input and shw_plan_gather_output.
#include "buffer.h"
#include "plan.h"
#include "runtime/executor.h"
#include "runtime/host_tensor.h"

namespace shw::capi {
namespace {

Result<const ProgramEntry*> entry_of(const shw_plan& plan, size_t entry) {
  const std::vector<ProgramEntry>& entries = plan.ref->plan.program.entries;
  SHW_RETURN_IF_ERROR(check_index(entry, entries.size(), "entry"));
  return &entries[entry];
}

Result<std::unique_ptr<shw_buffer>> shard_input(const LoadedPlan& plan, const Port& port,
                                                int32_t rank, const shw_tensor& whole) {
  SHW_ASSIGN_OR_RETURN(const TensorType type, type_of(whole));
  if (!port.value.valid())
    return failed_precondition("input '" + port.name + "' is not used by the plan");
  const Program& program = plan.plan.program;
  const ProgramValue& value = program.values[port.value];
  auto buffer = allocate_buffer(plan.context, value.type, runtime::port_bytes(program, port),
                                value.offset_bytes);
  SHW_RETURN_IF_ERROR(
      runtime::shard(port, plan.mesh, rank, {type, whole.data}, value.type, buffer->data()));
  return buffer;
}

Status check_piece(const Port& port, size_t rank, const shw_buffer* piece, const TensorType& want) {
  const auto refuse = [&](const std::string& why) {
    return invalid_argument("the piece of output '" + port.name + "' of rank " +
                            std::to_string(rank) + " " + why);
  };
  if (piece == nullptr) return refuse("is missing");
  if (piece->type.dtype != want.dtype || piece->type.shape != want.shape)
    return refuse("is " + to_string(piece->type) + ", not " + to_string(want));
  return {};
}

Result<std::unique_ptr<shw_buffer>> gather_output(const LoadedPlan& plan, const Port& port,
                                                  const shw_buffer* const* pieces) {
  if (!port.value.valid())
    return failed_precondition("output '" + port.name + "' is never made by the plan");
  SHW_RETURN_IF_ERROR(runtime::check_can_shard(port, plan.mesh));
  const TensorType& local = plan.plan.program.values[port.value].type;
  auto whole = allocate_buffer(plan.context, port.global, port.global.bytes());
  for (int64_t rank = 0; rank < plan.mesh.num_ranks(); ++rank) {
    const shw_buffer* piece = pieces[rank];
    SHW_RETURN_IF_ERROR(check_piece(port, static_cast<size_t>(rank), piece, local));
    if (runtime::is_first_replica(port.layout, plan.mesh, rank))
      SHW_RETURN_IF_ERROR(
          runtime::gather(port, plan.mesh, rank, piece->type, piece->data(), whole->data()));
  }
  return whole;
}

}  // namespace
}  // namespace shw::capi

using namespace shw;
using namespace shw::capi;

shw_status* shw_plan_shard_input(const shw_plan* plan, size_t entry, size_t input, int32_t rank,
                                 const shw_tensor* whole, shw_buffer** out_buffer) {
  return make_handle(out_buffer, "out_buffer", [&]() -> Result<std::unique_ptr<shw_buffer>> {
    SHW_WANT(plan);
    SHW_WANT(whole);
    SHW_ASSIGN_OR_RETURN(const ProgramEntry* e, entry_of(*plan, entry));
    SHW_RETURN_IF_ERROR(check_index(input, e->inputs.size(), "input"));
    const auto num_ranks = static_cast<size_t>(plan->ref->mesh.num_ranks());
    SHW_RETURN_IF_ERROR(
        check_index(rank < 0 ? SIZE_MAX : static_cast<size_t>(rank), num_ranks, "rank"));
    return shard_input(*plan->ref, plan->ref->plan.program.ports[e->inputs[input]], rank, *whole);
  });
}

shw_status* shw_plan_gather_output(const shw_plan* plan, size_t entry, size_t output,
                                   const shw_buffer* const* pieces, size_t num_pieces,
                                   shw_buffer** out_buffer) {
  return make_handle(out_buffer, "out_buffer", [&]() -> Result<std::unique_ptr<shw_buffer>> {
    SHW_WANT(plan);
    SHW_WANT(pieces);
    SHW_ASSIGN_OR_RETURN(const ProgramEntry* e, entry_of(*plan, entry));
    SHW_RETURN_IF_ERROR(check_index(output, e->outputs.size(), "output"));
    const int64_t num_ranks = plan->ref->mesh.num_ranks();
    if (num_pieces != static_cast<size_t>(num_ranks))
      return invalid_argument("there are " + std::to_string(num_pieces) + " pieces, but " +
                              std::to_string(num_ranks) + " ranks");
    return gather_output(*plan->ref, plan->ref->plan.program.ports[e->outputs[output]], pieces);
  });
}
