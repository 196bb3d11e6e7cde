// Groups of steps as generated kernels. They must give the same bits as the steps one by one, in
// fewer launches.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/pipeline.h"
#include "cuda/group_runs.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "runtime/collective/local.h"
#include "runtime/cuda/plugin/device.h"
#include "runtime/cuda/plugin/fused_source.h"
#include "runtime/step_kernels.h"
#include "runtime/virtual_ranks.h"
#include "unit/runtime/group_plans.h"
#include "unit/runtime/program_builder.h"
#include "unit/runtime/tensors.h"

namespace shw::runtime::cuda::group_runs {
namespace {

using testing::fake_calls;
using testing::make_tensor;
using testing::ProgramBuilder;
using testing::view_of;

// A residual addition and its norm, in bf16 with sums in f32.
std::shared_ptr<const Plan> norm_plan(int64_t columns) {
  ProgramBuilder b({{"a", 1}});
  const Dims whole{4, 32, columns}, row{4, 32, 1};
  const auto f32 = [](const Dims& shape) { return row_major(Dtype::kF32, shape); };
  const ValueId x = b.input("x", Dtype::kBF16, whole, Layout{}),
                y = b.input("y", Dtype::kBF16, whole, Layout{}),
                w = b.input("w", Dtype::kBF16, {columns}, Layout{});
  const ValueId sum = b.compute("add", {x, y}, row_major(Dtype::kBF16, whole));
  const ValueId wide = b.compute("convert_element_type", {sum}, f32(whole));
  const ValueId square = b.compute("pow", {wide}, f32(whole), with(AttrKey::kExponent, int64_t{2}));
  const ValueId mean = b.compute("mean", {square}, f32(row), along({2}));
  const ValueId shifted = b.compute("add", {mean, {}}, f32(row), with(AttrKey::kOther, 1e-5));
  const ValueId scale = b.compute("rsqrt", {shifted}, f32(row));
  const ValueId scaled = b.compute("mul", {wide, scale}, f32(whole));
  const ValueId weighted = b.compute("mul", {scaled, w}, f32(whole));
  const ValueId out = b.compute("convert_element_type", {weighted}, row_major(Dtype::kBF16, whole));
  b.output("sum", sum, whole, Layout{});
  b.output("scale", scale, row, Layout{});
  b.output("out", out, whole, Layout{});
  return b.finish();
}

TEST(CudaFused, ANormWithItsResidualIsOneLaunch) {
  expect_launches(expect_same_bits(norm_plan(256)), 1);
}
// In the last turn of a row, some threads have no element.
TEST(CudaFused, RowsNeedNotFillTheirBlocks) {
  expect_launches(expect_same_bits(norm_plan(251)), 1);
}

// Scales activations and casts them to 8-bit floats, and reads such floats again.
TEST(CudaFused, CastsToAndFromFloat8AreOneLaunch) {
  for (Dtype dtype : {Dtype::kF8E4M3, Dtype::kF8E5M2}) {
    ProgramBuilder b({{"a", 1}});
    const Dims whole{64, 256};
    const ValueId x = b.input("x", Dtype::kBF16, whole, Layout{}),
                  w = b.input("w", dtype, whole, Layout{});
    const ValueId scaled =
        b.compute("mul", {x, {}}, row_major(Dtype::kF32, whole), with(AttrKey::kOther, 300.0));
    const ValueId narrow = b.compute("convert_element_type", {scaled}, row_major(dtype, whole));
    const ValueId back = b.compute("convert_element_type", {narrow}, row_major(Dtype::kF32, whole));
    const ValueId other = b.compute("convert_element_type", {w}, row_major(Dtype::kF32, whole));
    const ValueId sum = b.compute("add", {back, other}, row_major(Dtype::kF32, whole));
    b.output("narrow", narrow, whole, Layout{});
    b.output("sum", sum, whole, Layout{});
    expect_launches(expect_same_bits(b.finish()), 1);
  }
}

// Rotary embedding with grouped queries: pairs of f32 are viewed as complex numbers, and keys are
// repeated.
TEST(CudaFused, PairsAndRepeatedHeadsAreOneLaunch) {
  ProgramBuilder b({{"a", 1}});
  const auto f32 = [](const Dims& shape) { return row_major(Dtype::kF32, shape); };
  const auto c64 = [](const Dims& shape) { return row_major(Dtype::kC64, shape); };
  const ValueId q = b.input("q", Dtype::kBF16, {2, 128, 8, 16}, Layout{}),
                k = b.input("k", Dtype::kBF16, {2, 128, 4, 16}, Layout{}),
                turn = b.input("turn", Dtype::kC64, {1, 128, 1, 8}, Layout{});
  const ValueId wide_q = b.compute("convert_element_type", {q}, f32({2, 128, 8, 16}));
  const ValueId wide_k = b.compute("convert_element_type", {k}, f32({2, 128, 4, 16}));
  const ValueId turned_q =
      b.compute("mul", {b.view(wide_q, c64({2, 128, 8, 8})), turn}, c64({2, 128, 8, 8}));
  const ValueId turned_k =
      b.compute("mul", {b.view(wide_k, c64({2, 128, 4, 8})), turn}, c64({2, 128, 4, 8}));
  const ValueId out_q = b.compute("convert_element_type", {b.view(turned_q, f32({2, 128, 8, 16}))},
                                  row_major(Dtype::kBF16, {2, 128, 8, 16}));
  const TensorType repeated{{2, 128, 4, 2, 16}, {8192, 64, 16, 0, 1}, Dtype::kF32};
  const ValueId out_k = b.compute("clone", {b.view(turned_k, repeated)}, f32({2, 128, 4, 2, 16}));
  b.output("q", out_q, {2, 128, 8, 16}, Layout{});
  b.output("k", out_k, {2, 128, 4, 2, 16}, Layout{});
  expect_launches(expect_same_bits(b.finish()), 1);
}

// Half of each row is negated and swapped with the other half. The input is a transposed window.
TEST(CudaFused, WindowsWithGapsAndPartsOfRowsAreOneLaunch) {
  ProgramBuilder b({{"a", 1}});
  const auto f32 = [](const Dims& shape) { return row_major(Dtype::kF32, shape); };
  const ValueId x = b.input("x", Dtype::kF32, {2, 64, 8, 32}, Layout{}),
                c = b.input("cos", Dtype::kF32, {64, 32}, Layout{});
  const Dims heads{2, 8, 64, 32}, half{2, 8, 64, 16};
  const Dims strides{64 * 8 * 32, 32, 8 * 32, 1};
  const ValueId q = b.view(x, {heads, strides, Dtype::kF32});
  const ValueId turned = b.compute("mul", {q, c}, f32(heads));
  const ValueId last = b.compute("neg", {b.view(x, {half, strides, Dtype::kF32}, 64)}, f32(half));
  const ValueId swapped = b.compute("cat", {last, b.view(x, {half, strides, Dtype::kF32})},
                                    f32(heads), with(AttrKey::kDim, int64_t{-1}));
  const ValueId sum = b.compute("add", {turned, swapped}, f32(heads));
  // Puts the second half of a result of the group in place of the first half.
  Attrs scatter = with(AttrKey::kDim, int64_t{3});
  scatter.set(AttrKey::kStart, int64_t{8});
  scatter.set(AttrKey::kEnd, int64_t{24});
  const ValueId part = b.view(sum, {half, {64 * 8 * 32, 64 * 32, 32, 1}, Dtype::kF32}, 64);
  const ValueId laid = b.compute("slice_scatter", {turned, part}, f32(heads), scatter);
  b.output("y", laid, heads, Layout{});
  expect_launches(expect_same_bits(b.finish()), 1);
}

// One thread computes each sum over few elements, or over a dim before others. Integers wrap.
// Complex values, truth values and NaN are treated as in the single kernels.
TEST(CudaFused, SmallSumsTruthAndWholeNumbersAreOneLaunch) {
  ProgramBuilder b({{"a", 1}});
  const Dims whole{64, 16, 4, 8}, kept{64, 16, 1, 8};
  const ValueId x = b.input("x", Dtype::kF32, whole, Layout{}),
                n = b.input("n", Dtype::kI32, whole, Layout{});
  const ValueId square = b.compute("mul", {x, x}, row_major(Dtype::kF32, whole));
  const ValueId sum = b.compute("sum", {square}, row_major(Dtype::kF32, kept), along({2}));
  const ValueId most = b.compute("amax", {x}, row_major(Dtype::kF32, kept), along({2}));
  const ValueId over = b.compute("gt", {square, sum}, row_major(Dtype::kBool, whole));
  const ValueId chosen = b.compute("where", {over, x, most}, row_major(Dtype::kF32, whole));
  const ValueId larger = b.compute("mul", {n, n}, row_major(Dtype::kI32, whole));
  const ValueId total = b.compute("sum", {larger}, row_major(Dtype::kI32, kept), along({2}));
  const ValueId log = b.compute("log", {chosen}, row_major(Dtype::kF32, whole));
  const ValueId clamped =
      b.compute("clamp", {log}, row_major(Dtype::kF32, whole), with(AttrKey::kMin, -2.0));
  const ValueId mixed =
      b.compute("add", {clamped, total}, row_major(Dtype::kF64, whole), with(AttrKey::kAlpha, 0.5));
  b.output("chosen", mixed, whole, Layout{});
  b.output("sum", sum, kept, Layout{});
  expect_launches(expect_same_bits(b.finish()), 1);
}

// Whether values that only the group's steps use have memory.
bool has_memory(const Plan& plan, bool fuse) {
  auto device = CudaDevice::open(testing::cuda_options());
  EXPECT_TRUE(device.ok()) << device.status().message();
  const auto provider = LocalHub::create(*Mesh::create(plan.program.mesh))->provider(0);
  const auto kernels = StepKernels::create(plan.program, **device, *provider, {}, fuse);
  EXPECT_TRUE(kernels.ok()) << kernels.status().message();
  return kernels->group_bytes(plan.program) > 0;
}

// There is no generated kernel for a variance. So the steps before it and after it are separate
// launches and pass their values through memory.
TEST(CudaFused, AStepWithoutAFormulaRunsByItself) {
  ProgramBuilder b({{"a", 1}});
  const Dims whole{64, 256}, row{64, 1};
  const auto f32 = [](const Dims& shape) { return row_major(Dtype::kF32, shape); };
  const ValueId x = b.input("x", Dtype::kF32, whole, Layout{});
  const ValueId e = b.compute("exp", {x}, f32(whole));
  const ValueId y = b.compute("neg", {e}, f32(whole));
  const ValueId v = b.compute("var", {y}, f32(row), along({1}));
  const ValueId scale = b.compute("rsqrt", {v}, f32(row));
  const ValueId out = b.compute("mul", {y, scale}, f32(whole));
  b.output("out", out, whole, Layout{});
  const auto plan = b.finish();
  expect_launches(expect_same_bits(plan), 3);
  EXPECT_TRUE(has_memory(*testing::in_groups(*plan), true));
}

// Rows of two lengths need two kernels. Neither passes a value to the other.
TEST(CudaFused, WhatOneLaunchHasToItselfHasNoMemory) {
  ProgramBuilder b({{"a", 1}});
  const Dims rows{64, 256}, row{64, 1}, longer{64, 1024};
  const auto f32 = [](const Dims& shape) { return row_major(Dtype::kF32, shape); };
  const ValueId x = b.input("x", Dtype::kF32, rows, Layout{}),
                y = b.input("y", Dtype::kF32, longer, Layout{});
  const ValueId square = b.compute("mul", {x, x}, f32(rows));
  const ValueId mean = b.compute("mean", {square}, f32(row), along({1}));
  b.output("scaled", b.compute("mul", {x, mean}, f32(rows)), rows, Layout{});
  const ValueId power = b.compute("exp", {y}, f32(longer));
  b.output("less", b.compute("neg", {power}, f32(longer)), longer, Layout{});
  const auto plan = b.finish();
  const auto together = testing::in_groups(*plan);
  ASSERT_EQ(together->program.fused_groups.size(), 1u);
  expect_launches(expect_same_bits(plan), 2);
  EXPECT_FALSE(has_memory(*together, true));
  EXPECT_TRUE(has_memory(*together, false));
}

// The output of one kernel may share memory with an output of another kernel that reads it. Here
// that must not happen, since a thread would overwrite elements that another thread has yet to
// read.
TEST(CudaFused, WhatIsReadIsNotOverwritten) {
  ProgramBuilder b({{"a", 1}});
  const Dims whole{64, 256}, row{64, 1}, half{64, 128};
  const auto f32 = [](const Dims& shape) { return row_major(Dtype::kF32, shape); };
  const ValueId x = b.input("x", Dtype::kF32, whole, Layout{});
  const ValueId e = b.compute("exp", {x}, f32(whole));
  const ValueId v = b.compute("var", {e}, f32(row), along({1}));
  const TensorType window{half, {256, 1}, Dtype::kF32};
  const ValueId left = b.compute("mul", {b.view(e, window), v}, f32(half));
  const ValueId right = b.compute("mul", {b.view(e, window, 512), v}, f32(half));
  const ValueId swapped =
      b.compute("cat", {right, left}, f32(whole), with(AttrKey::kDim, int64_t{1}));
  const ValueId w = b.compute("var", {swapped}, f32(row), along({1}));
  const ValueId out = b.compute("mul", {swapped, w}, f32(whole));
  b.output("out", out, whole, Layout{});
  expect_same_bits(b.finish());
}

// An in-place update reads each element before it writes it.
TEST(CudaFused, UpdatesInPlaceReadBeforeTheyWrite) {
  ProgramBuilder b({{"a", 1}});
  const Dims whole{128, 256};
  const auto f32 = [](const Dims& shape) { return row_major(Dtype::kF32, shape); };
  const ValueId w = b.input("w", Dtype::kF32, whole, Layout{}),
                g = b.input("g", Dtype::kF32, whole, Layout{});
  const ValueId step = b.compute("mul", {g, {}}, f32(whole), with(AttrKey::kOther, 0.125));
  const ValueId moved = b.compute("sub", {w, step}, f32(whole));
  Program& p = b.program();
  p.steps.back().in_place = 0;
  IndexVec<StorageId, ProgramStorage> others;  // the update's own storage is the last one
  for (uint32_t s = 0; s + 1 < p.storages.size(); ++s) others.push_back(p.storages[StorageId{s}]);
  p.storages = others;
  p.values[moved] = p.values[w];
  const ValueId norm = b.compute("abs", {moved}, f32(whole));
  b.output("norm", norm, whole, Layout{});
  b.entry().outputs.push_back(
      p.ports.push_back({"moved", PortRole::kUpdate, f32(whole), Layout{}, moved}));
  expect_launches(expect_same_bits(b.finish()), 1);
}

// Whichever call fails while a kernel is generated or launched, the message names the group's first
// step.
TEST(CudaFused, AFailureOfAnyCallNamesTheStep) {
  SHW_ON_FAKES_ONLY();
  const auto plan = testing::in_groups(*norm_plan(256));
  const auto error = [&]() -> Status {
    SHW_ASSIGN_OR_RETURN(const auto device, CudaDevice::open(testing::cuda_options()));
    const RankBackend backend{[&](int64_t) { return device; }, {}};
    SHW_ASSIGN_OR_RETURN(const auto ranks, VirtualRanks::create(plan, {}, backend));
    std::vector<HostTensor> inputs;
    for (const PortId id : plan->program.entries[0].inputs)
      inputs.push_back(make_tensor(Dtype::kBF16, plan->program.ports[id].global.shape,
                                   [](int64_t i) { return static_cast<double>(i % 3); }));
    std::vector<HostTensorView> views;
    for (const HostTensor& t : inputs) views.push_back(view_of(t));
    return ranks->run("step", views).status();
  };
  ASSERT_TRUE(error().ok());
  for (const char* call :
       {"nvrtcCompileProgram", "cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel"}) {
    const testing::Injected fault(call, 999);
    const Status status = error();
    EXPECT_FALSE(status.ok()) << call;
    EXPECT_EQ(status.node_name(), "add") << call << ": " << status.message();
  }
}

// ---- LLaMA ----

std::shared_ptr<const Plan> planned(const std::string& graph_file, const CompileOptions& options) {
  const auto json = import::read_json_file(SHW_TEST_DATA "/../../examples/data/" + graph_file);
  EXPECT_TRUE(json.ok()) << json.status().message();
  const auto graph = import::import_fx_json(*json);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  Monitor monitor;
  const auto compiled = compile(write_graph(*graph), options, monitor);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  return std::make_shared<const Plan>(compiled->plan);
}
std::shared_ptr<const Plan> llama_plan() {
  CompileOptions options;
  options.mesh = "one=1";
  return planned("llama_tiny_2x4.graph.pre.json.gz", options);
}

// The part of the program before its attention number `n`.
std::shared_ptr<const Plan> up_to_attention(const Plan& plan, int n) {
  auto part = std::make_shared<Plan>(plan);
  Program& p = part->program;
  uint32_t end = 0;
  while (p.steps[end].kernel != "sdpa" || n-- > 0) ++end;
  p.entries[0].num_steps = end;
  std::erase_if(p.fused_groups, [&](const FusedGroup& g) { return g.first_step >= end; });
  return part;
}

// Counts the forward launches between two attentions, which is one layer.
TEST(CudaFused, ALayerOfLlamaIsAtMostFourteenLaunches) {
  SHW_ON_FAKES_ONLY();
  const auto plan = llama_plan();
  const auto first = up_to_attention(*plan, 0), second = up_to_attention(*plan, 1);
  EXPECT_LE(run(second, true).launches - run(first, true).launches, 14);
  EXPECT_GE(run(second, false).launches - run(first, false).launches, 28);
}

TEST(CudaFused, ATrainingStepOfLlamaHasTheSameBits) {
  const auto plan = llama_plan();
  const Ran together = run(plan, true), alone = run(plan, false);
  ASSERT_EQ(together.results.size(), alone.results.size());
  for (size_t i = 0; i < together.results.size(); ++i)
    EXPECT_EQ(together.results[i].data, alone.results[i].data)
        << plan->program.output(plan->program.entries[0], i).name;
  EXPECT_LE(together.launches, alone.launches / 2);  // 0 on a GPU
  // The whole run as one CUDA graph.
  const int graphs = fake_calls("cuGraphLaunch");
  const Ran captured = run(plan, true, true);
  EXPECT_EQ(fake_calls("cuGraphLaunch") - graphs, testing::is_on_gpu() ? 0 : 1);
  ASSERT_EQ(captured.results.size(), alone.results.size());
  for (size_t i = 0; i < captured.results.size(); ++i)
    EXPECT_EQ(captured.results[i].data, alone.results[i].data) << "output " << i;
}

// Each group of LLaMA-3 8B on 64 GPUs is one kernel, and the real compiler accepts it. The compiler
// needs no GPU; the test is skipped if it is not installed.
TEST(CudaFused, NvrtcCompilesTheKernelsOfLlama) {
  CompileOptions options;
  options.mesh = "dp=8,tp=8";
  options.input_layout = "S(0)R";
  options.output_layout = "S(0)S(2)";
  std::vector<std::string> sources =
      sources_of(planned("llama8b_L2_8x8_einsum.graph.pre.json.gz", options)->program);
  EXPECT_GE(sources.size(), 10u);
  std::ranges::sort(sources);
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  expect_to_compile(sources);
}

}  // namespace
}  // namespace shw::runtime::cuda::group_runs
