// The compiler in one call: graph bytes and options in, plan out. For several questions about one
// graph, prepare a model once, and place and finish for each: prepared_model.h.
#pragma once
#include <memory>
#include <span>

#include "compiler/finish.h"
#include "compiler/options.h"
#include "compiler/prepared_model.h"

namespace shw {

Result<Compiled> compile(std::span<const uint8_t> graph_bytes, const CompileOptions& options,
                         Monitor& monitor);

// A model for one placement, and that placement. Constraints prune strategies before anything is
// priced where all pairs of layouts would take much memory.
struct Solved {
  std::unique_ptr<const PreparedModel> model;
  Placed placed;
};
Result<Solved> solve_once(std::span<const uint8_t> graph_bytes, const CompileOptions& options,
                          Monitor& monitor);

// Another question to a model. INVALID_ARGUMENT: the model does not serve the options.
Result<Compiled> compile(const PreparedModel& model, const CompileOptions& options,
                         Monitor& monitor);

}  // namespace shw
