// Whether a plan belongs into a job, and what its collectives are to a backend. That the program is
// sound was checked when the plan was read (plan/verify.cc); nothing checks it again.
#pragma once
#include "plan/program.h"
#include "runtime/channel.h"

namespace shw::runtime {

// FAILED_PRECONDITION: the plan is for another mesh than `mesh`.
Status check_mesh(const Program& program, const Mesh& mesh);

// What addresses of elements are a multiple of: two f32 make a complex number.
constexpr int64_t element_alignment(Dtype dtype) {
  return dtype == Dtype::kC64 ? 4 : dtype_size(dtype);
}

// Elements of a collective as CollectiveSpec counts them, of a group of `size`. DATA_LOSS when the
// step's tensors do not fit the collective.
Result<CollectiveSpec> collective_spec(const Program& program, const ProgramStep& step,
                                       int64_t size);

}  // namespace shw::runtime
