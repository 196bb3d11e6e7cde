#include "compiler/pipeline.h"

#include "compiler/planner.h"

namespace shw {

Result<Compiled> compile(std::span<const uint8_t> graph_bytes, const CompileOptions& options,
                         Monitor& monitor) {
  SHW_ASSIGN_OR_RETURN(const std::unique_ptr<Planner> planner,
                       Planner::create(graph_bytes, options, monitor));
  SHW_ASSIGN_OR_RETURN(const Placed placed,
                       planner->place(planner->constraints(), options.solver, monitor));
  return planner->finish(placed, monitor);
}

}  // namespace shw
