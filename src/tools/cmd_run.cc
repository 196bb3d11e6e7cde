// shardwise run: executes a plan on virtual ranks in this process or on the ranks of an MPI job;
// reads and writes safetensors files.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "import/file.h"
#include "import/safetensors.h"
#include "plan/plan.h"
#include "runtime/entry.h"
#include "tools/commands.h"
#include "tools/device_option.h"
#include "tools/dry_run.h"
#include "tools/execute.h"
#include "tools/plan_file.h"
#include "tools/run_mpi.h"
#include "verify/verify_run.h"

namespace shw::tools {
namespace {

using import::TensorFile;
using runtime::HostTensorView;

struct RunOptions {
  std::string plan, outputs, entry = "step", device = kCpu;
  runtime::cuda::Options cuda;
  std::vector<std::string> inputs, sizes;
  int64_t seed = 0, offset = 0;
  bool virtual_ranks = false, dry_run = false, verify = false, json = false, mpi = false,
       graphs = false;
  int64_t repeat = 1;
  MpiOptions mpi_options;
};

struct Ran {
  std::shared_ptr<const Plan> plan;
  std::string entry;  // a bucket, where sizes are given
  TensorFile inputs;
  Executed done;
};

// The file's tensors with the names of the entry's outputs: results of a run, or expected values.
std::vector<ExpectedTensor> outputs_in(const Program& program, const ProgramEntry& entry,
                                       const TensorFile& file) {
  std::vector<ExpectedTensor> found;
  for (PortId id : entry.outputs) {
    const Port& port = program.ports[id];
    if (const auto it = file.find(port.name); port.value.valid() && it != file.end())
      found.push_back({port.name, {it->second.type, it->second.bytes.data()}});
  }
  return found;
}

Result<VerifyReport> verify(const Ran& ran) {
  const Program& program = ran.plan->program;
  SHW_ASSIGN_OR_RETURN(const ProgramEntry* entry, runtime::find_entry(program, ran.entry));
  SHW_ASSIGN_OR_RETURN(const std::vector<HostTensorView> in,
                       bind_inputs(program, *entry, ran.inputs));
  std::vector<HostTensorView> out(entry->outputs.size());
  for (size_t i = 0; i < out.size(); ++i)
    if (const auto it = ran.done.outputs.find(program.output(*entry, i).name);
        it != ran.done.outputs.end())
      out[i] = {it->second.type, it->second.bytes.data()};
  VerifyOptions options;
  options.entry = ran.entry;
  for (const auto& [name, before] : ran.done.before) {
    const import::StoredTensor& after = ran.done.after.at(name);
    options.state.push_back(
        {name, {before.type, before.bytes.data()}, {after.type, after.bytes.data()}});
  }
  Monitor monitor;
  return verify_run(*ran.plan, in, out, outputs_in(program, *entry, ran.inputs), options, monitor);
}

std::string percent(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %%", 100 * x);
  return text;
}

// If a tensor is wrong: the worst one, and its error.
Status verdict_of(const VerifyReport& report) {
  if (report.num_wrong + report.num_expected_wrong == 0) return {};
  const bool own = report.num_wrong > 0;
  const VerifiedTensor& t =
      report.tensors[static_cast<size_t>(own ? report.worst : report.worst_expected)];
  const Judged& j = own ? t.sharded : *t.expected;
  std::string message =
      own ? "the results are wrong" : "the results are not what the inputs file expects";
  message += ": worst is '" + t.name + "': ";
  switch (j.verdict) {
    case Verdict::kTooFar:
      message +=
          percent(j.error) + " from the run in f64, but rounding explains only " + percent(j.limit);
      break;
    case Verdict::kScaled:
      message +=
          "scaled by " + percent(j.gain) + ", but rounding explains only " + percent(j.gain_limit);
      break;
    case Verdict::kWrongPlan:
      message += "the plan, run in f64, is " + percent(t.plan) + " from the unsharded run in f64";
      break;
    default:
      message += std::to_string(j.different) + " elements differ from the unsharded run";
  }
  return Status(Code::kInternal, message);
}

// Unsharded tensors; in an MPI job on rank 0 only.
Result<Executed> run_on(const RunOptions& o, std::shared_ptr<const Plan> plan,
                        const TensorFile& inputs, std::shared_ptr<runtime::ProcessWorld> world) {
  const Execution execution{o.entry, o.repeat, o.verify};
  SHW_ASSIGN_OR_RETURN(const runtime::RankBackend backend,
                       world == nullptr ? open_backend(o.device, 0, num_ranks(plan->program),
                                                       runtime::WorldOptions{}.timeout, o.cuda)
                                        : open_backend(o.device, world->rank_on_host(), 1,
                                                       world->timeout(), o.cuda));
  runtime::ExecutorOptions options;
  options.graphs = o.graphs;
  if (world == nullptr) {
    SHW_ASSIGN_OR_RETURN(const auto ranks,
                         runtime::VirtualRanks::create(std::move(plan), options, backend));
    return execute_on(*ranks, execution, inputs);
  }
  SHW_ASSIGN_OR_RETURN(const auto rank, runtime::ProcessRank::create(
                                            std::move(plan), std::move(world), options, backend));
  return execute_on(*rank, execution, inputs);
}

// The bucket that `--size` asks for, in the place of the entry.
Status choose_entry(const Program& program, RunOptions& o) {
  std::vector<runtime::SymbolSize> sizes;
  for (const std::string& text : o.sizes) {
    const size_t equals = text.find('=');
    const char* number = text.c_str() + std::min(equals, text.size() - 1) + 1;
    char* end = nullptr;
    const int64_t size = std::strtoll(number, &end, 10);
    if (equals == std::string::npos || end == number || *end != '\0')
      return invalid_argument("--size '" + text + "': expected SYMBOL=SIZE");
    sizes.push_back({std::string_view(text).substr(0, equals), size});
  }
  if (sizes.empty()) return {};
  SHW_ASSIGN_OR_RETURN(const ProgramEntry* entry, runtime::choose_bucket(program, o.entry, sizes));
  o.entry = entry->name;
  return {};
}

Result<std::shared_ptr<const Plan>> load(const std::string& path) {
  SHW_ASSIGN_OR_RETURN(Plan plan, read_plan_file(path));
  return std::make_shared<const Plan>(std::move(plan));
}

Status run_dry(RunOptions o) {
  SHW_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, load(o.plan));
  SHW_RETURN_IF_ERROR(choose_entry(plan->program, o));
  SHW_ASSIGN_OR_RETURN(const DryRun counted, dry_run(plan, o.entry, o.repeat));
  std::printf("%s", o.json ? (to_json(counted, o.entry) + "\n").c_str()
                           : to_text(counted, o.entry).c_str());
  return {};
}

// The tensors of all files.
Result<TensorFile> read_inputs(const std::vector<std::string>& paths) {
  TensorFile all;
  for (const std::string& path : paths) {
    SHW_ASSIGN_OR_RETURN(TensorFile file, import::read_safetensors(path));
    all.merge(file);
    if (!file.empty())
      return invalid_argument(path + ": tensor '" + file.begin()->first +
                              "' is in another inputs file, too");
  }
  return all;
}

Result<Ran> load_and_run(RunOptions o, std::shared_ptr<runtime::ProcessWorld> world) {
  Ran ran;
  SHW_ASSIGN_OR_RETURN(ran.plan, load(o.plan));
  SHW_RETURN_IF_ERROR(choose_entry(ran.plan->program, o));
  ran.entry = o.entry;
  SHW_ASSIGN_OR_RETURN(ran.inputs, read_inputs(o.inputs));
  add_seeds(ran.plan->program, o.seed, o.offset, ran.inputs);
  SHW_ASSIGN_OR_RETURN(ran.done, run_on(o, ran.plan, ran.inputs, std::move(world)));
  return ran;
}

// Writes the results, and verifies them if asked to.
Status report(const RunOptions& o, const Ran& ran) {
  TensorFile outputs = ran.done.outputs;
  outputs.insert(ran.done.after.begin(), ran.done.after.end());
  SHW_RETURN_IF_ERROR(import::write_safetensors(o.outputs, outputs));
  const int64_t ranks = num_ranks(ran.plan->program);
  if (!o.json)
    std::printf("ran '%s' on %lld %s ranks; %zu tensors written to %s\n", ran.entry.c_str(),
                static_cast<long long>(ranks), o.mpi ? "MPI" : "virtual", outputs.size(),
                o.outputs.c_str());
  JsonWriter json;
  json.begin_object().member("entry", std::string_view(ran.entry)).member("ranks", ranks);
  json.member("tensors", outputs.size());
  Status status;
  if (o.verify) {
    SHW_ASSIGN_OR_RETURN(const VerifyReport verified, verify(ran));
    write_json(verified, json.key("verify"));
    if (!o.json) std::printf("%s", to_text(verified).c_str());
    status = verdict_of(verified);
  }
  if (o.json) std::printf("%s\n", json.end_object().take().c_str());
  return status;
}

Status run_on_mpi(const RunOptions& o) {
  SHW_ASSIGN_OR_RETURN(auto world, join_mpi(o.mpi_options));
  const int64_t rank = world->rank();
  const Result<Ran> ran = load_and_run(o, world);
  if (!ran.ok()) give_up(ran.status(), world);
  // The ranks leave MPI together: none may wait while rank 0 writes and verifies, which can take
  // longer than the time-out.
  world.reset();
  return rank == 0 ? report(o, *ran) : Status();
}

Status run_run(const RunOptions& o) {
  if (o.dry_run) {
    if (o.virtual_ranks || o.mpi || o.verify || !o.inputs.empty() || !o.outputs.empty() ||
        o.device != kCpu || !o.cuda.kernel_cache.empty() || o.cuda.deterministic || o.graphs)
      return invalid_argument(
          "--dry-run computes nothing: omit --virtual-ranks, --mpi, --inputs, --outputs, --verify, "
          "--device, --kernel-cache, --deterministic, --graphs");
    return run_dry(o);
  }
  if ((!o.cuda.kernel_cache.empty() || o.cuda.deterministic || o.graphs) && o.device == kCpu)
    return invalid_argument("--kernel-cache, --deterministic and --graphs are of --device cuda");
  if (o.virtual_ranks == o.mpi)
    return o.mpi ? invalid_argument("pass --virtual-ranks or --mpi, not both")
                 : invalid_argument(
                       "pass --virtual-ranks to run every rank in this process, or --mpi under "
                       "mpirun to run a rank in every process");
  if (o.inputs.empty() || o.outputs.empty())
    return invalid_argument("pass --inputs and --outputs, or --dry-run");
  if (o.mpi) return run_on_mpi(o);
  SHW_ASSIGN_OR_RETURN(const Ran ran, load_and_run(o, nullptr));
  return report(o, ran);
}

}  // namespace

