// Linear layers with a bias, at the size of a large model. In the einsum form the sequence can stay
// sharded through these layers; in the flattened form it cannot.
#include <gtest/gtest.h>

#include "compiler/pipeline.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "packed.h"

namespace shw {
namespace {

// Two layers and the gradients of their input and weights, as a framework exports them.
constexpr const char* kFeedForward = R"(
input param.w1: %w1 : bf16[4096,14336]
input param.b1: %b1 : bf16[14336]
input param.w2: %w2 : bf16[14336,4096]
input param.b2: %b2 : bf16[4096]
input input.0: %x : bf16[16,8192,4096]
input tangent.0: %g : bf16[16,8192,4096] {phase=backward}
%v1 = view(%x, size=[131072,4096]) : bf16[131072,4096]
%m1 = mm(%v1, %w1) : bf16[131072,14336]
%a1 = add(%b1, %m1) : bf16[131072,14336]
%h = view(%a1, size=[16,8192,14336]) : bf16[16,8192,14336]
%r = relu(%h) : bf16[16,8192,14336]
%v2 = view(%r, size=[131072,14336]) : bf16[131072,14336]
%m2 = mm(%v2, %w2) : bf16[131072,4096]
%a2 = add(%b2, %m2) : bf16[131072,4096]
%y = view(%a2, size=[16,8192,4096]) : bf16[16,8192,4096]
%gv = view(%g, size=[131072,4096]) : bf16[131072,4096] {phase=backward}
%rt = permute(%v2, dims=[1,0]) : bf16[14336,131072]{1,14336} {phase=backward}
%dw2 = mm(%rt, %gv) : bf16[14336,4096] {phase=backward}
%db2 = sum(%gv, dims=[0]) : bf16[4096] {phase=backward}
%w2t = permute(%w2, dims=[1,0]) : bf16[4096,14336]{1,4096} {phase=backward}
%dr2 = mm(%gv, %w2t) : bf16[131072,14336] {phase=backward}
%dr = view(%dr2, size=[16,8192,14336]) : bf16[16,8192,14336] {phase=backward}
%dh = threshold_backward(%dr, %h, threshold=0) : bf16[16,8192,14336] {phase=backward}
%dhv = view(%dh, size=[131072,14336]) : bf16[131072,14336] {phase=backward}
%xt = permute(%v1, dims=[1,0]) : bf16[4096,131072]{1,4096} {phase=backward}
%dw1 = mm(%xt, %dhv) : bf16[4096,14336] {phase=backward}
%db1 = sum(%dhv, dims=[0]) : bf16[14336] {phase=backward}
return output.0 = %y, grad.w1 = %dw1, grad.b1 = %db1, grad.w2 = %dw2, grad.b2 = %db2
)";

PlanSummary planned(const CompileOptions& options) {
  const auto graph = parse_graph(kFeedForward);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  Monitor monitor;
  const auto compiled = testing::compile_packed(write_graph(*graph), options, monitor);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  return compiled.ok() ? compiled->plan.summary : PlanSummary{};
}

TEST(BiasedLinear, KeepsTheSequenceShardedInTheEinsumForm) {
  CompileOptions options{
      .mesh = "dp=8,tp=8", .input_layout = "S(0)S(1)", .output_layout = "S(0)S(1)"};
  const PlanSummary einsum = planned(options);
  options.einsum = false;
  const PlanSummary flat = planned(options);
  EXPECT_TRUE(einsum.proven && flat.proven);
  EXPECT_LT(einsum.objective_us, 0.985 * flat.objective_us)
      << einsum.objective_us << " against " << flat.objective_us;
}

}  // namespace
}  // namespace shw
