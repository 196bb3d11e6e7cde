// tests/text/rewrite/<pass>.swt holds cases of one pass as text. Each case begins with a line "===
// name" and has a program, a line "---", and the program that the pass makes of it. The word
// "unchanged" means the same program.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "graph/diff.h"
#include "graph/text.h"
#include "rewrite/pass.h"
#include "rewrite/verify.h"

namespace shw {
namespace {

Graph graph_of_text(const std::string& text) {
  Result<Graph> g = parse_graph(text);
  EXPECT_TRUE(g.ok()) << g.status().message() << "\n" << text;
  if (!g.ok()) return {};
  const Status status = verify_graph(*g);
  EXPECT_TRUE(status.ok()) << status.message() << " at " << status.node_name();
  return std::move(*g);
}

void check_case(const GraphPass& pass, const std::string& before, const std::string& after) {
  const Graph graph = graph_of_text(before);
  const Graph expected = after.find("unchanged") == 0 ? graph : graph_of_text(after);
  const Result<Rewritten> got = pass.run(graph);
  ASSERT_TRUE(got.ok()) << got.status().message();
  if (got->changes == 0) {
    EXPECT_EQ(got->graph.num_nodes(), 0u);  // nothing was copied
  }
  const Graph& result = got->changes == 0 ? graph : got->graph;
  EXPECT_EQ(first_difference(result, expected), "") << print_graph(result);
  const Status status = verify_graph(result);
  EXPECT_TRUE(status.ok()) << status.message() << " at " << status.node_name();
}

class TextCases : public ::testing::TestWithParam<const GraphPass*> {};

TEST_P(TextCases, AreRewrittenAsWritten) {
  const GraphPass& pass = *GetParam();
  std::ifstream file(SHW_TEST_DATA "/../text/rewrite/" + std::string(pass.name) + ".swt");
  ASSERT_TRUE(file.good());
  std::string name, before, after, *part = nullptr;
  int cases = 0;
  const auto finish = [&] {
    if (part == nullptr) return;
    SCOPED_TRACE(name);
    ++cases;
    check_case(pass, before, after);
  };
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("=== ", 0) == 0) {
      finish();
      name = line.substr(4);
      before.clear();
      after.clear();
      part = &before;
    } else if (line == "---") {
      part = &after;
    } else if (part != nullptr) {
      *part += line + "\n";
    }
  }
  finish();
  EXPECT_GT(cases, 3);
}

INSTANTIATE_TEST_SUITE_P(Passes, TextCases,
                         ::testing::Values(&kCleanUp, &kRunTimeSeed, &kViewMmToEinsum,
                                           &kBiasedLinearToEinsum, &kEqualNodes, &kChoicePoints),
                         [](const auto& param) { return std::string(param.param->name); });

}  // namespace
}  // namespace shw
