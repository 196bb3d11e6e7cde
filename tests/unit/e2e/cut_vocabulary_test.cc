// The first and last layer of a language model share one table, and the logits are stated to be
// sharded by vocabulary. The planner must find by itself that the look-up then works on shards of
// the table too.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/pipeline.h"
#include "decision.h"
#include "graph/writer.h"
#include "packed.h"
#include "runtime/virtual_ranks.h"

namespace shw {
namespace {

struct Sizes {
  int64_t rows, width, batch, sequence;
};
constexpr Sizes kLarge{131072, 1024, 4, 512}, kSmall{4096, 64, 2, 8};

// logits = look-up(table, tokens) · tableᵀ
std::vector<uint8_t> tied_layers(const Sizes& n) {
  Graph g;
  const NodeId table = g.add_input("table", row_major(Dtype::kF32, {n.rows, n.width}),
                                   {.role = InputRole::kParameter, .name = "table"});
  const NodeId tokens = g.add_input("tokens", row_major(Dtype::kI64, {n.batch, n.sequence}),
                                    {.role = InputRole::kInput, .name = "0"});
  const NodeId hidden = g.add_node(OpKind::kEmbedding, "hidden", {table, tokens}, {},
                                   row_major(Dtype::kF32, {n.batch, n.sequence, n.width}));
  Attrs equation;
  equation.set(AttrKey::kEquation, std::string("abk,nk->abn"));
  const NodeId logits = g.add_node(OpKind::kEinsum, "logits", {hidden, table}, equation,
                                   row_major(Dtype::kF32, {n.batch, n.sequence, n.rows}));
  g.add_output({.node = logits, .role = OutputRole::kResult, .name = ""});
  return write_graph(g);
}

Plan planned(const Sizes& sizes, const CompileOptions& options) {
  Monitor monitor;
  auto compiled = testing::compile_packed(tied_layers(sizes), options, monitor);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  return compiled.ok() ? std::move(compiled->plan) : Plan{};
}

std::vector<float> logits_of(Plan plan) {
  auto ranks = runtime::VirtualRanks::create(std::make_shared<const Plan>(std::move(plan)));
  EXPECT_TRUE(ranks.ok()) << ranks.status().message();
  const auto [rows, width, batch, sequence] = kSmall;
  std::vector<float> table(static_cast<size_t>(rows * width));
  for (size_t i = 0; i < table.size(); ++i)
    table[i] = static_cast<float>(i * 2654435761u % 1009) / 1009 - 0.5f;
  std::vector<int64_t> tokens(static_cast<size_t>(batch * sequence));
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<int64_t>(i * 273) % rows;
  const runtime::HostTensorView inputs[] = {
      {row_major(Dtype::kF32, {rows, width}), table.data()},
      {row_major(Dtype::kI64, {batch, sequence}), tokens.data()}};
  const auto outputs = (*ranks)->run("step", inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  const auto* first = reinterpret_cast<const float*>((*outputs)[0].data.data());
  return {first, first + batch * sequence * rows};
}

double relative_error(const std::vector<float>& got, const std::vector<float>& want) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double d = static_cast<double>(got[i]) - static_cast<double>(want[i]);
    difference += d * d;
    norm += static_cast<double>(want[i]) * static_cast<double>(want[i]);
  }
  return std::sqrt(difference / norm);
}

// The table is sharded by rows, as the last layer needs it. The layout in which the look-up uses it
// is free.
TEST(CutVocabulary, IsChosenForTheLookUpWhereItPays) {
  for (const auto& [mesh, rows, logits, table, found] :
       {std::tuple("tp=4", "S(0)", "S(2)", "S(0), R", "P"),
        std::tuple("dp=2,tp=4", "RS(0)", "S(0)S(2)", "RS(0), S(0)R", "S(0)P")}) {
    CompileOptions o;
    o.mesh = mesh;
    o.output_layout = logits;
    o.parameter_budget.kind = ParameterBudget::Kind::kNone;
    o.pins = {{"param.table", rows}};
    const Plan full = planned(kLarge, o);
    EXPECT_EQ(testing::decision_on(full, "hidden").operand_layouts, table) << mesh;
    EXPECT_EQ(testing::decision_on(full, "hidden").result_layout, found) << mesh;
    o.rules = Rules::kCompat;
    EXPECT_LT(full.summary.objective_us, planned(kLarge, o).summary.objective_us) << mesh;
  }
}

TEST(CutVocabulary, GivesTheSameLogits) {
  for (const auto& [mesh, table, found, logits] :
       {std::tuple("tp=4", "S(0)", "P", "S(2)"),
        std::tuple("dp=2,tp=4", "RS(0)", "S(0)P", "S(0)S(2)"),
        std::tuple("dp=2,tp=4", "S(0)S(0)", "PP", "S(0)S(2)")}) {
    const Plan cut = planned(
        kSmall,
        {.mesh = mesh, .pins = {{"param.table", table}, {"hidden", found}, {"logits", logits}}});
    EXPECT_LE(relative_error(logits_of(cut), logits_of(planned(kSmall, {.mesh = "one=1"}))), 5e-6)
        << mesh << ' ' << table;
  }
}

}  // namespace
}  // namespace shw
