// shardwise run: executes a plan on virtual ranks in this process, or on the ranks of an MPI job,
// with tensors from and to safetensors files.
#include <cstdio>
#include <memory>
#include <string>

#include "compiler/pipeline.h"
#include "import/file.h"
#include "import/safetensors.h"
#include "plan/plan.h"
#include "tools/commands.h"
#include "tools/compare.h"
#include "tools/execute.h"
#include "tools/run_mpi.h"

namespace shw::tools {
namespace {

using import::TensorFile;

struct Options {
  std::string plan, inputs, outputs, entry = "step";
  bool virtual_ranks = false, verify = false, mpi = false;
  MpiOptions mpi_options;
};

// The same graph on a mesh of one rank: nothing is sharded, nothing is sent, and so no price
// matters.
Result<TensorFile> execute_unsharded(const Plan& plan, const std::string& entry,
                                     const TensorFile& inputs) {
  if (plan.source_graph.empty())
    return failed_precondition(
        "--verify compares with the unsharded run, but the plan was written without its graph "
        "(--strip-graph)");
  CompileOptions options;
  options.mesh = "one=1";
  Monitor monitor;
  SHW_ASSIGN_OR_RETURN(const Compiled compiled, compile(plan.source_graph, options, monitor));
  SHW_ASSIGN_OR_RETURN(Plan single, read_plan(compiled.bytes));
  return execute(std::make_shared<const Plan>(std::move(single)), entry, inputs);
}

// A line for every output: how far it is from both.
void print_errors(const Comparison& self, const Comparison& other) {
  std::printf("%-52s %14s %14s\n", "relative error (Frobenius)", "to unsharded", "to expected");
  for (const auto& [name, error] : self.error) {
    const auto expected = other.error.find(name);
    if (expected == other.error.end())
      std::printf("  %-50s %14.3g %14s\n", name.c_str(), error, "-");
    else
      std::printf("  %-50s %14.3g %14.3g\n", name.c_str(), error, expected->second);
  }
}

// Fails when a tensor is further away than rounding explains (f32 5e-6 against ourselves, 2e-5
// against another library).
Status verify(const Plan& plan, const std::string& entry, const TensorFile& inputs,
              const TensorFile& outputs) {
  SHW_ASSIGN_OR_RETURN(const TensorFile unsharded, execute_unsharded(plan, entry, inputs));
  const Comparison self = compare(outputs, unsharded, 5e-6), other = compare(outputs, inputs, 2e-5);
  print_errors(self, other);
  std::printf("%s", comparison_text("unsharded run", self).c_str());
  if (other.num_compared > 0)
    std::printf("%s", comparison_text("expected values in the inputs file", other).c_str());
  if (self.num_bad + other.num_bad > 0)
    return Status(Code::kInternal,
                  "the run is not equal to " +
                      std::string(self.num_bad > 0 ? "the unsharded run" : "the expected values") +
                      ": worst is '" + (self.num_bad > 0 ? self : other).worst_name + "'");
  return {};
}

// Whole outputs; of an MPI job on rank 0 only.
Result<TensorFile> run_on(const Options& o, std::shared_ptr<const Plan> plan,
                          const TensorFile& inputs,
                          const std::shared_ptr<runtime::ProcessWorld>& world) {
  return world == nullptr ? execute(std::move(plan), o.entry, inputs)
                          : execute_on_mpi(std::move(plan), o.entry, inputs, world);
}

Status run(const Options& o, const std::shared_ptr<runtime::ProcessWorld>& world) {
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, import::read_file(o.plan));
  SHW_ASSIGN_OR_RETURN(Plan read, read_plan(bytes));
  const auto plan = std::make_shared<const Plan>(std::move(read));
  SHW_ASSIGN_OR_RETURN(const TensorFile inputs, import::read_safetensors(o.inputs));
  SHW_ASSIGN_OR_RETURN(const TensorFile outputs, run_on(o, plan, inputs, world));
  if (world != nullptr && world->rank() != 0) return {};
  SHW_RETURN_IF_ERROR(import::write_safetensors(o.outputs, outputs));
  int64_t ranks = 1;
  for (const Mesh::Axis& a : plan->program.mesh) ranks *= a.size;
  std::printf("ran '%s' on %lld %s ranks; %zu tensors written to %s\n", o.entry.c_str(),
              static_cast<long long>(ranks), world == nullptr ? "virtual" : "MPI", outputs.size(),
              o.outputs.c_str());
  return o.verify ? verify(*plan, o.entry, inputs, outputs) : Status();
}

Status run(const Options& o) {
  if (o.virtual_ranks == o.mpi)
    return o.mpi ? invalid_argument("pass --virtual-ranks or --mpi, not both")
                 : unimplemented(
                       "running on devices: pass --virtual-ranks to run every rank on this CPU, or "
                       "--mpi under mpirun to run a rank in every process");
  if (!o.mpi) return run(o, nullptr);
  SHW_ASSIGN_OR_RETURN(const auto world, join_mpi(o.mpi_options));
  if (const Status status = run(o, world); !status.ok()) give_up(status, world);
  return {};
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("run", "Execute a plan");
  verb->add_option("PLAN", o->plan, "Plan file (.swplan; made by `shardwise plan`)")->required();
  verb->add_flag("--virtual-ranks", o->virtual_ranks, "Run all ranks in this process, on the CPU");
  verb->add_flag("--mpi", o->mpi,
                 "Run this process's rank of the MPI job that mpirun started; rank 0 writes the "
                 "outputs");
  verb->add_option("--timeout", o->mpi_options.timeout_s,
                   "With --mpi: seconds that a rank waits for another one before the run fails; 0: "
                   "no limit")
      ->capture_default_str();
  verb->add_option("--mpi-plugin", o->mpi_options.plugin,
                   "With --mpi: path of libshardwise_mpi.so, where it is not beside the tool");
  verb->add_option("--inputs", o->inputs,
                   "safetensors file with whole tensors: param.<name>, buffer.<name>, "
                   "input.<name>, tangent.<name>")
      ->required();
  verb->add_option("--outputs", o->outputs, "safetensors file to write: output, grad.<name>")
      ->required();
  verb->add_option("--entry", o->entry, "Entry point of the plan")->capture_default_str();
  verb->add_flag("--verify", o->verify,
                 "Compare with the unsharded run, and with `output` and `grad.*` where the inputs "
                 "file has them");
  verb->callback([o, &exit_code] {
    if (const Status status = run(*o); !status.ok()) exit_code = print_error(status);
  });
}

}  // namespace shw::tools
