// Whole tensors to pieces and back: shw_plan_shard, shw_plan_shard_into, shw_plan_gather.
#include "whole_tensor.h"

#include "runtime/executor.h"
#include "runtime/host_tensor.h"
#include "shardwise/runtime.h"

namespace shw::capi {
namespace {

// A present port, and a rank's piece of it.
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

}  // namespace

Result<std::unique_ptr<shw_buffer>> shard(const PlanRef& plan, size_t port, int32_t rank,
                                          const shw_tensor& whole, const DeviceRef& device) {
  SHW_ASSIGN_OR_RETURN(const Port* p, present_port(*plan, port));
  SHW_RETURN_IF_ERROR(check_rank(*plan, rank));
  const ProgramValue& value = plan->plan.program.values[p->value];
  SHW_ASSIGN_OR_RETURN(
      auto piece, allocate_buffer(device ? device : make_host_device(plan->context), value.type,
                                  runtime::port_bytes(plan->plan.program, *p), value.offset_bytes));
  SHW_RETURN_IF_ERROR(shard_to(*plan, *p, rank, whole, *piece));
  piece->piece = {plan, rank};
  return piece;
}

Status shard_into(const PlanRef& plan, size_t port, int32_t rank, const shw_tensor& whole,
                  shw_buffer& piece) {
  SHW_ASSIGN_OR_RETURN(const Port* p, present_port(*plan, port));
  SHW_RETURN_IF_ERROR(check_rank(*plan, rank));
  SHW_RETURN_IF_ERROR(check_piece(*p, "", &piece, plan->plan.program.values[p->value].type));
  SHW_RETURN_IF_ERROR(shard_to(*plan, *p, rank, whole, piece));
  piece.piece = {plan, rank};
  return {};
}

Status gather_into(const PlanRef& plan, size_t port, std::span<shw_buffer* const> pieces,
                   void* whole) {
  SHW_ASSIGN_OR_RETURN(const Port* p, present_port(*plan, port));
  SHW_RETURN_IF_ERROR(runtime::check_can_shard(*p, plan->mesh));
  const TensorType& local = plan->plan.program.values[p->value].type;
  for (size_t rank = 0; rank < pieces.size(); ++rank) {
    const shw_buffer* piece = pieces[rank];
    const auto number = static_cast<int64_t>(rank);
    SHW_RETURN_IF_ERROR(check_piece(*p, " of rank " + std::to_string(rank), piece, local));
    if (is_of_other_rank(piece->piece, plan, *p, number))
      return invalid_argument("the piece of port '" + p->name + "' in place " +
                              std::to_string(rank) + " is that of rank " +
                              std::to_string(piece->piece.rank));
    if (!runtime::is_first_replica(p->layout, plan->mesh, number)) continue;
    SHW_ASSIGN_OR_RETURN(const HostWindow window, HostWindow::of(*piece));
    SHW_RETURN_IF_ERROR(runtime::gather(*p, plan->mesh, number, piece->type, window.data(), whole));
  }
  return {};
}

Result<std::unique_ptr<shw_buffer>> gather(const PlanRef& plan, size_t port,
                                           std::span<shw_buffer* const> pieces) {
  SHW_ASSIGN_OR_RETURN(const Port* p, present_port(*plan, port));
  SHW_RETURN_IF_ERROR(runtime::check_can_shard(*p, plan->mesh));
  SHW_ASSIGN_OR_RETURN(
      auto whole, allocate_buffer(make_host_device(plan->context), p->global, p->global.bytes()));
  SHW_RETURN_IF_ERROR(gather_into(plan, port, pieces, whole->data()));
  return whole;
}

}  // namespace shw::capi

using namespace shw;
using namespace shw::capi;

shw_status* shw_plan_shard(const shw_plan* plan, size_t port, int32_t rank, const shw_tensor* whole,
                           shw_device* device, shw_buffer** out_buffer) {
  return make_handle(out_buffer, "out_buffer", [&]() -> Result<std::unique_ptr<shw_buffer>> {
    SHW_WANT(plan);
    SHW_WANT(whole);
    return shard(plan->ref, port, rank, *whole, device ? device->ref : DeviceRef());
  });
}

shw_status* shw_plan_shard_into(const shw_plan* plan, size_t port, int32_t rank,
                                const shw_tensor* whole, shw_buffer* buffer) {
  return guard([&]() -> Status {
    SHW_WANT(plan);
    SHW_WANT(whole);
    SHW_WANT(buffer);
    return shard_into(plan->ref, port, rank, *whole, *buffer);
  });
}

shw_status* shw_plan_gather(const shw_plan* plan, size_t port, shw_buffer* const* pieces,
                            size_t num_pieces, shw_buffer** out_buffer) {
  return make_handle(out_buffer, "out_buffer", [&]() -> Result<std::unique_ptr<shw_buffer>> {
    SHW_WANT(plan);
    SHW_WANT(pieces);
    const int64_t num_ranks = plan->ref->mesh.num_ranks();
    if (num_pieces != static_cast<size_t>(num_ranks))
      return invalid_argument("there are " + std::to_string(num_pieces) + " pieces, but " +
                              std::to_string(num_ranks) + " ranks");
    return gather(plan->ref, port, {pieces, num_pieces});
  });
}
