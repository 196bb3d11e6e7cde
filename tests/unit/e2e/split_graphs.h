// Graphs in which passes split collectives and products.
#pragma once

namespace shw::testing {

// Sequence parallelism: tokens are gathered for the first product, and the sums of the second
// product are reduce-scattered.
inline constexpr const char* kSequences = R"swt(
input param.up: %up : f32[16,24]
input param.down: %down : f32[24,16]
input input.0: %x : f32[8,12,16]
input tangent.0: %g : f32[8,12,16] {phase=backward}
%xs = sharding_constraint(%x, placements="S(0)S(1)") : f32[8,12,16]
%all = sharding_constraint(%xs, placements="S(0)R") : f32[8,12,16]
%w = sharding_constraint(%up, placements="RS(1)") : f32[16,24]
%h = einsum(%all, %w, equation="abk,kn->abn") : f32[8,12,24]
%v = sharding_constraint(%down, placements="RS(0)") : f32[24,16]
%y = einsum(%h, %v, equation="abk,kn->abn") : f32[8,12,16]
%ys = sharding_constraint(%y, placements="S(0)S(1)") : f32[8,12,16]
%n = neg(%ys) : f32[8,12,16]
%gs = sharding_constraint(%g, placements="S(0)S(1)") : f32[8,12,16] {phase=backward}
%ga = sharding_constraint(%gs, placements="S(0)R") : f32[8,12,16] {phase=backward}
%dh = einsum(%ga, %v, equation="abn,kn->abk") : f32[8,12,24] {phase=backward}
%dv = einsum(%h, %ga, equation="abk,abn->kn") : f32[24,16] {phase=backward}
%dw = einsum(%all, %dh, equation="abk,abn->kn") : f32[16,24] {phase=backward}
return output.0 = %n, grad.up = %dw, grad.down = %dv
)swt";

// The same with a single sequence.
inline constexpr const char* kRows = R"swt(
input param.up: %up : f32[16,24]
input param.down: %down : f32[24,16]
input input.0: %x : f32[96,16]
input tangent.0: %g : f32[96,16] {phase=backward}
%xs = sharding_constraint(%x, placements="S(0)") : f32[96,16]
%all = sharding_constraint(%xs, placements="R") : f32[96,16]
%w = sharding_constraint(%up, placements="S(1)") : f32[16,24]
%h = einsum(%all, %w, equation="ak,kn->an") : f32[96,24]
%v = sharding_constraint(%down, placements="S(0)") : f32[24,16]
%y = einsum(%h, %v, equation="ak,kn->an") : f32[96,16]
%ys = sharding_constraint(%y, placements="S(0)") : f32[96,16]
%n = neg(%ys) : f32[96,16]
%gs = sharding_constraint(%g, placements="S(0)") : f32[96,16] {phase=backward}
%ga = sharding_constraint(%gs, placements="R") : f32[96,16] {phase=backward}
%dh = einsum(%ga, %v, equation="an,kn->ak") : f32[96,24] {phase=backward}
%dv = einsum(%h, %ga, equation="ak,an->kn") : f32[24,16] {phase=backward}
%dw = einsum(%all, %dh, equation="ak,an->kn") : f32[16,24] {phase=backward}
return output.0 = %n, grad.up = %dw, grad.down = %dv
)swt";

}  // namespace shw::testing
