// A linear layer in 8-bit floats on the fakes, with weights gathered over NCCL, compared with the
// CPU.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/pipeline.h"
#include "cuda/fake_ranks.h"
#include "cuda/fakes.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "runtime/virtual_ranks.h"
#include "unit/runtime/tensors.h"

namespace shw::runtime::cuda {
namespace {

// The scale of the activations is a constant, so that both backends cast the same numbers. A rank
// has 16 columns or all of them; cuBLASLt can multiply both.
constexpr const char* kLayer = R"(
input param.w: %w : f8e4m3fn[64,64]
input buffer.s: %s : f32[]
input input.0: %x : bf16[32,64]
%xs = mul(%x, none, other=64) : bf16[32,64]
%x8 = convert_element_type(%xs, dtype=f8e5m2) : f8e5m2[32,64]
%wt = permute(%w, dims=[1,0]) : f8e4m3fn[64,64]{1,64}
%y = scaled_mm(%x8, %wt, %s, %s, none, dtype=bf16) : bf16[32,64]
return output.y = %y, output.x8 = %x8
)";

TEST(CudaFloat8, ALayerOnFourRanksAgreesWithTheCpu) {
  const auto graph = parse_graph(kLayer);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  CompileOptions options;
  options.mesh = "a=4";
  options.input_layout = "S(0)";
  options.parameter_budget.kind = ParameterBudget::Kind::kNone;
  options.pins = {{"param.w", "S(0)"}};
  Monitor monitor;
  auto compiled = compile(write_graph(*graph), options, monitor);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  const auto plan = std::make_shared<const Plan>(std::move(compiled->plan));
  const ProgramEntry& entry = plan->program.entries[0];
  std::vector<HostTensor> inputs;
  std::vector<HostTensorView> views;
  for (PortId id : entry.inputs) {
    const TensorType& type = plan->program.ports[id].global;
    inputs.push_back(testing::make_tensor(type.dtype, type.shape, [&](int64_t i) {
      return type.rank() == 0 ? 0.125 : std::sin(static_cast<double>(i)) * 3;
    }));
  }
  for (const HostTensor& input : inputs) views.push_back(testing::view_of(input));
  const auto want = (*VirtualRanks::create(plan))->run(entry.name, views);
  ASSERT_TRUE(want.ok()) << want.status().message();

  const auto fakes = testing::open_fakes(4);
  ASSERT_TRUE(fakes.ok()) << fakes.status().message();
  const int products = testing::fake_calls("cublasLtMatmul");
  auto job = VirtualRanks::create(plan, {}, *fakes);
  ASSERT_TRUE(job.ok()) << job.status().message();
  const auto got = (*job)->run(entry.name, views);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(testing::fake_calls("cublasLtMatmul") - products, 4) << "one on each rank";
  EXPECT_EQ((*got)[1].data, (*want)[1].data) << "casts have the same bits";
  const HostTensor &y = (*want)[0], &z = (*got)[0];
  ASSERT_EQ(y.type, z.type);
  for (int64_t i = 0; i < y.type.numel(); ++i) {
    const double w = testing::get(y.data.data(), y.type.dtype, i);
    EXPECT_NEAR(testing::get(z.data.data(), z.type.dtype, i), w, std::abs(w) * 0x1p-7 + 1e-4) << i;
  }
}

}  // namespace
}  // namespace shw::runtime::cuda
