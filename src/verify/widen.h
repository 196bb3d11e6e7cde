// Converts a program to other floating-point types. Steps, layouts and collectives do not change,
// so the new program computes the same with different rounding.
#pragma once
#include "plan/program.h"
#include "runtime/host_tensor.h"
#include "support/monitor.h"

namespace shw {

// To f64: replaces every floating-point type by f64, and every complex number by a pair of f64 in a
// last dim of size 2. Casts to narrower types become copies. Integers and truth values stay. Random
// numbers are the same, rounded to the dtype in which the original program draws them.
// UNIMPLEMENTED: the program uses complex numbers in a way that pairs do not support, or
// reinterprets bytes as another type.
Result<Program> widen(const Program& program, Monitor& monitor);

// From f64 to f32, whose rounding is 2^29 times coarser. It makes the places visible where f64
// rounds.
Result<Program> narrow(const Program& program, Monitor& monitor);
bool has_f64(const Program& program);

// Exact conversion, as an input of the f64 program.
runtime::HostTensor widen(const runtime::HostTensorView& tensor);
// Conversion to the nearest numbers, as an input of the f32 program.
runtime::HostTensor narrow(const runtime::HostTensorView& tensor);

}  // namespace shw
