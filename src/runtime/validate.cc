#include "runtime/validate.h"

#include <string>

namespace shw::runtime {

Status check_mesh(const Program& program, const Mesh& mesh) {
  bool same = program.mesh.size() == static_cast<size_t>(mesh.rank());
  for (int d = 0; same && d < mesh.rank(); ++d)
    same = program.mesh[static_cast<size_t>(d)].size == mesh.size(d);
  if (same) return {};
  std::string planned;
  for (const Mesh::Axis& axis : program.mesh)
    planned += (planned.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.size);
  return failed_precondition("the plan is for the mesh " + planned + ", the job has " +
                             mesh.to_string());
}

Result<CollectiveSpec> collective_spec(const Program& program, const ProgramStep& step,
                                       int64_t size) {
  if (step.inputs.size() != 1 || step.outputs.size() != 1 || !step.inputs[0].valid() ||
      !step.outputs[0].valid())
    return data_loss("a collective has one input and one output");
  const TensorType& in = program.values[step.inputs[0]].type;
  const TensorType& out = program.values[step.outputs[0]].type;
  const int64_t n = in.numel(), m = out.numel();
  int64_t count = -1;
  switch (step.collective.kind) {
    case CollectiveKind::kAllGather:
      count = n * size == m ? n : -1;
      break;
    case CollectiveKind::kReduceScatter:
      count = m * size == n ? m : -1;
      break;
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kPermute:
      count = n == m ? n : -1;
      break;
    case CollectiveKind::kAllToAll:
      count = n == m && n % size == 0 ? n / size : -1;
      break;
    case CollectiveKind::kNone:
      break;
  }
  if (count < 0 || in.dtype != out.dtype || !in.contiguous() || !out.contiguous())
    return data_loss("a collective over " + std::to_string(size) + " ranks cannot make " +
                     to_string(out) + " of " + to_string(in));
  return CollectiveSpec{step.collective.kind, step.collective.op, in.dtype, count};
}

}  // namespace shw::runtime
