// What verification accepts and rejects: correct runs in every dtype, and runs in which one tensor
// or one step of the plan was made wrong on purpose.
#include "verify/verify_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <regex>

#include "graph/text.h"
#include "graph/writer.h"
#include "packed.h"
#include "runtime/host_kernel.h"
#include "runtime/virtual_ranks.h"
#include "small_run.h"
#include "verify/numbers.h"

namespace shw {
namespace {

using testing::SmallRun;

// Two layers, their gradients, and a sum over a softmax's gradient. That sum is zero in exact
// arithmetic, like the gradient of an attention key's bias.
std::string model(const std::string& dtype) {
  const std::string text = R"(
input param.w1: %w1 : T[32,48]
input param.w2: %w2 : T[48,24]
input input.x: %x : T[64,32]
input input.dy: %dy : T[64,24]
%h = mm(%x, %w1) : T[64,48]
%a = sigmoid(%h) : T[64,48]
%y = mm(%a, %w2) : T[64,24]
%p = softmax(%y, dim=-1) : T[64,24]
%g = softmax_backward_data(%dy, %p, dim=-1) : T[64,24]
%zero = sum(%g, dims=[1]) : T[64]
%at = t(%a) : T[48,64]{1,48}
%dw2 = mm(%at, %g) : T[48,24]
%w2t = t(%w2) : T[24,48]{1,24}
%da = mm(%g, %w2t) : T[64,48]
%dh = sigmoid_backward(%da, %a) : T[64,48]
%xt = t(%x) : T[32,64]{1,32}
%dw1 = mm(%xt, %dh) : T[32,48]
%loss = sum(%y) : T[]
return output.y = %y, output.dw1 = %dw1, output.dw2 = %dw2, output.zero = %zero, output.loss = %loss
)";
  return std::regex_replace(text, std::regex("\\bT\\["), dtype + "[");
}

CompileOptions on(const std::string& mesh) {
  CompileOptions options{.mesh = mesh};
  options.pins = {{"y", mesh.find(',') == std::string::npos ? "P" : "PS(0)"}};
  return options;
}

double norm(const std::vector<double>& v) {
  return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

// Adds noise whose norm is `share` of the tensor's norm.
testing::Damage noise(double share) {
  return [share](std::vector<double>& v) {
    const std::vector<double> n = testing::normal_numbers(v.size(), 99);
    const double unit = share * norm(v) / norm(n);
    for (size_t i = 0; i < v.size(); ++i) v[i] += unit * n[i];
  };
}
testing::Damage times(double factor) {
  return [factor](std::vector<double>& v) {
    for (double& x : v) x *= factor;
  };
}
void shuffle(std::vector<double>& v) {
  for (size_t i = v.size(); i > 1; --i) std::swap(v[i - 1], v[(i * 7919) % i]);
  std::rotate(v.begin(), v.begin() + 5, v.end());
}
void double_a_block(std::vector<double>& v) {  // the block of one rank of four
  for (size_t i = 0; i < v.size() / 4; ++i) v[i] *= 2;
}
void stale_block(std::vector<double>& v) {
  std::copy_n(v.begin() + static_cast<long>(v.size() / 2), v.size() / 4, v.begin());
}
void one_nan(std::vector<double>& v) { v[v.size() / 2] = NAN; }

class VerifyRun : public ::testing::TestWithParam<const char*> {};

TEST_P(VerifyRun, LetsRightRunsPass) {
  for (const char* mesh : {"a=4", "a=2,b=2", "a=3", "a=8"}) {
    const SmallRun run(model(GetParam()), on(mesh));
    const VerifyReport report = run.verify();
    EXPECT_EQ(report.tensors.size(), 5u);
    EXPECT_EQ(report.num_wrong, 0u) << mesh << "\n" << to_text(report);
  }
}

TEST_P(VerifyRun, FindsOnePercentOfTheNorm) {
  const struct {
    const char* what;
    testing::Damage damage;
  } damages[] = {{"noise of 1 %", noise(0.01)},
                 {"times 1.01", times(1.01)},
                 {"times 0.99", times(0.99)},
                 {"times 1000", times(1000)},
                 {"another sign", times(-1)},
                 {"zeros", times(0)},
                 {"shuffled", shuffle},
                 {"a rank's block doubled", double_a_block},
                 {"another rank's block", stale_block},
                 {"a NaN", one_nan}};
  for (const char* output : {"output.y", "output.dw1", "output.dw2"})
    for (const auto& [what, damage] : damages) {
      SmallRun run(model(GetParam()), on("a=2,b=2"));
      run.damage(output, damage);
      const VerifyReport report = run.verify();
      ASSERT_EQ(report.num_wrong, 1u) << output << ", " << what << "\n" << to_text(report);
      EXPECT_EQ(report.tensors[static_cast<size_t>(report.worst)].name, output) << what;
    }
}

TEST_P(VerifyRun, FindsAScalarThatIsWrong) {
  for (double factor : {1.05, -1.0, 0.0, 1000.0}) {
    SmallRun run(model(GetParam()), on("a=2,b=2"));
    run.damage("output.loss", times(factor));
    EXPECT_NE(run.verdict("output.loss"), Verdict::kRight) << factor;
  }
}

// The tensor consists only of rounding errors. Any values of that size are accepted; values a
// hundred times as large are not.
TEST_P(VerifyRun, KnowsHowLargeAZeroMayBe) {
  SmallRun run(model(GetParam()), on("a=2,b=2"));
  const VerifiedTensor right = run.verified("output.zero");
  EXPECT_EQ(right.sharded.verdict, Verdict::kRight);
  EXPECT_GT(right.noise, 0.5) << "relative to what is larger, the norm or the noise";
  run.damage("output.zero", [](std::vector<double>& v) { std::reverse(v.begin(), v.end()); });
  EXPECT_EQ(run.verdict("output.zero"), Verdict::kRight) << "other rounding";
  run.damage("output.zero", times(0));
  EXPECT_EQ(run.verdict("output.zero"), Verdict::kRight) << "no rounding";
  run.run();
  run.damage("output.zero", times(100));
  EXPECT_EQ(run.verdict("output.zero"), Verdict::kTooFar);
}

// The expected values come from another program. The check is equally sharp where it matters.
TEST_P(VerifyRun, JudgesExpectedValuesByTheSameNoise) {
  SmallRun run(model(GetParam()), on("a=2,b=2"));
  runtime::HostTensor expected = run.output("output.dw1");
  const std::vector<ExpectedTensor> list = {{"output.dw1", testing::view(expected)}};
  VerifyReport report = run.verify(list);
  EXPECT_EQ(report.num_expected_wrong, 0u) << to_text(report);
  for (const auto& damage : {noise(0.01), times(1.01), testing::Damage(shuffle)}) {
    expected = run.output("output.dw1");
    std::vector<double> numbers = numbers_of(testing::view(expected));
    damage(numbers);
    testing::overwrite(expected, numbers);
    report = run.verify({{"output.dw1", testing::view(expected)}});
    EXPECT_EQ(report.num_wrong, 0u);
    ASSERT_EQ(report.num_expected_wrong, 1u) << to_text(report);
    EXPECT_EQ(report.tensors[static_cast<size_t>(report.worst_expected)].name, "output.dw1");
  }
}

// Our sums over blocks have smaller rounding errors than those of a program that adds term by term.
// PyTorch's gradient of a layer norm's bias differs from f64 by 3e-6, ours by 7e-8.
TEST(VerifyExpected, MayBeSumsOfManyTermsOneByOne) {
  SmallRun run(model("f32"), on("a=2,b=2"));
  const auto judged = [&](double error) {
    runtime::HostTensor expected = run.output("output.y");
    std::vector<double> numbers = numbers_of(testing::view(expected));
    noise(error)(numbers);
    testing::overwrite(expected, numbers);
    return run.verify({{"output.y", testing::view(expected)}}).num_expected_wrong;
  };
  EXPECT_EQ(judged(6e-6), 0u);
  EXPECT_EQ(judged(2e-5), 1u);
}

// A plan that averages instead of adding computes something else in f64 too. Verification tells
// this apart from a run that went wrong.
TEST_P(VerifyRun, TellsAWrongPlan) {
  int changed = 0;
  SmallRun run(model(GetParam()), on("a=2,b=2"), [&](Program& program) {
    for (ProgramStep& s : program.steps)
      if (s.collective.kind != CollectiveKind::kNone &&
          s.collective.kind != CollectiveKind::kAllGather &&
          s.collective.kind != CollectiveKind::kAllToAll && s.collective.op == ReduceOp::kSum)
        s.collective.op = ReduceOp::kAvg, ++changed;
  });
  ASSERT_GT(changed, 0);
  const VerifyReport report = run.verify();
  ASSERT_GT(report.num_wrong, 0u);
  EXPECT_EQ(report.tensors[static_cast<size_t>(report.worst)].sharded.verdict, Verdict::kWrongPlan)
      << to_text(report);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, VerifyRun, ::testing::Values("f32", "bf16", "f16", "f64"),
                         [](const auto& dtype) { return std::string(dtype.param); });

// ---- Integers

constexpr char kChoice[] = R"(
input param.w: %w : f32[16,6]
input input.x: %x : f32[12,16]
%y = mm(%x, %w) : f32[12,6]
%most = argmax(%y, dim=1) : i64[12]
%top = topk(%y, k=2, dim=1) : (f32[12,2], i64[12,2])
%top_0 = get_item(%top, index=0) : f32[12,2]
%top_1 = get_item(%top, index=1) : i64[12,2]
return output.most = %most, output.values = %top_0, output.places = %top_1
)";

// The operands of one result are rounded to 3 and 2 bits, and another result is itself rounded that
// way.
TEST(VerifyFloat8, PassesRightRunsAndFindsWrongBlocks) {
  CompileOptions options{.mesh = "a=4"};
  options.pins = {{"y", "S(1)"}, {"x8", "S(0)"}};
  SmallRun run(R"(
input param.w: %w : f8e4m3fn[48,64]
input input.s: %s : f32[]
input input.x: %x : bf16[32,64]
%x8 = convert_element_type(%x, dtype=f8e5m2) : f8e5m2[32,64]
%wt = t(%w) : f8e4m3fn[64,48]{1,64}
%y = scaled_mm(%x8, %wt, %s, %s, none, dtype=bf16) : bf16[32,48]
return output.y = %y, output.x8 = %x8
)",
               options);
  for (const char* name : {"output.y", "output.x8"}) {
    EXPECT_EQ(run.verdict(name), Verdict::kRight) << name;
    run.damage(name, [](std::vector<double>& v) {
      std::rotate(v.begin(), v.begin() + static_cast<ptrdiff_t>(v.size() / 4), v.end());
    });
    EXPECT_EQ(run.verdict(name), Verdict::kTooFar) << name;
  }
}

