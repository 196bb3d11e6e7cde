#include "compiler/pipeline.h"

#include "compiler/planner.h"

namespace shw {

Result<Compiled> compile(std::span<const uint8_t> graph_bytes, const CompileOptions& options,
                         Monitor& monitor) {
  SHW_ASSIGN_OR_RETURN(const Solved solved, solve_once(graph_bytes, options, monitor));
  return solved.planner->finish(options, solved.placed, monitor);
}

}  // namespace shw
