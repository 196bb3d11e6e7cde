// The small GPT-2, forward and backward, under all common shardings. The results are compared with
// PyTorch's own logits and gradients (examples/data/gpt2_tiny_f32.safetensors) and with the
// unsharded run.
#include <gtest/gtest.h>

#include "plan/report.h"
#include "tiny_model.h"

namespace shw {
namespace {

using testing::gpt2_tiny;

using Case = testing::TinyCase;

// The weights of Conv1D are [in, out]: columns are dim 1.
Case gpt2_megatron() {
  Case c{"Megatron", "dp=2,tp=4", "S(0)R", "", ParameterBudget::Kind::kNone};
  for (const char* column : {"attn.c_attn", "mlp.c_fc"}) {
    c.pins.emplace_back(std::string("param.*.") + column + ".weight", "RS(1)");
    c.pins.emplace_back(std::string("param.*.") + column + ".bias", "RS(0)");
  }
  for (const char* row : {"attn.c_proj", "mlp.c_proj"})
    c.pins.emplace_back(std::string("param.*.") + row + ".weight", "RS(0)");
  return c;
}

Case gpt2_fsdp() {
  Case c{"FSDP", "dp=2,tp=4", "S(0)S(0)", "S(0)S(0)"};
  c.pins = {{"param.*.weight", "S(0)S(0)"}};
  return c;
}

// The residual stream is sharded along the sequence.
Case gpt2_sequence_parallel() {
  Case c{"sequence parallel", "dp=2,tp=4", "S(0)R", "S(0)S(1)"};
  for (const char* block : {"h.0", "h.1"})
    for (const std::string& n : gpt2_tiny().nodes(OpKind::kAdd, Phase::kForward, block))
      c.pins.emplace_back(n, "S(0)S(1)");
  return c;
}

std::vector<Case> gpt2_cases() {
  std::vector<Case> list;
  for (const char* mesh :
       {"dp=8", "dp=2,tp=4", "dp=4,tp=2", "dp=2,tp=2,cp=2", "tp=4", "dp=1,tp=2", "dp=16",
        "dp=2,tp=2,cp=2,pp=2", "dp=3", "dp=5", "dp=6", "dp=3,tp=2", "dp=2,tp=3"})
    list.push_back({std::string("free on ") + mesh, mesh, "", ""});
  list.push_back({"replicated parameters", "dp=2,tp=4", "S(0)R", "", ParameterBudget::Kind::kNone});
  list.push_back({"cut vocabulary", "dp=2,tp=4", "S(0)R", "S(0)S(2)"});
  list.push_back({"uneven batch", "dp=3,tp=2", "S(0)R", "S(0)R"});
  list.push_back({"uneven sequence and vocabulary", "dp=3,tp=5", "S(1)R", "S(1)S(2)"});
  list.push_back(gpt2_megatron());
  list.push_back(gpt2_fsdp());
  list.push_back(gpt2_sequence_parallel());
  return list;
}

class Gpt2Tiny : public ::testing::TestWithParam<Case> {};

TEST_P(Gpt2Tiny, IsPyTorchsAndTheUnshardedRun) {
  gpt2_tiny().expect_pytorchs(GetParam().options(), 29);  // logits and 28 gradients
}

INSTANTIATE_TEST_SUITE_P(Layouts, Gpt2Tiny, ::testing::ValuesIn(gpt2_cases()),
                         [](const auto& test) { return testing::test_name(test.param.name); });

TEST(Gpt2TinyPlan, HasTheReferencesCost) {
  CompileOptions o;
  o.mesh = "dp=2,tp=4";
  o.rules = Rules::kCompat;
  o.input_layout = "S(0)R";
  const auto plan = gpt2_tiny().plan_of(o);
  ASSERT_TRUE(plan);
  EXPECT_NEAR(plan->summary.objective_us, 1710.5050946161566, 1e-9 * 1710.5);
}

}  // namespace
}  // namespace shw
