// Linear layers in 8-bit floats. Activations are scaled by their largest magnitude and cast.
// Weights have one scale, or one for each column. The layers are planned on meshes, run on virtual
// ranks, and compared with a run on one rank.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "float8.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "packed.h"
#include "run_plan.h"
#include "unit/runtime/tensors.h"

namespace shw {
namespace {

using runtime::HostTensor;
using testing::make_tensor;

constexpr const char* kLayer = R"(
input param.w: %w : f8e4m3fn[48,64]
input buffer.scale: %sw : f32[]
input input.0: %x : bf16[32,64]
%xf = convert_element_type(%x, dtype=f32) : f32[32,64]
%xa = abs(%xf) : f32[32,64]
%most = amax(%xa, dims=[0,1]) : f32[]
%sx = div(%most, none, other=448) : f32[]
%xs = div(%xf, %sx) : f32[32,64]
%x8 = convert_element_type(%xs, dtype=f8e4m3fn) : f8e4m3fn[32,64]
%wt = permute(%w, dims=[1,0]) : f8e4m3fn[64,48]{1,64}
%y = scaled_mm(%x8, %wt, %sx, %sw, none, dtype=bf16) : bf16[32,48]
return output.y = %y
)";

// The other scaling of activations: one scale for each row and each column, and a bias.
constexpr const char* kRowWise = R"(
input param.w: %w : f8e4m3fn[48,64]
input buffer.scale: %sw : f32[1,48]
input param.b: %b : f32[48]
input input.0: %x : f32[32,64]
%xa = abs(%x) : f32[32,64]
%most = amax(%xa, dims=[1], keepdim=true) : f32[32,1]
%sx = div(%most, none, other=57344) : f32[32,1]
%xs = div(%x, %sx) : f32[32,64]
%x8 = to_copy(%xs, dtype=f8e5m2) : f8e5m2[32,64]
%wt = permute(%w, dims=[1,0]) : f8e4m3fn[64,48]{1,64}
%y = scaled_mm(%x8, %wt, %sx, %sw, %b, dtype=f32) : f32[32,48]
return output.y = %y
)";

std::vector<HostTensor> inputs_of(const Program& program) {
  std::vector<HostTensor> inputs;
  for (PortId id : program.entries[0].inputs) {
    const Port& port = program.ports[id];
    const bool scales = port.name == "buffer.scale";
    inputs.push_back(make_tensor(port.global.dtype, port.global.shape, [&](int64_t i) {
      const double number = std::sin(static_cast<double>(i) * 1.7) * 3;
      return scales ? 0.01 + std::abs(number) / 100 : number;
    }));
  }
  return inputs;
}

HostTensor run(const char* text, const std::string& mesh, const std::string& layout,
               const std::string& weight, std::map<CollectiveKind, int>* collectives = nullptr) {
  const auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  CompileOptions options;
  options.mesh = mesh;
  options.input_layout = layout;
  options.parameter_budget.kind = ParameterBudget::Kind::kNone;
  options.pins = {{"param.w", weight}};
  Monitor monitor;
  auto compiled = testing::compile_packed(write_graph(*graph), options, monitor);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  if (!compiled.ok()) return {};
  if (collectives != nullptr) *collectives = testing::num_collectives(*compiled);
  const auto plan = std::make_shared<const Plan>(std::move(compiled->plan));
  const auto ranks = testing::ranks_of(plan);
  const std::vector<HostTensor> inputs = inputs_of(plan->program);
  std::vector<runtime::HostTensorView> views;
  for (const HostTensor& t : inputs) views.push_back(testing::view_of(t));
  auto out = ranks->run(plan->program.entries[0].name, views);
  EXPECT_TRUE(out.ok()) << out.status().message();
  return out.ok() ? std::move((*out)[0]) : HostTensor{};
}

// Computes the first layer by its definition, from the bits of its operands.
TEST(Float8Linear, ComputesWhatItIsDefinedAs) {
  const HostTensor y = run(kLayer, "a=1", "R", "R");
  ASSERT_EQ(y.type, row_major(Dtype::kBF16, {32, 48}));
  const auto number = [](int64_t i) { return std::sin(static_cast<double>(i) * 1.7) * 3; };
  float most = 0;
  std::vector<float> x;
  for (int64_t i = 0; i < 32 * 64; ++i) {
    x.push_back(runtime::bf16_to_f32(runtime::f32_to_bf16(static_cast<float>(number(i)))));
    most = std::max(most, std::abs(x.back()));
  }
  const float scale = most / 448;
  const auto as_e4m3 = [](double v) {
    return testing::float8_value(Dtype::kF8E4M3, testing::nearest_float8(Dtype::kF8E4M3, v));
  };
  for (int64_t m = 0; m < 32; ++m)
    for (int64_t n = 0; n < 48; ++n) {
      double sum = 0;
      for (int64_t k = 0; k < 64; ++k)
        sum += as_e4m3(x[static_cast<size_t>(m * 64 + k)] / scale) * as_e4m3(number(n * 64 + k));
      const double want = sum * static_cast<double>(scale) * static_cast<double>(0.01f);
      EXPECT_NEAR(testing::get(y.data.data(), Dtype::kBF16, m * 48 + n), want,
                  std::abs(want) * 0x1p-8 + 1e-6)
          << m << ", " << n;
    }
}

TEST(Float8Linear, AgreesWithOneRankHoweverItIsCut) {
  for (const char* layer : {kLayer, kRowWise}) {
    const HostTensor want = run(layer, "a=1", "R", "R");
    for (const auto& [mesh, layout, weight] :
         {std::tuple("a=4", "S(0)", "R"), std::tuple("a=4", "R", "S(0)"),
          std::tuple("a=4", "S(0)", "S(0)"), std::tuple("a=2", "S(1)", "S(1)"),
          std::tuple("a=2,b=2", "S(0)R", "RS(0)"), std::tuple("a=2,b=2", "S(0)S(1)", "S(0)S(1)"),
          std::tuple("a=3", "S(0)", "S(0)")}) {
      SCOPED_TRACE(std::string(mesh) + " " + layout + " " + weight);
      const HostTensor got = run(layer, mesh, layout, weight);
      ASSERT_EQ(got.type, want.type);
      for (int64_t i = 0; i < want.type.numel(); ++i) {
        const double w = testing::get(want.data.data(), want.type.dtype, i);
        // The sums may be added in another order and are rounded once to the result's dtype.
        EXPECT_NEAR(testing::get(got.data.data(), got.type.dtype, i), w,
                    std::abs(w) * (want.type.dtype == Dtype::kBF16 ? 0x1p-7 : 1e-5) + 1e-5);
      }
    }
  }
}

// The gathers move one-byte floats, and no reduction is needed.
TEST(Float8Linear, GathersWeightsOfOneByte) {
  std::map<CollectiveKind, int> collectives;
  run(kLayer, "a=4", "S(0)", "S(0)", &collectives);
  EXPECT_GE(collectives[CollectiveKind::kAllGather], 1);
  EXPECT_EQ(collectives[CollectiveKind::kReduceScatter], 0);
}

}  // namespace
}  // namespace shw
