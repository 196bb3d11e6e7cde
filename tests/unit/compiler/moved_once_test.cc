// LLaMA-3 8B with 32 layers on 16x8. No data is moved away and back, and no parameter is gathered
// in two steps where one is enough. The reference planner's own graph has 32 round trips of
// residual gradients there (its branch bypass_alias removes them). It also has 64 parameters that
// are gathered along one mesh dim and then along the other (its branch double_recomp fuses 32 of
// them).
#include <gtest/gtest.h>

#include <map>

#include "packed.h"
#include "rewrite/verify.h"
#include "unit/compiler/test_graphs.h"

namespace shw {
namespace {

class Moves {
 public:
  explicit Moves(const Program& p) : p_(p) {
    for (const ProgramStep& s : p.steps)
      for (ValueId v : s.outputs)
        if (v.valid()) writer_[p.values[v].storage.v] = &s;
  }

  // The number of round trips: a rank gathers blocks along some mesh dims and then slices the
  // result back into blocks of the same type along the same mesh dims.
  uint32_t round_trips() const {
    uint32_t count = 0;
    for (const ProgramStep& s : p_.steps) {
      if (s.kernel != "local_slice") continue;
      const ProgramStep* from = source(s);
      count += from != nullptr && from->collective.kind == CollectiveKind::kAllGather &&
               p_.values[from->inputs[0]].type.bytes() == p_.values[s.outputs[0]].type.bytes();
    }
    return count;
  }
  // The number of chains: gathers of a result that was itself gathered along other mesh dims.
  uint32_t chains() const {
    uint32_t count = 0;
    for (const ProgramStep& s : p_.steps) {
      if (s.collective.kind != CollectiveKind::kAllGather) continue;
      const ProgramStep* from = source(s);
      count += from != nullptr && from->collective.kind == CollectiveKind::kAllGather;
    }
    return count;
  }
  uint32_t gathers() const {
    return static_cast<uint32_t>(std::ranges::count_if(p_.steps, [](const ProgramStep& s) {
      return s.collective.kind == CollectiveKind::kAllGather;
    }));
  }

 private:
  // The step that made the first operand, with copies skipped. Null: the operand is an input.
  const ProgramStep* source(const ProgramStep& step) const {
    const ProgramStep* from = &step;
    do {
      const auto it = writer_.find(p_.values[from->inputs[0]].storage.v);
      from = it == writer_.end() ? nullptr : it->second;
    } while (from != nullptr && !from->inputs.empty() &&
             (from->kernel == "clone" || from->kernel == "convert_element_type" ||
              from->kernel == "dtype_cast"));
    return from;
  }

  const Program& p_;
  std::map<uint32_t, const ProgramStep*> writer_;  // by storage
};

Program planned_on(const char* mesh, const char* name, const char* policy, int64_t sequences = 16) {
  CompileOptions options{.mesh = mesh,
                         .input_layout = "S(0)R",
                         .output_layout = "S(0)S(2)",
                         .grad_reduce_dtype = Dtype::kF32,
                         .keep_graph = false};
  options.recompute = *recompute_policy(policy);
  Monitor monitor;
  std::vector<uint8_t> graph = testing::test_graph(name);
  if (sequences != 16) graph = write_graph(testing::with_sequences(*load_graph(graph), sequences));
  auto compiled = testing::compile_packed(graph, options, monitor);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  return compiled.ok() ? std::move(compiled->plan.program) : Program();
}

// With two sequences per rank, as in the reference, forward needs three weights of each layer
// gathered along dp alone. Under `none`, backward continues from these.
TEST(MovedOnce, OnThe128RanksOfTheReference) {
  const auto expect_moved_once = [](const char* policy, int64_t sequences) {
    SCOPED_TRACE(policy + (", " + std::to_string(sequences)) + " sequences");
    const Program p =
        planned_on("dp=16,tp=8", "examples/llama8b_L32_8x8_einsum", policy, sequences);
    const Moves moves(p);
    EXPECT_GT(moves.gathers(), 290u);
    EXPECT_EQ(moves.round_trips(), 0u);
    EXPECT_EQ(moves.chains(), policy == std::string("none") && sequences == 32 ? 96u : 0u);
  };
  for (const char* policy : {"none", "selective", "full"})
    for (const int64_t sequences : {16, 32}) expect_moved_once(policy, sequences);
}

// On 8x8, forward needs some parameters gathered along dp alone, and backward needs them whole. If
// backward gathers anew, it gathers them whole in one step. Otherwise it continues from what
// forward has gathered.
TEST(MovedOnce, ChainsAreCounted) {
  const auto chains = [](const char* policy) {
    const Program p = planned_on("dp=8,tp=8", "examples/llama8b_L2_8x8_einsum", policy);
    return Moves(p).chains();
  };
  EXPECT_EQ(chains("full"), 0u);
  EXPECT_EQ(chains("none"), 6u);
}

}  // namespace
}  // namespace shw
