#include "tools/dry_run.h"

#include "plan/report.h"
#include "runtime/entry.h"
#include "runtime/executor.h"
#include "runtime/null/channel.h"
#include "runtime/program_layout.h"
#include "support/format.h"
#include "support/json_writer.h"

namespace shw::tools {

Result<DryRun> dry_run(std::shared_ptr<const Plan> plan, const std::string& entry_name,
                       int64_t repeat) {
  const Program& program = plan->program;
  SHW_ASSIGN_OR_RETURN(const ProgramEntry* entry, runtime::find_entry(program, entry_name));
  SHW_ASSIGN_OR_RETURN(const Mesh mesh, Mesh::create(program.mesh));
  const auto device = std::make_shared<runtime::null::NullDevice>();
  SHW_ASSIGN_OR_RETURN(
      const auto executor,
      runtime::Executor::create(plan, device, runtime::null::make_channels(*device, mesh, 0)));
  std::vector<runtime::BufferRef> inputs;
  for (const PortId id : entry->inputs) {
    const Port& port = program.ports[id];
    inputs.emplace_back();
    if (!port.value.valid()) continue;
    SHW_ASSIGN_OR_RETURN(inputs.back(),
                         runtime::Buffer::allocate(device, {runtime::port_bytes(program, port),
                                                            runtime::arena_alignment(program)}));
  }
  for (int64_t i = 0; i < repeat; ++i) {
    std::vector<runtime::BufferRef> outputs(entry->outputs.size());
    SHW_ASSIGN_OR_RETURN(const runtime::Completion done,
                         executor->enqueue(*entry, inputs, outputs));
    SHW_RETURN_IF_ERROR(done.wait());
  }
  return DryRun{mesh.num_ranks(), device->counts()};
}

std::string to_json(const DryRun& run, const std::string& entry) {
  const runtime::null::Counts& c = run.counts;
  JsonWriter json;
  json.begin_object().member("entry", std::string_view(entry)).member("ranks", run.ranks);
  json.key("dry_run").begin_object();
  json.member("launches", c.launches).member("collectives", c.collectives);
  json.member("collective_bytes", c.collective_bytes).member("copies", c.copies);
  json.member("copied_bytes", c.copied_bytes).member("memory_bytes", c.memory_bytes);
  json.member("peak_memory_bytes", c.peak_memory_bytes);
  return json.end_object().end_object().take();
}

std::string to_text(const DryRun& run, const std::string& entry) {
  const runtime::null::Counts& c = run.counts;
  const auto count = [](int64_t n) { return static_cast<long long>(n); };
  std::string text =
      format("dry run of '%s' on one of %lld ranks\n", entry.c_str(), count(run.ranks));
  text += format("launches     %lld kernels\n", count(c.launches));
  text += format("collectives  %lld, %s brought by this rank\n", count(c.collectives),
                 human_bytes(c.collective_bytes).c_str());
  text += format("copies       %lld, %s\n", count(c.copies), human_bytes(c.copied_bytes).c_str());
  text += format("memory       %s at most\n", human_bytes(c.peak_memory_bytes).c_str());
  return text;
}

}  // namespace shw::tools
