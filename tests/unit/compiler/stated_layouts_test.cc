// A change of layout whose two ends are both stated. The plan keeps what was stated, whatever the
// rules and the number of mesh dims. If it cannot, the error names the cause.
#include <gtest/gtest.h>

#include "compiler/pipeline.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "packed.h"

namespace shw {
namespace {

constexpr char kNeg[] = R"(input input.0: %x : f32[64,64]
%a = neg(%x) : f32[64,64]
return output.0 = %a
)";

std::vector<uint8_t> bytes_of(const char* text) {
  const auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return write_graph(*graph);
}

CompileOptions options_of(const char* mesh, Rules rules = Rules::kFull) {
  CompileOptions options;
  options.mesh = mesh;
  options.rules = rules;
  return options;
}

Result<Compiled> planned(const CompileOptions& options, const char* graph = kNeg) {
  Monitor monitor;
  return testing::compile_packed(bytes_of(graph), options, monitor);
}

struct StatedCase {
  const char *mesh, *layout;
  Rules rules;
};
constexpr StatedCase kCases[] = {
    {"a=2,b=4", "S(0)S(0)|1,0", Rules::kFull},
    {"a=2,b=4", "S(0)S(0)|1,0", Rules::kCompat},
    {"a=2,b=2,c=2,d=2", "S(0)S(1)S(0)R|2,0,1,3", Rules::kFull},
    {"a=2,b=2,c=2,d=2,e=2", "S(0)S(0)S(1)RR|1,0,2,3,4", Rules::kFull},
};

std::string layout_of(const Program& program, const char* name) {
  for (const Port& port : program.ports)
    if (port.name == name) return to_string(port.layout, static_cast<int>(program.mesh.size()));
  return "no such port";
}
// The layout in its canonical text, without redundant shard orders.
std::string canonical(const StatedCase& c) {
  const int rank =
      1 + static_cast<int>(std::count(c.mesh, c.mesh + std::string(c.mesh).size(), ','));
  return to_string(*parse_layout(c.layout, rank), rank);
}

TEST(StatedShardOrder, IsKeptAtPorts) {
  for (const StatedCase& c : kCases)
    for (const bool of_all : {true, false}) {
      CompileOptions options = options_of(c.mesh, c.rules);
      if (of_all)
        options.input_layout = options.output_layout = c.layout;
      else
        options.inputs = {{"input.0", c.layout}}, options.outputs = {{"output", c.layout}};
      const auto plan = planned(options);
      ASSERT_TRUE(plan.ok()) << c.mesh << ": " << plan.status().message();
      EXPECT_EQ(layout_of(plan->plan.program, "input.0"), canonical(c)) << c.mesh;
      EXPECT_EQ(layout_of(plan->plan.program, "output"), canonical(c)) << c.mesh;
      // On four mesh dims, ops beside parameters only have strategies in the default order.
      if (plan->plan.program.mesh.size() != 4) {
        EXPECT_EQ(plan->plan.program.steps.size(), 1u) << c.mesh << ": nothing has to move";
      }
    }
}

TEST(StatedShardOrder, DiffersFromTheDefault) {
  for (const StatedCase& c : kCases) {
    CompileOptions options = options_of(c.mesh, c.rules);
    options.input_layout = c.layout;
    options.output_layout = std::string(c.layout).substr(0, std::string(c.layout).find('|'));
    const auto plan = planned(options);
    ASSERT_TRUE(plan.ok()) << c.mesh << ": " << plan.status().message();
    EXPECT_EQ(layout_of(plan->plan.program, "input.0"), canonical(c));
    EXPECT_EQ(layout_of(plan->plan.program, "output"), options.output_layout);
    EXPECT_GT(plan->plan.program.steps.size(), 1u) << c.mesh << ": the blocks lie elsewhere";
  }
}

TEST(StatedShardOrder, OfAPinIsLowered) {
  for (const StatedCase& c : kCases) {
    CompileOptions options = options_of(c.mesh, c.rules);
    options.pins = {{"output", std::string(c.layout)}};
    const auto plan = planned(options);
    ASSERT_TRUE(plan.ok()) << c.mesh << ": " << plan.status().message();
    EXPECT_EQ(layout_of(plan->plan.program, "output"), canonical(c));
  }
}

// A file of placements states shard orders too. The first file is kept. The second one is refused,
// because its output has another shard order than its input.
TEST(StatedShardOrder, OfSavedPlacementsIsKeptOrRefused) {
  CompileOptions options = options_of("a=2,b=4", Rules::kCompat);
  const std::string head =
      R"({"version": 1, "mesh": {"shape": [2, 4], "dim_names": ["a", "b"]}, "nodes": [)";
  const auto with = [&](const std::string& input, const std::string& output) {
    options.placements =
        head + R"({"name": "a", "output": ")" + output + R"(", "inputs": [")" + input + R"("]}]})";
    return planned(options);
  };
  const auto kept = with("S(0)S(0)|1,0", "S(0)S(0)|1,0");
  ASSERT_TRUE(kept.ok()) << kept.status().message();
  EXPECT_EQ(kept->plan.summary.decisions[1].result_layout, "S(0)S(0)|1,0");
  const auto refused = with("S(0)S(0)|1,0", "S(0)S(0)");
  EXPECT_EQ(refused.status().code(), Code::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("shard order"), std::string::npos)
      << refused.status().message();
}

TEST(StatedLayout, IsRefusedWithTheCause) {
  const auto message = [](const char* mesh, const char* layout) {
    CompileOptions options = options_of(mesh);
    options.input_layout = layout;
    return planned(options).status().message();
  };
  EXPECT_NE(message("a=128", "S(0)").find("64 elements of dim 0 cannot be cut into 128 blocks"),
            std::string::npos)
      << message("a=128", "S(0)");
  EXPECT_NE(message("a=16,b=8", "S(1)S(1)").find("64 elements of dim 1 cannot be cut into 128"),
            std::string::npos);
  EXPECT_NE(message("a=2", "S(3)").find("there is no dim 3 in a tensor of 2 dims"),
            std::string::npos);
}

// Pricing all pairs of the 4096 layouts on two edges would need 256 MiB.
TEST(StatedLayout, PrunesWhatIsPriced) {
  constexpr char kAlias[] = R"(input input.0: %x : f32[64,64,64]
%a = alias(%x) : f32[64,64,64]
return output.0 = %a
)";
  CompileOptions options = options_of("a=2,b=2,c=2,d=2,e=2,f=2");
  options.input_layout = "S(0)S(1)S(2)S(0)S(1)S(2)";
  options.output_layout = "S(2)S(0)S(1)S(2)S(0)S(1)";
  const auto plan = planned(options, kAlias);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan->plan.summary.num_strategies, 4096u + 2u) << "those in between are free";
  EXPECT_EQ(layout_of(plan->plan.program, "input.0"), options.input_layout);
  EXPECT_EQ(layout_of(plan->plan.program, "output"), options.output_layout);
  EXPECT_TRUE(plan->plan.summary.proven);
  // Contradictory statements are explained as in other cases.
  options.pins = {{"output", "RRRRRR"}};
  const Status refused = planned(options, kAlias).status();
  EXPECT_EQ(refused.code(), Code::kFailedPrecondition);
  EXPECT_NE(refused.message().find("pin 'output=RRRRRR'"), std::string::npos) << refused.message();
}

