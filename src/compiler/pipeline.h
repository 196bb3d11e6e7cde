// The compiler in one call: graph bytes and options in, plan out. For several questions about one
// graph, prepare a model once (prepared_model.h), then place and finish for each question.
#pragma once
#include <memory>
#include <span>

#include "compiler/finish.h"
#include "compiler/options.h"
#include "compiler/prepared_model.h"

namespace shw {

Result<Compiled> compile(std::span<const uint8_t> graph_bytes, const CompileOptions& options,
                         Monitor& monitor);

// A model that serves a single placement, and that placement. If the prices of all pairs of layouts
// would need much memory, strategies that the constraints exclude are removed before pricing.
struct Solved {
  std::unique_ptr<const PreparedModel> model;
  Placed placed;
};
Result<Solved> solve_once(std::span<const uint8_t> graph_bytes, const CompileOptions& options,
                          Monitor& monitor);

// Compiles for another question about a model. INVALID_ARGUMENT: the model does not serve the
// options.
Result<Compiled> compile(const PreparedModel& model, const CompileOptions& options,
                         Monitor& monitor);

}  // namespace shw
