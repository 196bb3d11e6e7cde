#include "compiler/reshard.h"

#include "graph/text.h"
#include "graph/writer.h"
#include "redistribution/redistributor.h"

namespace shw {
namespace {

Status check(const CompileOptions& options) {
  if (!options.input_layout.empty() || !options.output_layout.empty() || !options.inputs.empty() ||
      !options.outputs.empty() || !options.pins.empty() || !options.placements.empty())
    return invalid_argument("a change of layout takes no layouts beside its two");
  if (options.rules != Rules::kFull)
    return invalid_argument("a change of layout is planned with the rules 'full'");
  return {};
}

}  // namespace

Result<Compiled> compile_reshard(std::string_view type, std::string_view from, std::string_view to,
                                 CompileOptions options, Monitor& monitor) {
  SHW_RETURN_IF_ERROR(check(options));
  SHW_ASSIGN_OR_RETURN(const TensorType tensor, parse_tensor_type(type));
  const std::string text = to_string(row_major(tensor.dtype, tensor.shape));
  SHW_ASSIGN_OR_RETURN(const Graph graph,
                       parse_graph("input input.0: %x : " + text + "\n%y = alias(%x) : " + text +
                                   "\nreturn output = %y\n"));
  options.input_layout = from;
  options.output_layout = to;
  options.mesh_dims_by_parts = Redistributor::kMaxAxes;
  return compile(write_graph(graph), options, monitor);
}

}  // namespace shw