// Moves 1 GiB from S(0) to S(1). Part of a node is priced by the same model as a whole node.
TEST(Prices, OfAPartOfANodeRestOnTheModelOfTheNode) {
  constexpr char kBig[] = R"(input input.0: %x : f32[16384,16384]
%a = neg(%x) : f32[16384,16384]
return output.0 = %a
)";
  for (const Rules rules : {Rules::kFull, Rules::kCompat}) {
    CompileOptions options = options_of("a=2,b=2", rules);
    options.input_layout = "S(0)R";
    options.output_layout = "S(1)R";
    const auto plan = planned(options, kBig);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    uint32_t collectives = 0;
    for (const ProgramStep& step : plan->plan.program.steps) {
      if (step.collective.kind == CollectiveKind::kNone) continue;
      ++collectives;
      // The reference planner uses its fallback here, and so does `compat`.
      EXPECT_EQ(step.basis == PriceBasis::kFallback, rules == Rules::kCompat) << step.kernel;
    }
    EXPECT_GT(collectives, 0u);
    if (rules == Rules::kFull) {
      EXPECT_LT(plan->plan.summary.objective_us, 3000);
    }
  }
}

// The planner checks its sum of prices against the solver's. Both must use the same prices, however
// small these are.
TEST(Prices, AreTheSameForOnePairAndForAll) {
  for (const char* start_us : {"0", "1e-9", "0.001", "1"}) {
    CompileOptions options = options_of("a=2,b=2,c=2");
    options.hardware = std::string(R"({"name": "free", "base": "h100", "nccl": null,)") +
                       R"("device": {"launch_us": 0, "memory_bytes_per_s": 1e24},)" +
                       R"("ring": {"start_us": )" + start_us +
                       R"(, "intra_hop_us": 0, "inter_hop_us": 0, "intra_gb_per_s": 1e24,)" +
                       R"("inter_gb_per_s": 1e24}})";
    options.input_layout = "S(0)S(1)R";
    options.output_layout = "S(1)S(0)R";
    const auto plan = planned(options);
    EXPECT_TRUE(plan.ok()) << start_us << ": " << plan.status().message();
  }
}

}  // namespace
}  // namespace shw
