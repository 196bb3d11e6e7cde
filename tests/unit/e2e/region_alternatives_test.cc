// Manual regions with several bodies. The planner picks one of them. Regions that pass each other
// data in a format that only their bodies know must pick the same alternative.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "answers/explain.h"
#include "answers/nodes.h"
#include "compiler/place.h"
#include "decision.h"
#include "packed.h"
#include "region_bodies.h"
#include "solver/floors.h"

namespace shw {
namespace {

using testing::PieceView;

// A region's attributes as texts.
struct RegionTexts {
  std::string region, ins, outs, flops;
  std::string attributes() const {
    return "region=\"" + region + "\", in_placements=\"" + ins + "\", out_placements=\"" + outs +
           "\", flops=\"" + flops + "\"";
  }
};

// x[expert, token, width]: mesh dim 1 shards either the experts or the width of each expert.
RegionTexts forward_texts(const std::string& flops) {
  return {"ep | tp", "S(1)S(0); RS(0) | S(1)R; RS(2)", "S(1)S(0) | S(1)S(2)", flops};
}
RegionTexts backward_texts(const std::string& flops) {
  return {"ep.backward | tp.backward", "S(1)S(0); S(1)S(0) | S(1)R; S(1)S(2)",
          "-; PS(0) | -; PS(2)", flops};
}

// Layers with one forward and one backward region each. `read` is the first operand of a backward
// region: the result that its forward region saved ("saved"), or another value of the same type
// ("input").
std::string layer_text(int layer, const RegionTexts& forward, const RegionTexts& backward,
                       const std::string& read) {
  const std::string n = std::to_string(layer);
  return "%m" + n + " = local_map(%x, %w" + n + ", " + forward.attributes() +
         R"(, result_types="f32[8,6,12]; f32[2]") : (f32[8,6,12], f32[2])
%y)" + n +
         " = get_item(%m" + n + R"(, index=0) : f32[8,6,12]
%saved)" +
         n + " = get_item(%m" + n + R"(, index=1) : f32[2]
%b)" + n +
         " = local_map(%" + (read == "saved" ? read + n : read) + ", %x, %g, " +
         backward.attributes() +
         R"(, result_types="-; f32[8,4,12]") : (none, f32[8,4,12]) {phase=backward}
%dw)" + n +
         " = get_item(%b" + n + R"(, index=1) : f32[8,4,12] {phase=backward}
)";
}
std::string graph_text(const RegionTexts& forward, const RegionTexts& backward,
                       const std::string& read = "saved", int layers = 1) {
  std::string inputs, nodes, outputs;
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    inputs += "input param.w" + n + ": %w" + n + " : f32[8,4,12]\n";
    nodes += layer_text(i, forward, backward, read);
    outputs += ", output." + n + " = %y" + n + ", grad.w" + n + " = %dw" + n;
  }
  return inputs + "input input.0: %x : f32[8,6,4]\ninput input.1: %g : f32[8,6,12]\n" +
         "input input.2: %input : f32[2]\n" + nodes + "return " + outputs.substr(2) + "\n";
}

// Forward alone is cheaper with sharded experts, and backward alone with sharded widths. Of the
// pairs, sharded experts are cheaper.
const std::string kForwardFlops = "1e12 | 4e15", kBackwardFlops = "4e15 | 2e12";

std::string op_of(const Compiled& c, const std::string& node) {
  return testing::decision_on(c.plan, node).op;
}

std::string refusal(const std::string& text, const CompileOptions& options) {
  const auto graph = parse_graph(text);
  if (!graph.ok()) return graph.status().message();
  Monitor monitor;
  const auto c = testing::compile_packed(write_graph(*graph), options, monitor);
  return c.ok() ? "" : c.status().node_name() + ": " + c.status().message();
}

// The saved values encode the number 6. Only the backward body of the same alternative can decode
// it.
void save(const PieceView& saved, float first, float second) {
  static_cast<float*>(saved.data)[0] = first;
  static_cast<float*>(saved.data)[1] = second;
}
void by_experts(std::span<const PieceView> in, std::span<const PieceView> out, int64_t) {
  testing::multiply_experts(in[0], in[1], out[0]);
  save(out[1], 2, 3);
}
void by_widths(std::span<const PieceView> in, std::span<const PieceView> out, int64_t) {
  testing::multiply_experts(in[0], in[1], out[0]);
  save(out[1], 4, 2);
}

