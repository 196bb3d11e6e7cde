// What an executor checks of a program before it touches memory by it. The reader of plan bytes has
// verified the program's logic already; these checks make every access stay inside its storage,
// and compare the plan with the job that it is to run in.
#pragma once
#include "plan/program.h"
#include "runtime/channel.h"

namespace shw::runtime {

// FAILED_PRECONDITION: the plan is for another mesh than `mesh`. DATA_LOSS: a window outside its
// storage, an index out of range.
Status validate(const Program& program, const Mesh& mesh);

// What addresses of elements are a multiple of: two f32 make a complex number.
constexpr int64_t element_alignment(Dtype dtype) {
  return dtype == Dtype::kC64 ? 4 : dtype_size(dtype);
}

// Elements of a collective as CollectiveSpec counts them, of a group of `size`. DATA_LOSS when the
// step's tensors do not fit the collective.
Result<CollectiveSpec> collective_spec(const Program& program, const ProgramStep& step,
                                       int64_t size);

}  // namespace shw::runtime
