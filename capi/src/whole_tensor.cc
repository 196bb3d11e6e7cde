// Whole tensors to pieces and back: shw_plan_shard, shw_plan_shard_into, shw_plan_gather.
#include "buffer.h"
#include "plan.h"
#include "runtime/executor.h"
#include "runtime/host_tensor.h"
#include "shardwise/runtime.h"

namespace shw::capi {
namespace {

// A port that is present, and what a rank holds of it.
Result<const Port*> present_port(const LoadedPlan& plan, size_t index) {
  SHW_ASSIGN_OR_RETURN(const PortId id, port_of(plan, index));
  const Port& port = plan.plan.program.ports[id];
  if (!port.value.valid())
    return failed_precondition("port '" + port.name + "' is not present in the plan");
  return &port;
}

Status check_rank(const LoadedPlan& plan, int32_t rank) {
  return check_index(rank < 0 ? SIZE_MAX : static_cast<size_t>(rank),
                     static_cast<size_t>(plan.mesh.num_ranks()), "rank");
}

Status check_piece(const Port& port, const std::string& of_rank, const shw_buffer* piece,
                   const TensorType& want) {
  const auto refuse = [&](const std::string& why) {
    return invalid_argument("the piece of port '" + port.name + "'" + of_rank + " " + why);
  };
  if (piece == nullptr) return refuse("is missing");
  if (piece->type.dtype != want.dtype || piece->type.shape != want.shape)
    return refuse("is " + to_string(piece->type) + ", not " + to_string(want));
  return {};
}

Status shard_to(const LoadedPlan& plan, const Port& port, int32_t rank, const shw_tensor& whole,
                shw_buffer& piece) {
  SHW_ASSIGN_OR_RETURN(const TensorType type, type_of(whole));
  SHW_ASSIGN_OR_RETURN(HostWindow window, HostWindow::of(piece));
  SHW_RETURN_IF_ERROR(
      runtime::shard(port, plan.mesh, rank, {type, whole.data}, piece.type, window.data()));
  return window.write_back();
}

Result<std::unique_ptr<shw_buffer>> gather(const PlanRef& ref, const Port& port,
                                           shw_buffer* const* pieces) {
  const LoadedPlan& plan = *ref;
  SHW_RETURN_IF_ERROR(runtime::check_can_shard(port, plan.mesh));
  const TensorType& local = plan.plan.program.values[port.value].type;
  SHW_ASSIGN_OR_RETURN(auto whole, allocate_buffer(make_host_device(plan.context), port.global,
                                                   port.global.bytes()));
  for (int64_t rank = 0; rank < plan.mesh.num_ranks(); ++rank) {
    const shw_buffer* piece = pieces[rank];
    SHW_RETURN_IF_ERROR(check_piece(port, " of rank " + std::to_string(rank), piece, local));
    if (is_of_other_rank(piece->piece, ref, port, rank))
      return invalid_argument("the piece of port '" + port.name + "' in place " +
                              std::to_string(rank) + " is that of rank " +
                              std::to_string(piece->piece.rank));
    if (!runtime::is_first_replica(port.layout, plan.mesh, rank)) continue;
    SHW_ASSIGN_OR_RETURN(const HostWindow window, HostWindow::of(*piece));
    SHW_RETURN_IF_ERROR(
        runtime::gather(port, plan.mesh, rank, piece->type, window.data(), whole->data()));
  }
  return whole;
}

}  // namespace
}  // namespace shw::capi

using namespace shw;
using namespace shw::capi;

shw_status* shw_plan_shard(const shw_plan* plan, size_t port, int32_t rank, const shw_tensor* whole,
                           shw_device* device, shw_buffer** out_buffer) {
  return make_handle(out_buffer, "out_buffer", [&]() -> Result<std::unique_ptr<shw_buffer>> {
    SHW_WANT(plan);
    SHW_WANT(whole);
    const LoadedPlan& ours = *plan->ref;
    SHW_ASSIGN_OR_RETURN(const Port* p, present_port(ours, port));
    SHW_RETURN_IF_ERROR(check_rank(ours, rank));
    const ProgramValue& value = ours.plan.program.values[p->value];
    SHW_ASSIGN_OR_RETURN(
        auto piece,
        allocate_buffer(device ? device->ref : make_host_device(ours.context), value.type,
                        runtime::port_bytes(ours.plan.program, *p), value.offset_bytes));
    SHW_RETURN_IF_ERROR(shard_to(ours, *p, rank, *whole, *piece));
    piece->piece = {plan->ref, rank};
    return piece;
  });
}

shw_status* shw_plan_shard_into(const shw_plan* plan, size_t port, int32_t rank,
                                const shw_tensor* whole, shw_buffer* buffer) {
  return guard([&]() -> Status {
    SHW_WANT(plan);
    SHW_WANT(whole);
    SHW_WANT(buffer);
    SHW_ASSIGN_OR_RETURN(const Port* p, present_port(*plan->ref, port));
    SHW_RETURN_IF_ERROR(check_rank(*plan->ref, rank));
    SHW_RETURN_IF_ERROR(check_piece(*p, "", buffer, plan->ref->plan.program.values[p->value].type));
    SHW_RETURN_IF_ERROR(shard_to(*plan->ref, *p, rank, *whole, *buffer));
    buffer->piece = {plan->ref, rank};
    return {};
  });
}

shw_status* shw_plan_gather(const shw_plan* plan, size_t port, shw_buffer* const* pieces,
                            size_t num_pieces, shw_buffer** out_buffer) {
  return make_handle(out_buffer, "out_buffer", [&]() -> Result<std::unique_ptr<shw_buffer>> {
    SHW_WANT(plan);
    SHW_WANT(pieces);
    SHW_ASSIGN_OR_RETURN(const Port* p, present_port(*plan->ref, port));
    const int64_t num_ranks = plan->ref->mesh.num_ranks();
    if (num_pieces != static_cast<size_t>(num_ranks))
      return invalid_argument("there are " + std::to_string(num_pieces) + " pieces, but " +
                              std::to_string(num_ranks) + " ranks");
    return gather(plan->ref, *p, pieces);
  });
}