void by_experts_backward(std::span<const PieceView> in, std::span<const PieceView> out, int64_t) {
  const auto* saved = static_cast<const float*>(in[0].data);
  testing::expert_gradients(in[1], in[2], out[1], saved[0] * saved[1]);
}
void by_widths_backward(std::span<const PieceView> in, std::span<const PieceView> out, int64_t) {
  const auto* saved = static_cast<const float*>(in[0].data);
  testing::expert_gradients(in[1], in[2], out[1], saved[0] + saved[1]);
}

TEST(RegionAlternatives, TheOnePickedRunsAndNeedsOnlyItsBody) {
  RegionTexts forward = forward_texts("1"), backward = backward_texts("1");
  forward.ins = "R; R", backward.ins = "R; R", forward.outs = "R", backward.outs = "-; R";
  const auto whole = testing::run_on_integers(
      testing::compiled_text(graph_text(forward, backward), {.mesh = "one=1"}),
      {testing::region("ep", by_experts), testing::region("ep.backward", by_experts_backward),
       testing::region("tp", by_widths), testing::region("tp.backward", by_widths_backward)});
  ASSERT_EQ(whole.size(), 2u);

  const auto planned = [](const char* flops) {
    return testing::compiled_text(graph_text(forward_texts(flops), backward_texts(flops)),
                                  {.mesh = "dp=2,ep=4"});
  };
  const Compiled first = planned("1e12 | 4e15"), second = planned("4e15 | 1e12");
  EXPECT_EQ(op_of(first, "m0"), "local_map ep");
  EXPECT_EQ(op_of(second, "b0"), "local_map tp.backward");
  EXPECT_EQ(testing::run_on_integers(first, {testing::region("ep", by_experts),
                                             testing::region("ep.backward", by_experts_backward)}),
            whole);
  EXPECT_EQ(testing::run_on_integers(second, {testing::region("tp", by_widths),
                                              testing::region("tp.backward", by_widths_backward)}),
            whole);
  for (const ProgramStep& s : second.plan.program.steps) {
    if (s.kernel != "local_map") continue;
    EXPECT_TRUE(s.attrs.get_string(AttrKey::kRegion).starts_with("tp"));
    EXPECT_EQ(s.attrs.get_number(AttrKey::kFlops, 0), 1e12);
  }
}

TEST(RegionAlternatives, ReadersOfSavedResultsFollowTheirWriter) {
  const RegionTexts forward = forward_texts(kForwardFlops),
                    backward = backward_texts(kBackwardFlops);
  const CompileOptions options{.mesh = "dp=2,ep=4"};
  const Compiled apart = testing::compiled_text(graph_text(forward, backward, "input"), options);
  EXPECT_EQ(op_of(apart, "m0"), "local_map ep");
  EXPECT_EQ(op_of(apart, "b0"), "local_map tp.backward") << "nothing ties it: each its cheapest";
  const Compiled tied = testing::compiled_text(graph_text(forward, backward, "saved", 3), options);
  EXPECT_TRUE(tied.plan.summary.proven);
  for (const char* layer : {"0", "1", "2"}) {
    EXPECT_EQ(op_of(tied, std::string("m") + layer), "local_map ep");
    EXPECT_EQ(op_of(tied, std::string("b") + layer), "local_map ep.backward");
  }
  EXPECT_GT(tied.plan.summary.objective_us, 3 * apart.plan.summary.objective_us);
  CompileOptions limited = options;
  limited.memory_limit_bytes = tied.plan.summary.memory_program_bytes;
  const Compiled within =
      testing::compiled_text(graph_text(forward, backward, "saved", 3), limited);
  for (const char* layer : {"0", "1", "2"})
    EXPECT_EQ(op_of(within, std::string("m") + layer) + ".backward",
              op_of(within, std::string("b") + layer));
}

