// Options shared by the verbs that plan: the graph and the options of `compile`, from the command
// line.
#pragma once
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "tools/command_line.h"

namespace shw::tools {

struct PlanOptions {
  std::string graph, mesh, hardware = "h100", rules = "full", budget = "default", grad_reduce_dtype,
                           memory, placements, overlap = "none", recompute = "none", prefetch;
  std::vector<std::string> pins, inputs, outputs, buckets;
  CompileOptions compile;  // options that the command line sets directly
  bool no_einsum = false;

  void add_to(Verb& verb, bool with_mesh = true);
  // All options, validated.
  Result<CompileOptions> options() const;
};

// Parses NAME=LAYOUT, the value of `option`.
Result<std::pair<std::string, std::string>> parse_pin(const std::string& option,
                                                      const std::string& text);
Result<ParameterBudget> parse_budget(const std::string& text);
// "80GB", "74.5 GiB", "1e9".
Result<int64_t> parse_bytes(const std::string& text);

}  // namespace shw::tools
