// A program in other floating types. Steps, layouts and collectives stay what they are, so that it
// computes the same with another rounding.
#pragma once
#include "plan/program.h"
#include "runtime/host_tensor.h"
#include "support/monitor.h"

namespace shw {

// In f64: every floating type is replaced by f64, every complex number by a pair of f64 in a last
// dim of size 2. Casts to narrower types become copies. Integers and truth values stay. Random
// numbers are those of the original, rounded to the type that it draws them in. UNIMPLEMENTED: the
// program computes with complex numbers in a way that pairs do not cover, or reads the bytes of one
// type as another.
Result<Program> widen(const Program& program, Monitor& monitor);

// In f32 where it is in f64: what rounds 2^29 times as coarsely, and so shows where f64 rounds.
Result<Program> narrow(const Program& program, Monitor& monitor);
bool has_f64(const Program& program);

// The same numbers, as an input of the program in f64.
runtime::HostTensor widen(const runtime::HostTensorView& tensor);
// The nearest numbers, as an input of the program in f32.
runtime::HostTensor narrow(const runtime::HostTensorView& tensor);

}  // namespace shw
