#include "tools/execute.h"

#include <map>

#include "runtime/entry.h"

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

namespace {

// The names of the ports in which executors keep state.
std::vector<std::string> state_names(const Program& program) {
  std::vector<std::string> names;
  for (const Port& port : program.ports)
    if (is_input(port.role) && program.lies_in(port, StorageKind::kState))
      names.push_back(port.name);
  return names;
}

// What a rank other than 0 of a job reads has no bytes of its type: it is left out.
void add(const std::string& name, const HostTensor& tensor, TensorFile& file) {
  if (tensor.data.size() != static_cast<size_t>(tensor.type.bytes())) return;
  const auto* bytes = reinterpret_cast<const uint8_t*>(tensor.data.data());
  file.emplace(name, StoredTensor{tensor.type, {bytes, bytes + tensor.data.size()}});
}

TensorFile named_outputs(const Program& program, const ProgramEntry& entry,
                         const std::vector<HostTensor>& outputs) {
  TensorFile file;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (const Port& port = program.output(entry, i); port.value.valid())
      add(port.name, outputs[i], file);
  return file;
}

template <class Ranks>
Status write_state(Ranks& ranks, const TensorFile& file) {
  for (const std::string& name : state_names(ranks.program())) {
    const auto it = file.find(name);
    if (it == file.end()) continue;
    const StoredTensor& tensor = it->second;
    SHW_ASSIGN_OR_RETURN(const PortId id, runtime::find_state_port(ranks.program(), name));
    const TensorType& type = ranks.program().ports[id].global;
    if (tensor.type != row_major(type.dtype, type.shape))
      return invalid_argument("state '" + name + "' is " + to_string(tensor.type) +
                              ", but the plan's is " + to_string(type));
    SHW_RETURN_IF_ERROR(ranks.write_state(name, {tensor.type, tensor.bytes.data()}));
  }
  return {};
}

template <class Ranks>
Result<TensorFile> read_state(Ranks& ranks) {
  TensorFile file;
  for (const std::string& name : state_names(ranks.program())) {
    SHW_ASSIGN_OR_RETURN(const HostTensor whole, ranks.read_state(name));
    add(name, whole, file);
  }
  return file;
}

}  // namespace

template <class Ranks>
Result<Executed> execute_on(Ranks& ranks, const Execution& execution, const TensorFile& inputs) {
  const Program& program = ranks.program();
  SHW_ASSIGN_OR_RETURN(const ProgramEntry* entry, runtime::find_entry(program, execution.entry));
  SHW_ASSIGN_OR_RETURN(const std::vector<HostTensorView> views,
                       bind_inputs(program, *entry, inputs));
  SHW_RETURN_IF_ERROR(write_state(ranks, inputs));
  for (int64_t i = 1; i < execution.repeat; ++i)
    SHW_RETURN_IF_ERROR(ranks.run_only(execution.entry, views));
  Executed done;
  if (execution.state_before) {
    SHW_ASSIGN_OR_RETURN(done.before, read_state(ranks));
  }
  SHW_ASSIGN_OR_RETURN(const auto outputs, ranks.run(execution.entry, views));
  done.outputs = named_outputs(program, *entry, outputs);
  SHW_ASSIGN_OR_RETURN(done.after, read_state(ranks));
  return done;
}

template Result<Executed> execute_on(runtime::VirtualRanks&, const Execution&, const TensorFile&);
template Result<Executed> execute_on(runtime::ProcessRank&, const Execution&, const TensorFile&);

Result<TensorFile> execute(std::shared_ptr<const Plan> plan, const std::string& entry,
                           const TensorFile& inputs) {
  SHW_ASSIGN_OR_RETURN(const auto ranks, runtime::VirtualRanks::create(std::move(plan)));
  SHW_ASSIGN_OR_RETURN(Executed done, execute_on(*ranks, {entry}, inputs));
  return std::move(done.outputs);
}

}  // namespace shw::tools