void add_run(CommandLine& command_line) {
  auto o = std::make_shared<RunOptions>();
  Verb verb = command_line.verb("run", "Execute a plan");
  verb.option("PLAN", o->plan, "Plan file (.swplan), as written by `shardwise plan`").required();
  verb.flag("--virtual-ranks", o->virtual_ranks, "Run all ranks in this process");
  verb.flag("--mpi", o->mpi,
            "Run one rank of an MPI job started by mpirun; rank 0 writes the "
            "outputs");
  verb.option("--device", o->device,
              "cpu, or cuda: each rank on a GPU of its own; with --mpi, the ranks of a host take "
              "its GPUs in the order of their ranks")
      .shows_default();
  add_cuda_options(verb, o->cuda);
  verb.flag("--graphs", o->graphs,
            "With --device cuda: launch CUDA graphs of what can be captured");
  verb.option("--timeout", o->mpi_options.timeout_s,
              "With --mpi: seconds to wait for another rank before the run fails; 0: "
              "no limit")
      .shows_default();
  verb.option("--mpi-plugin", o->mpi_options.plugin,
              "With --mpi: path of libshardwise_mpi.so, if it is not beside the tool");
  verb.option("--inputs", o->inputs,
              "safetensors file with unsharded tensors: param.<name>, buffer.<name>, "
              "input.<name>, tangent.<name>. State begins with what the file holds, or zeros. "
              "May be given several times")
      .repeatable();
  verb.option("--outputs", o->outputs,
              "safetensors file to write: output, grad.<name>, and state after the run");
  verb.flag("--dry-run", o->dry_run,
            "Compute nothing: count what one rank launches, sends and allocates. Needs no "
            "inputs");
  verb.option("--entry", o->entry, "Entry point of the plan").shows_default();
  verb.option("--repeat", o->repeat,
              "Run the entry so many times on the same inputs; the outputs are those of the "
              "last run")
      .positive()
      .shows_default();
  verb.option("--size", o->sizes,
              "SYMBOL=SIZE: takes the smallest bucket of the entry that this fits into; the "
              "inputs have the sizes of the bucket")
      .repeatable();
  verb.option("--seed", o->seed,
              "Seed of the random numbers, where the inputs file has none (seed.random)")
      .shows_default();
  verb.option("--seed-offset", o->offset,
              "With --seed: another number draws other numbers, such as the number of the step")
      .shows_default();
  verb.flag("--verify", o->verify,
            "Check the outputs, and any expected ones in the inputs file (`output`, `grad.*`): "
            "their distance from a run in f64 must be explained by rounding");
  verb.flag("--json", o->json, "Print a summary and the verification as JSON");
  verb.runs([o] { return run_run(*o); });
}

}  // namespace shw::tools
