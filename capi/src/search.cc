// shw_mesh_search: every mesh that devices can be laid out as.
#include "answers/search.h"

#include <cstddef>

#include "blob.h"
#include "plan.h"
#include "shardwise/planner.h"

using namespace shw;
using namespace shw::capi;

namespace shw::capi {
namespace {

constexpr size_t kSearchOptionsSize_0_1 =
    offsetof(shw_search_options, num_threads) + sizeof(int32_t);

constexpr std::string_view kNoAxes = "rank=1";  // what read_options() makes of none

Result<answers::SearchOptions> convert(const shw_search_options* search) {
  SHW_WANT(search);
  SHW_ASSIGN_OR_RETURN(const shw_search_options in, copy_in(search, kSearchOptionsSize_0_1));
  SHW_RETURN_IF_ERROR(check_flags(in.flags, SHW_SEARCH_EACH_BATCH));
  answers::SearchOptions out;
  out.devices = in.num_devices;
  if (in.max_mesh_dims != 0) out.max_mesh_dims = in.max_mesh_dims;
  out.each_batch = (in.flags & SHW_SEARCH_EACH_BATCH) != 0;
  out.threads = in.num_threads;
  out.best = in.num_best;
  SHW_RETURN_IF_ERROR(check_reserved(in.reserved));
  return out;
}

}  // namespace
}  // namespace shw::capi

void shw_search_options_init(shw_search_options* options, size_t size) {
  init_struct(options, size);
}

shw_status* shw_mesh_search(shw_context* context, shw_bytes graph,
                            const shw_compile_options* options, const shw_search_options* search,
                            shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(context);
    SHW_ASSIGN_OR_RETURN(const answers::SearchOptions wanted, convert(search));
    SHW_ASSIGN_OR_RETURN(CompileRequest request, read_options(options));
    if (request.options.mesh != kNoAxes)
      return invalid_argument("a search makes its own meshes: num_mesh_axes must be 0");
    SHW_ASSIGN_OR_RETURN(const std::span<const uint8_t> bytes, bytes_of(graph, "graph"));
    SHW_ASSIGN_OR_RETURN(const auto found,
                         answers::search_meshes(bytes, request.options, wanted, request.monitor));
    return make_blob(context->ref, to_json(found));
  });
}