TEST(VerifyIntegers, AreEqualToTheUnshardedRuns) {
  SmallRun run(kChoice, {.mesh = "a=2"});
  EXPECT_EQ(run.verify().num_wrong, 0u);
  run.damage("output.most", [](std::vector<double>& v) { v[3] = v[3] == 0 ? 1 : 0; });
  const VerifiedTensor t = run.verified("output.most");
  EXPECT_EQ(t.sharded.verdict, Verdict::kDifferent);
  EXPECT_EQ(t.sharded.different, 1u);
  EXPECT_EQ(t.undecided, 0u);
}

// Two columns that differ only by rounding: rounding decides which of them is larger.
TEST(VerifyIntegers, AreNotComparedWhereRoundingDecides) {
  SmallRun run(kChoice, {.mesh = "a=2"});
  std::vector<double> w = numbers_of(testing::view(run.input("param.w")));
  for (size_t row = 0; row < 16; ++row) {
    w[row * 6] = 10 * std::abs(w[row * 6]);
    w[row * 6 + 1] = w[row * 6];
  }
  testing::overwrite(run.input("param.w"), w);
  run.run();
  const VerifiedTensor right = run.verified("output.most");
  EXPECT_EQ(right.sharded.verdict, Verdict::kRight);
  ASSERT_GT(right.undecided, 0u);
  // Swaps the indices of the two equal columns: rounding may have chosen either of them.
  const std::vector<double> most = numbers_of(testing::view(run.output("output.most")));
  run.damage("output.most", [](std::vector<double>& v) {
    for (double& x : v) x = x == 0 ? 1 : x == 1 ? 0 : x;
  });
  EXPECT_EQ(run.verdict("output.most"), Verdict::kRight) << "the other of the two equal columns";
}

