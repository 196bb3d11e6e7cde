// Checks that a plan fits a job, and describes its collectives to a backend. The program itself was
// verified when the plan was read (plan/verify.cc), and is not checked again.
#pragma once
#include "plan/program.h"
#include "runtime/channel.h"

namespace shw::runtime {

// FAILED_PRECONDITION: the plan is for another mesh than `mesh`.
Status check_mesh(const Program& program, const Mesh& mesh);

// The alignment of elements in bytes. A complex number is aligned as its two f32.
constexpr int64_t element_alignment(Dtype dtype) {
  return dtype == Dtype::kC64 ? 4 : dtype_size(dtype);
}

// Describes a collective of a group of `size` members, with counts as CollectiveSpec defines them.
// DATA_LOSS: the step's tensors do not fit the collective.
Result<CollectiveSpec> collective_spec(const Program& program, const ProgramStep& step,
                                       int64_t size);

}  // namespace shw::runtime
