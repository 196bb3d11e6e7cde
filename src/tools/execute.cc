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

static StoredTensor stored(const HostTensor& tensor) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(tensor.data.data());
  return {tensor.type, {bytes, bytes + tensor.data.size()}};
}

static Status write_state(runtime::VirtualRanks& ranks, const TensorFile& file) {
  const Program& program = ranks.program();
  for (const Port& port : program.ports) {
    if (!is_input(port.role) || !program.lies_in(port, StorageKind::kState)) continue;
    const auto it = file.find(port.name);
    if (it == file.end()) continue;
    if (it->second.type != row_major(port.global.dtype, port.global.shape))
      return invalid_argument("state '" + port.name + "' is " + to_string(it->second.type) +
                              ", but the plan's is " + to_string(port.global));
    SHW_RETURN_IF_ERROR(ranks.write_state(port.name, {it->second.type, it->second.bytes.data()}));
  }
  return {};
}

static Result<TensorFile> read_state(const runtime::VirtualRanks& ranks) {
  TensorFile file;
  const Program& program = ranks.program();
  for (const Port& port : program.ports) {
    if (!is_input(port.role) || !program.lies_in(port, StorageKind::kState)) continue;
    SHW_ASSIGN_OR_RETURN(const HostTensor whole, ranks.read_state(port.name));
    file.emplace(port.name, stored(whole));
  }
  return file;
}

Result<Executed> execute_with_state(std::shared_ptr<const Plan> plan, const std::string& entry_name,
                                    const TensorFile& inputs, int64_t repeat) {
  SHW_ASSIGN_OR_RETURN(const ProgramEntry* entry, runtime::find_entry(plan->program, entry_name));
  SHW_ASSIGN_OR_RETURN(const std::vector<HostTensorView> views,
                       bind_inputs(plan->program, *entry, inputs));
  SHW_ASSIGN_OR_RETURN(const auto ranks, runtime::VirtualRanks::create(plan));
  SHW_RETURN_IF_ERROR(write_state(*ranks, inputs));
  Executed done;
  std::vector<HostTensor> outputs;
  for (int64_t i = 0; i < repeat; ++i) {
    if (i + 1 == repeat) {
      SHW_ASSIGN_OR_RETURN(done.before, read_state(*ranks));
    }
    SHW_ASSIGN_OR_RETURN(outputs, ranks->run(entry_name, views));
  }
  done.outputs = named_outputs(plan->program, *entry, outputs);
  SHW_ASSIGN_OR_RETURN(done.after, read_state(*ranks));
  return done;
}

Result<TensorFile> execute(std::shared_ptr<const Plan> plan, const std::string& entry,
                           const TensorFile& inputs, int64_t repeat) {
  SHW_ASSIGN_OR_RETURN(Executed done, execute_with_state(std::move(plan), entry, inputs, repeat));
  return std::move(done.outputs);
}

TensorFile named_outputs(const Program& program, const ProgramEntry& entry,
                         const std::vector<HostTensor>& outputs) {
  TensorFile file;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Port& port = program.output(entry, i);
    if (!port.value.valid()) continue;
    file.emplace(port.name, stored(outputs[i]));
  }
  return file;
}

}  // namespace shw::tools