// ---- What may be asked

TEST(VerifyAsked, RefusesWhatItCannotJudge) {
  SmallRun run(kChoice, {.mesh = "a=2"});
  std::vector<runtime::HostTensorView> in = {testing::view(run.input("param.w")),
                                             testing::view(run.input("input.x"))},
                                       out;
  for (PortId id : run.entry().outputs)
    out.push_back(testing::view(run.output(run.program().ports[id].name)));
  Monitor monitor;
  const auto code = [&](const Plan& plan, const auto& i, const auto& o,
                        const VerifyOptions& options,
                        const std::vector<ExpectedTensor>& expected = {}) {
    return verify_run(plan, i, o, expected, options, monitor).status().code();
  };
  EXPECT_EQ(code(run.plan(), in, out, {}), Code::kOk);
  EXPECT_EQ(code(run.plan(), in, out, {.entry = "infer"}), Code::kNotFound);
  auto fewer = in;
  fewer.pop_back();
  EXPECT_EQ(code(run.plan(), fewer, out, {}), Code::kInvalidArgument);
  auto swapped = in;
  std::swap(swapped[0], swapped[1]);
  EXPECT_EQ(code(run.plan(), swapped, out, {}), Code::kInvalidArgument);
  EXPECT_EQ(code(run.plan(), in, out, {}, {{"output.most", out[1]}}), Code::kInvalidArgument);
  Plan stripped = run.plan();
  stripped.source_graph.clear();
  EXPECT_EQ(code(stripped, in, out, {}), Code::kFailedPrecondition);
}

