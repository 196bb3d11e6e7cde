#include "tools/execute.h"

#include <map>

#include "runtime/entry.h"
#include "runtime/virtual_ranks.h"

namespace shw::tools {

using import::StoredTensor;
using import::TensorFile;
using runtime::HostTensor;
using runtime::HostTensorView;

Result<std::vector<HostTensorView>> bind_inputs(const Program& program, const ProgramEntry& entry,
                                                const TensorFile& file) {
  std::vector<HostTensorView> views;
  std::map<std::string, TensorFile::const_iterator> next;
  for (PortId id : entry.inputs) {
    const Port& port = program.ports[id];
    auto it = file.find(port.name);
    const std::string prefix = port.name.substr(0, port.name.find('.') + 1);
    if (it == file.end() && (port.role == PortRole::kInput || port.role == PortRole::kTangent)) {
      auto [place, first] = next.try_emplace(prefix, file.lower_bound(prefix));
      it = place->second;
      if (it != file.end() && it->first.rfind(prefix, 0) == 0)
        ++place->second;
      else
        it = file.end();
    }
    if (it == file.end())
      return Status(Code::kNotFound, "the inputs file has no tensor '" + port.name +
                                         "' that the plan needs: " + to_string(port.global));
    TensorType type = it->second.type;
    if (port.global.dtype == Dtype::kC64 && type.dtype == Dtype::kF32 && type.rank() > 0 &&
        type.shape.back() == 2) {
      Dims shape = type.shape;  // complex numbers as pairs
      shape.erase(shape.size() - 1);
      type = row_major(Dtype::kC64, shape);
    }
    if (type.dtype != port.global.dtype || type.shape != port.global.shape)
      return invalid_argument("tensor '" + it->first + "' is " + to_string(type) +
                              ", but the plan's '" + port.name + "' is " +
                              to_string(row_major(port.global.dtype, port.global.shape)));
    views.push_back({type, it->second.bytes.data()});
  }
  return views;
}

void add_seeds(const Program& program, int64_t seed, int64_t offset, TensorFile& file) {
  const TensorType type = row_major(Dtype::kI64, {2});
  const int64_t values[] = {seed, offset};
  const auto* bytes = reinterpret_cast<const uint8_t*>(values);
  for (const Port& port : program.ports)
    if (port.role == PortRole::kSeed && port.global == type)
      file.try_emplace(port.name, StoredTensor{type, {bytes, bytes + sizeof values}});
}

Result<TensorFile> execute(std::shared_ptr<const Plan> plan, const std::string& entry_name,
                           const TensorFile& inputs, int64_t repeat) {
  SHW_ASSIGN_OR_RETURN(const ProgramEntry* entry, runtime::find_entry(plan->program, entry_name));
  SHW_ASSIGN_OR_RETURN(const std::vector<HostTensorView> views,
                       bind_inputs(plan->program, *entry, inputs));
  SHW_ASSIGN_OR_RETURN(const auto ranks, runtime::VirtualRanks::create(plan));
  std::vector<HostTensor> outputs;
  for (int64_t i = 0; i < repeat; ++i) {
    SHW_ASSIGN_OR_RETURN(outputs, ranks->run(entry_name, views));
  }
  return named_outputs(plan->program, *entry, outputs);
}

TensorFile named_outputs(const Program& program, const ProgramEntry& entry,
                         const std::vector<HostTensor>& outputs) {
  TensorFile file;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Port& port = program.output(entry, i);
    if (!port.value.valid()) continue;
    const auto* bytes = reinterpret_cast<const uint8_t*>(outputs[i].data.data());
    file.emplace(port.name, StoredTensor{outputs[i].type, {bytes, bytes + outputs[i].data.size()}});
  }
  return file;
}

}  // namespace shw::tools
