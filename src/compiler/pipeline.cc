#include "compiler/pipeline.h"

#include "compiler/planner.h"

namespace shw {

Result<Compiled> compile(std::span<const uint8_t> graph_bytes, const CompileOptions& options,
                         Monitor& monitor) {
  SHW_ASSIGN_OR_RETURN(const std::unique_ptr<Planner> planner,
                       Planner::create(graph_bytes, options, monitor));
  return planner->compile(options, monitor);
}

}  // namespace shw
