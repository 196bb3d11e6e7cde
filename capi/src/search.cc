// shw_search: searches all meshes that the devices can form.
#include "shardwise/search.h"

#include "answers/search.h"

#include "blob.h"
#include "compile_options.h"
#include "context.h"

using namespace shw;
using namespace shw::capi;

struct shw_search {
  ContextRef context;
  std::vector<answers::MeshCandidate> candidates;
};

namespace shw::capi {
namespace {

constexpr size_t kSearchOptionsSize_0_2 = SHW_SIZE_TO(shw_search_options, reserved);
constexpr size_t kSearchCandidateSize_0_2 = SHW_SIZE_TO(shw_search_candidate, duration_s);
constexpr std::string_view kNoAxes = "rank=1";  // the result of read_compile_options() for no axes

// Numbers above INT_MAX are as invalid as INT_MAX, and are refused in the same way.
int clamped(size_t value) { return static_cast<int>(std::min<size_t>(value, INT_MAX)); }

Result<answers::SearchOptions> convert(const shw_search_options* search) {
  SHW_WANT(search);
  SHW_ASSIGN_OR_RETURN(const shw_search_options in, copy_in(search, kSearchOptionsSize_0_2));
  SHW_RETURN_IF_ERROR(check_flags(in.flags, SHW_SEARCH_EACH_BATCH));
  SHW_RETURN_IF_ERROR(check_reserved(in.reserved));
  answers::SearchOptions out;
  out.devices = in.num_devices;
  if (in.max_mesh_dims != 0) out.max_mesh_dims = clamped(in.max_mesh_dims);
  out.each_batch = (in.flags & SHW_SEARCH_EACH_BATCH) != 0;
  out.threads = in.num_threads;
  out.best = clamped(in.num_best);
  return out;
}

shw_search_candidate to_c(const answers::MeshCandidate& candidate) {
  shw_search_candidate c{};
  c.mesh = candidate.mesh.c_str();
  c.input_layout = candidate.input_layout.c_str();
  c.batch = candidate.batch.c_str();
  c.error = candidate.status.message().c_str();
  c.code = static_cast<shw_code>(candidate.status.code());
  c.given_up = candidate.given_up;
  c.proven = candidate.proven;
  c.objective_us = candidate.objective_us;
  c.bound_us = candidate.bound_us;
  c.compute_us = candidate.compute_us;
  c.communication_us = candidate.comm_us;
  c.program_us = candidate.program_us;
  c.step_us = candidate.step_us;
  c.memory_peak_bytes = candidate.memory_peak_bytes;
  c.duration_s = candidate.seconds;
  return c;
}

}  // namespace
}  // namespace shw::capi

void shw_search_options_init(shw_search_options* options, size_t size) {
  init_struct(options, size);
}
void shw_search_candidate_init(shw_search_candidate* candidate, size_t size) {
  init_struct(candidate, size);
}

shw_status* shw_search_create(shw_context* context, shw_bytes graph,
                              const shw_compile_options* options, const shw_search_options* search,
                              shw_search** out_search) {
  return make_handle(out_search, "out_search", [&]() -> Result<std::unique_ptr<shw_search>> {
    SHW_WANT(context);
    SHW_ASSIGN_OR_RETURN(const answers::SearchOptions wanted, convert(search));
    SHW_ASSIGN_OR_RETURN(CompileRequest request,
                         read_compile_options(options, context->ref->tasks()));
    if (request.options.mesh != kNoAxes)
      return invalid_argument("a search makes its own meshes: num_mesh_axes must be 0");
    SHW_ASSIGN_OR_RETURN(const std::span<const uint8_t> bytes, bytes_of(graph, "graph"));
    SHW_ASSIGN_OR_RETURN(auto found,
                         answers::search_meshes(bytes, request.options, wanted, request.monitor));
    return std::make_unique<shw_search>(shw_search{context->ref, std::move(found)});
  });
}

size_t shw_search_num_candidates(const shw_search* search) {
  return search ? search->candidates.size() : 0;
}

shw_status* shw_search_get_candidate(const shw_search* search, size_t index,
                                     shw_search_candidate* out_candidate) {
  return fill_struct(
      out_candidate, "out_candidate", kSearchCandidateSize_0_2, [&](auto& out) -> Status {
        SHW_WANT(search);
        SHW_RETURN_IF_ERROR(check_index(index, search->candidates.size(), "candidate"));
        out = to_c(search->candidates[index]);
        return {};
      });
}

shw_status* shw_search_to_json(const shw_search* search, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(search);
    return make_blob(search->context, answers::to_json(search->candidates));
  });
}

shw_status* shw_search_to_text(const shw_search* search, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(search);
    return make_blob(search->context, answers::to_text(search->candidates));
  });
}

void shw_search_destroy(shw_search* search) { delete search; }
