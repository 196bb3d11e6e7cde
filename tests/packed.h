// Compiles plans for tests and checks that each arena is hardly larger than the memory that is live
// at the plan's fullest step.
#pragma once
#include <gtest/gtest.h>

#include <span>

#include "compiler/pipeline.h"
#include "plan/program.h"

namespace shw::testing {

// The live memory at the fullest step, padding included, is a lower bound of the arena.
inline void expect_packed(const Program& program) {
  EXPECT_LE(static_cast<double>(program.arena_bytes),
            1.003 * static_cast<double>(program.live_peak_bytes))
      << "arena against live peak of " << program.steps.size() << " steps on " << num_ranks(program)
      << " ranks, entry " << (program.entries.empty() ? "" : program.entries[0].name);
}

// Calls compile() and checks the resulting plan with expect_packed().
inline Result<Compiled> compile_packed(std::span<const uint8_t> graph,
                                       const CompileOptions& options, Monitor& monitor) {
  auto compiled = compile(graph, options, monitor);
  if (compiled.ok()) expect_packed(compiled->plan.program);
  return compiled;
}
inline Result<Compiled> compile_packed(const PreparedModel& model, const CompileOptions& options,
                                       Monitor& monitor) {
  auto compiled = compile(model, options, monitor);
  if (compiled.ok()) expect_packed(compiled->plan.program);
  return compiled;
}

}  // namespace shw::testing