// Ties are part of the problem that the solver gets: of its evaluation, its bounds, and the floors
// of explanations.
TEST(RegionAlternatives, TiesArePartOfTheProblem) {
  Monitor monitor;
  const auto graph =
      parse_graph(graph_text(forward_texts(kForwardFlops), backward_texts(kBackwardFlops)));
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const CompileOptions options{.mesh = "dp=2,ep=4"};
  const auto model = PreparedModel::create(write_graph(*graph), options, monitor);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto asked = ConstrainedModel::create(**model, options, monitor);
  ASSERT_TRUE(asked.ok()) << asked.status().message();
  const auto placed = place(*asked, options.solver, monitor);
  ASSERT_TRUE(placed.ok()) << placed.status().message();
  const NodeId reader = *answers::node_named((*model)->graph(), "b0");
  ASSERT_EQ(placed->choice[reader.v], 0u);

  std::vector<uint32_t> mixed = placed->choice;
  mixed[reader.v] = 1;
  EXPECT_EQ(solver::evaluate(asked->problem(), mixed), solver::kForbidden);
  const auto certificate = solver::certify(asked->problem(), {}, 200, monitor);
  ASSERT_TRUE(certificate.ok()) << certificate.status().message();
  const auto floors = solver::label_floors(asked->problem(), *certificate, reader.v, monitor);
  ASSERT_TRUE(floors.ok()) << floors.status().message();
  EXPECT_GT((*floors)[1], placed->objective_us * (1 - 1e-6)) << "with the writer's other body, too";

  const auto explanation =
      answers::explain(*asked, {.node = "b0", .layout = {}}, options.solver, monitor);
  ASSERT_TRUE(explanation.ok()) << explanation.status().message();
  EXPECT_TRUE(explanation->strategy.starts_with("ep.backward: (")) << explanation->strategy;
  ASSERT_EQ(explanation->strategies.size(), 2u);
}

TEST(RegionAlternatives, TiesTakePartInConflictsAndCannotBeDropped) {
  const std::string text = graph_text(forward_texts(kForwardFlops), backward_texts(kBackwardFlops));
  const std::string tie =
      "regions take the alternative of the region whose saved results they read";
  EXPECT_NE(refusal(text, {.mesh = "dp=2,ep=4", .without = {tie}}).find("there is no constraint"),
            std::string::npos);
  Monitor monitor;
  const CompileOptions options{.mesh = "dp=2,ep=4"};
  const auto model = PreparedModel::create(write_graph(*parse_graph(text)), options, monitor);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto node = [&](const char* name) { return *answers::node_named((*model)->graph(), name); };
  PlacementConstraints constraints = *constraints_of(**model, options);
  constraints.choices = {{node("m0"), {true, false}, "m0"}, {node("b0"), {false, true}, "b0"}};
  const auto asked = ConstrainedModel::create(**model, std::move(constraints), monitor);
  ASSERT_TRUE(asked.ok()) << asked.status().message();
  const auto placed = place(*asked, options.solver, monitor);
  ASSERT_FALSE(placed.ok());
  EXPECT_NE(placed.status().message().find(tie), std::string::npos) << placed.status().message();
}

TEST(RegionAlternatives, ThoseThatTheMeshDoesNotBearAreLeftOut) {
  const std::string text = graph_text(forward_texts("1e12 | 4e15"), backward_texts("1e12 | 4e15"));
  const Compiled c = testing::compiled_text(text, {.mesh = "dp=2,ep=3"});
  EXPECT_EQ(op_of(c, "m0"), "local_map tp") << "three ranks do not share eight experts evenly";
  EXPECT_EQ(op_of(c, "b0"), "local_map tp.backward");
  EXPECT_EQ(refusal(text, {.mesh = "dp=2,ep=5"}),
            "m0: in_placements[0]: 'S(1)S(0)' does not cut f32[8,6,4] evenly on the mesh "
            "dp=2,ep=5; alternative 1: in_placements[1]: 'RS(2)' does not cut f32[8,4,12] evenly "
            "on the mesh dp=2,ep=5");
  RegionTexts crossed = backward_texts("1");
  crossed.ins = "S(1)R; S(1)S(2) | S(1)S(0); S(1)S(0)";
  crossed.outs = "-; PS(2) | -; PS(0)";
  EXPECT_EQ(refusal(graph_text(forward_texts("1"), crossed), {.mesh = "dp=2,ep=3"}),
            "b0: the mesh permits no alternative both here and in 'm0', which saves what the "
            "region reads");
}

