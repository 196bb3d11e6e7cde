// The graphs of the test data, and options to plan them with.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"

namespace shw::testing {

// Reads a graph and returns it in the binary graph format (SWGR). NAME alone is
// tests/data/graphs/NAME.graph.pre.json.gz. With "examples/" in front, the file is in
// examples/data. With "torch/" or "zoo/" in front, it is tests/data/torch/NAME.graph.json.gz or the
// like.
inline std::vector<uint8_t> test_graph(const std::string& name) {
  constexpr std::string_view kExamples = "examples/";
  const std::string path =
      name.starts_with("torch/") || name.starts_with("zoo/") ? "/" + name + ".graph.json.gz"
      : name.starts_with(kExamples)
          ? "/../../examples/data/" + name.substr(kExamples.size()) + ".graph.pre.json.gz"
          : "/graphs/" + name + ".graph.pre.json.gz";
  const auto json = import::read_json_file(SHW_TEST_DATA + path);
  EXPECT_TRUE(json.ok()) << json.status().message();
  const auto graph = import::import_fx_json(*json);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return write_graph(*graph);
}

// A LLaMA-3 8B graph with another number of sequences of 8192 tokens. The original has 16.
inline Graph with_sequences(const Graph& graph, int64_t sequences) {
  constexpr int64_t kTokensOf16 = int64_t{16} * 8192;
  std::string text = print_graph(graph);
  const auto replace = [&](const std::string& was, const std::string& is) {
    for (size_t at = 0; (at = text.find(was, at)) != text.npos; at += is.size())
      text.replace(at, was.size(), is);
  };
  replace("[16,", "[" + std::to_string(sequences) + ",");
  replace(std::to_string(kTokensOf16), std::to_string(sequences * 8192));
  auto other = parse_graph(text);
  EXPECT_TRUE(other.ok()) << other.status().message();
  return *std::move(other);
}

}  // namespace shw::testing
