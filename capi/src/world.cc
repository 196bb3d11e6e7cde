// shw_world.
#include "world.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "runtime/mpi/mpi_transport.h"
#include "runtime/world/message_world.h"
#include "runtime/world/registry.h"

using namespace shw;
using namespace shw::capi;

namespace shw::capi {
namespace {

constexpr int32_t kMaxRanks = 1 << 20;  // the same limit as for meshes
constexpr size_t kWorldOptionsSize_0_2 = SHW_SIZE_TO(shw_world_options, mpi_plugin);

struct WorldSettings {
  runtime::WorldOptions world;
  std::string mpi_plugin;
};

Result<WorldSettings> read_options(const shw_world_options* in) {
  SHW_ASSIGN_OR_RETURN(const shw_world_options options, copy_in(in, kWorldOptionsSize_0_2));
  SHW_RETURN_IF_ERROR(check_flags(options.flags, 0));
  WorldSettings ours;
  if (options.timeout_ns != 0) ours.world.timeout = std::chrono::nanoseconds(options.timeout_ns);
  if (options.mpi_plugin != nullptr) ours.mpi_plugin = options.mpi_plugin;
  return ours;
}

Status check_num_ranks(int32_t num_ranks) {
  if (num_ranks >= 1 && num_ranks <= kMaxRanks) return {};
  return invalid_argument("num_ranks is " + std::to_string(num_ranks) + ", expected 1 to " +
                          std::to_string(kMaxRanks));
}

}  // namespace
}  // namespace shw::capi

void shw_world_options_init(shw_world_options* options, size_t size) { init_struct(options, size); }

shw_status* shw_world_create_virtual(shw_context* context, int32_t num_ranks,
                                     const shw_world_options* options, shw_world** out_world) {
  return make_handle(out_world, "out_world", [&]() -> Result<std::unique_ptr<shw_world>> {
    SHW_WANT(context);
    SHW_RETURN_IF_ERROR(check_num_ranks(num_ranks));
    SHW_ASSIGN_OR_RETURN(const WorldSettings ours, read_options(options));
    return std::make_unique<shw_world>(
        shw_world{context->ref, runtime::create_local_world(num_ranks, ours.world)});
  });
}

shw_status* shw_world_make_id(shw_context* context, shw_world_id* out_id) {
  return fill_value(out_id, "out_id", [&](shw_world_id& id) -> Status {
    SHW_WANT(context);
    const runtime::WorldId made = context->ref->worlds().make_id();
    static_assert(sizeof id.bytes == sizeof made);
    std::copy(made.begin(), made.end(), id.bytes);
    return {};
  });
}

shw_status* shw_world_create_from_id(shw_context* context, const shw_world_id* id,
                                     int32_t num_ranks, const int32_t* local_ranks,
                                     size_t num_local_ranks, const shw_world_options* options,
                                     shw_world** out_world) {
  return make_handle(out_world, "out_world", [&]() -> Result<std::unique_ptr<shw_world>> {
    SHW_WANT(context);
    SHW_WANT(id);
    SHW_WANT(local_ranks);
    SHW_RETURN_IF_ERROR(check_num_ranks(num_ranks));
    if (num_local_ranks < 1 || num_local_ranks > static_cast<size_t>(num_ranks))
      return invalid_argument("num_local_ranks is " + std::to_string(num_local_ranks) +
                              ", expected 1 to " + std::to_string(num_ranks));
    SHW_ASSIGN_OR_RETURN(const WorldSettings ours, read_options(options));
    runtime::WorldId wanted;
    std::copy(std::begin(id->bytes), std::end(id->bytes), wanted.begin());
    const std::vector<int64_t> ranks(local_ranks, local_ranks + num_local_ranks);
    SHW_ASSIGN_OR_RETURN(auto world,
                         context->ref->worlds().join(wanted, num_ranks, ranks, ours.world));
    return std::make_unique<shw_world>(shw_world{context->ref, std::move(world)});
  });
}

shw_status* shw_world_create_mpi(shw_context* context, const shw_world_options* options,
                                 shw_world** out_world) {
  return make_handle(out_world, "out_world", [&]() -> Result<std::unique_ptr<shw_world>> {
    SHW_WANT(context);
    SHW_ASSIGN_OR_RETURN(const WorldSettings ours, read_options(options));
    SHW_ASSIGN_OR_RETURN(auto transport,
                         runtime::open_mpi_transport(ours.mpi_plugin, ours.world.timeout));
    SHW_ASSIGN_OR_RETURN(std::shared_ptr<runtime::World> world,
                         runtime::create_message_world(std::move(transport), ours.world));
    return std::make_unique<shw_world>(shw_world{context->ref, std::move(world)});
  });
}

int32_t shw_world_num_ranks(const shw_world* world) {
  return world == nullptr ? 0 : static_cast<int32_t>(world->ref->num_ranks());
}

size_t shw_world_num_local_ranks(const shw_world* world) {
  return world == nullptr ? 0 : world->ref->local_ranks().size();
}

int32_t shw_world_local_rank(const shw_world* world, size_t index) {
  if (index >= shw_world_num_local_ranks(world)) return -1;
  return static_cast<int32_t>(world->ref->local_ranks()[index]);
}

shw_status* shw_world_status(const shw_world* world) {
  return guard([&]() -> Status {
    SHW_WANT(world);
    return world->ref->status();
  });
}

void shw_world_abort(shw_world* world) {
  if (world == nullptr) return;
  shw_status_destroy(guard([&]() -> Status {
    world->ref->abort(Status(Code::kCancelled, "the world was aborted by the caller"));
    return {};
  }));
}

void shw_world_destroy(shw_world* world) { delete world; }