// Either the tokens travel to the experts or the experts travel to the tokens, whichever sends
// less.
TEST(RegionAlternatives, ThePickDependsOnSizes) {
  const auto pick = [](const std::string& tokens, const std::string& width) {
    const std::string x = "f32[8," + tokens + "," + width + "]",
                      w = "f32[8," + width + "," + width + "]";
    const Compiled c = testing::compiled_text(
        "input param.w: %w : " + w + "\ninput input.0: %x : " + x +
            "\n%m = local_map(%x, %w, region=\"exchange | gather\", "
            "in_placements=\"S(1)S(0); RS(0) | S(1)S(1); RR\", "
            "out_placements=\"S(1)S(0) | S(1)S(1)\", result_types=\"" +
            x + "\") : " + x + "\nreturn output.0 = %m\n",
        {.mesh = "dp=2,ep=4", .input_layout = "S(1)S(1)", .output_layout = "S(1)S(1)"});
    return op_of(c, "m");
  };
  EXPECT_EQ(pick("64", "4096"), "local_map exchange");
  EXPECT_EQ(pick("8192", "64"), "local_map gather");
}

TEST(RegionAlternatives, MayHaveOneNameOrOneSetOfLayouts) {
  const auto op = [](const RegionTexts& texts) {
    return op_of(testing::compiled_text("input input.0: %x : f32[8,12]\n%m = local_map(%x, " +
                                            texts.attributes() +
                                            ", result_types=\"f32[8,12]\") : f32[8,12]\n"
                                            "return output.0 = %m\n",
                                        {.mesh = "a=4"}),
                 "m");
  };
  EXPECT_EQ(op({"slow|fast", "S(0)", "S(0)", "4e15|1e15"}), "local_map fast");
  EXPECT_EQ(op({"f", "S(0) | S(1)", "S(0) | S(1)", "2e15 | 1e15"}), "local_map f, alternative 1");
  EXPECT_EQ(op({"f", "P | S(0)", "S(0)", "1 | 2"}), "local_map f, alternative 1")
      << "nobody leaves the operand partial";
}

TEST(RegionAlternatives, RefusesThoseThatDoNotAgree) {
  const CompileOptions options{.mesh = "dp=2,ep=4"};
  const auto refused = [&](RegionTexts forward) {
    return refusal(graph_text(forward, backward_texts("1")), options);
  };
  const RegionTexts good = forward_texts("1");
  EXPECT_EQ(refused(good), "");
  RegionTexts bad = good;
  bad.region = "a | b | c";
  EXPECT_EQ(
      refused(bad),
      "m0: local_map: in_placements states 2 alternatives; the attributes before it state others");
  bad = good, bad.region = "a | ";
  EXPECT_EQ(refused(bad), "m0: local_map: alternative 1: attribute 'region' is missing");
  bad = good, bad.flops = "1e3 | many";
  EXPECT_EQ(refused(bad), "m0: local_map: flops: 'many' is no number");
  bad = good, bad.flops = "1e3 | -2";
  EXPECT_EQ(refused(bad), "m0: local_map: alternative 1: flops is -2.000000");
  bad = good, bad.ins = "S(1)S(0); RS(0) | RS(2)";
  EXPECT_EQ(refused(bad),
            "m0: local_map: alternative 1: in_placements names 1 layouts; the alternatives before "
            "it name 2");
  bad = good, bad.ins = "S(1)S(0); RS(0) | S(1); S(2)";
  EXPECT_EQ(refused(bad),
            "m0: local_map: alternative 1: in_placements[0]: 'S(1)' is for another number of mesh "
            "dims than the layouts before it");
  bad = good, bad.region = std::string(200, '|');
  EXPECT_EQ(refused(bad), "m0: local_map: region states 201 alternatives; at most 64 are possible");
  bad = {"ep", "S(1)S(0); RS(0)", "S(1)S(0)", "1"};
  EXPECT_EQ(refused(bad),
            "b0: the number of alternatives is 2; it is 1 for 'm0', which saves what the region "
            "reads");
}

}  // namespace
}  // namespace shw