TEST(VerifyAsked, StopsWhenItIsCancelled) {
  SmallRun run(kChoice, {.mesh = "a=2"});
  std::vector<runtime::HostTensorView> in = {testing::view(run.input("param.w")),
                                             testing::view(run.input("input.x"))},
                                       out;
  for (PortId id : run.entry().outputs)
    out.push_back(testing::view(run.output(run.program().ports[id].name)));
  std::atomic<bool> cancel{true};
  Monitor monitor;
  monitor.cancel = &cancel;
  EXPECT_EQ(verify_run(run.plan(), in, out, {}, {}, monitor).status().code(), Code::kCancelled);
}

// A body that adds the sum of all elements, which a rank gets through its group.
class PlusSum final : public runtime::HostKernel {
 public:
  explicit PlusSum(const runtime::RegionArgs& args)
      : group_(*args.groups[0]), type_(*args.outputs[0]) {}
  Status compute(void* const* buffers) override {
    return type_.dtype == Dtype::kF64 ? add<double>(buffers) : add<float>(buffers);
  }

 private:
  template <class T>
  Status add(void* const* buffers) {
    const std::span<const T> in(static_cast<const T*>(buffers[0]),
                                static_cast<size_t>(type_.numel()));
    T sum = std::accumulate(in.begin(), in.end(), T(0));
    SHW_RETURN_IF_ERROR(group_.all_reduce(&sum, &sum, 1, type_.dtype, ReduceOp::kSum));
    for (size_t i = 0; i < in.size(); ++i) static_cast<T*>(buffers[1])[i] = in[i] + sum;
    return {};
  }

  runtime::RegionGroup& group_;
  const TensorType type_;
};

TEST(VerifyAsked, RunsBodiesThatExchangeDataOnOneRankToo) {
  const auto graph = parse_graph(R"(
input input.x: %x : f32[8,4]
%m = local_map(%x, region="plus", in_placements="S(0)R", out_placements="S(0)R", result_types="f32[8,4]", groups="a") : f32[8,4]
return output.y = %m
)");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  Monitor monitor;
  const auto compiled = testing::compile_packed(write_graph(*graph), {.mesh = "a=2,b=2"}, monitor);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  const auto plan = std::make_shared<const Plan>(*read_plan(compiled->bytes));
  VerifyOptions options;
  options.executor.regions = {
      {"plus",
       [](runtime::Device&,
          const runtime::RegionArgs& args) -> Result<std::unique_ptr<runtime::PreparedKernel>> {
         return std::unique_ptr<runtime::PreparedKernel>(std::make_unique<PlusSum>(args));
       }}};
  std::vector<float> x(32);
  std::iota(x.begin(), x.end(), 0.1f);
  const runtime::HostTensorView in[] = {{row_major(Dtype::kF32, {8, 4}), x.data()}};
  const auto ranks = runtime::VirtualRanks::create(plan, options.executor);
  ASSERT_TRUE(ranks.ok()) << ranks.status().message();
  const auto out = (*ranks)->run("step", in);
  ASSERT_TRUE(out.ok()) << out.status().message();
  const runtime::HostTensorView given[] = {testing::view((*out)[0])};
  const auto report = verify_run(*plan, in, given, {}, options, monitor);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->num_wrong, 0u) << to_text(*report);
}

}  // namespace
}  // namespace shw
