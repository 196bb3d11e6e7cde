// Runs four processes with one rank each, without MPI. They run collectives and a training step of
// LLaMA over NCCL, and compare the results with virtual ranks on the CPU.
//   process_ranks STEP      runs every STEP-th case of the collectives, on the fakes
//   process_ranks STEP gpu  runs on a GPU. NCCL accepts only one rank of a host on each GPU.
//                           So each process claims to be on another host, and they communicate
//                           over the loopback device.
// Exit code 0: all results are right. Sums of reals that are added in another order may differ by
// their rounding.
#include <sys/wait.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "compiler/pipeline.h"
#include "cts/collective_cases.h"
#include "cuda/socket_transport.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "runtime/cuda/plugin/channel.h"
#include "runtime/cuda/plugin/device.h"
#include "runtime/world/process_rank.h"

namespace shw::runtime {
namespace {

constexpr int64_t kRanks = 4;
constexpr std::chrono::minutes kTimeout{1};

struct Job {
  std::shared_ptr<ProcessWorld> world;
  RankBackend backend;
};

Result<Job> join(testing::Sockets& sockets, int64_t rank, bool on_gpu) {
  cuda::Options options{.index = static_cast<int>(rank), .folder = SHW_FAKES};
  if (on_gpu) {
    const char* const kernels = std::getenv("SHW_TEST_GPU");
    options = {.kernel_cache = kernels == nullptr ? "" : kernels};
    setenv("NCCL_HOSTID", ("host" + std::to_string(rank)).c_str(), 1);
    setenv("NCCL_SOCKET_IFNAME", "lo", 0);
  }
  SHW_ASSIGN_OR_RETURN(const auto device, cuda::CudaDevice::open(options));
  Job job;
  SHW_ASSIGN_OR_RETURN(job.world,
                       create_message_world(std::make_unique<testing::SocketTransport>(
                                                sockets[static_cast<size_t>(rank)], rank),
                                            {.timeout = kTimeout}));
  job.backend = {[device](int64_t) { return device; },
                 [device](std::unique_ptr<ChannelProvider> control, Device&) {
                   return cuda::make_channels(device->context(), std::move(control), kTimeout);
                 }};
  return job;
}

// Runs the plan twice and returns the outputs of the second run, whose collectives may be in a
// graph. Only rank 0 has outputs.
Result<std::vector<HostTensor>> run(const Job& job, const std::shared_ptr<const Plan>& plan,
                                    const std::vector<HostTensorView>& in, bool graphs) {
  ExecutorOptions options;
  options.graphs = graphs;
  SHW_ASSIGN_OR_RETURN(const auto rank, ProcessRank::create(plan, job.world, options, job.backend));
  SHW_RETURN_IF_ERROR(rank->run(plan->program.entries[0].name, in).status());
  return rank->run(plan->program.entries[0].name, in);
}

// Returns INTERNAL if the difference exceeds `slack` times the largest value.
Status compare(const HostTensor& got, const HostTensor& want, double slack,
               const std::string& what) {
  if (want.data.empty()) return {};  // this port has no value
  if (slack == 0)
    return got.data == want.data ? Status() : internal_error(what + ": not the bits of the CPU");
  double most = 0, apart = 0;
  for (int64_t e = 0; e < want.type.numel(); ++e) {
    const double w = testing::get(want.data.data(), want.type.dtype, e),
                 g = testing::get(got.data.data(), want.type.dtype, e);
    most = std::max(most, std::abs(w));
    apart = std::max(apart, std::abs(w - g));
  }
  if (apart <= slack * most) return {};
  return internal_error(what + ": " + std::to_string(apart) + " of " + std::to_string(most) +
                        " from the CPU");
}

Status check(const Job& job, const std::shared_ptr<const Plan>& plan,
             const std::vector<HostTensorView>& in, double slack, const std::string& what) {
  SHW_ASSIGN_OR_RETURN(const auto virtual_ranks, VirtualRanks::create(plan));
  SHW_ASSIGN_OR_RETURN(const auto want, virtual_ranks->run(plan->program.entries[0].name, in));
  for (const bool graphs : {false, true}) {
    SHW_ASSIGN_OR_RETURN(const auto got, run(job, plan, in, graphs));
    for (size_t i = 0; i < got.size(); ++i)
      SHW_RETURN_IF_ERROR(compare(got[i], want[i], slack, what + (graphs ? " in a graph" : "")));
  }
  return {};
}

// The error that NCCL's order of additions may cause, relative to the largest value.
double slack_of(const cts::CollectiveCase& c) {
  const bool reduces =
      c.kind == CollectiveKind::kReduceScatter || c.kind == CollectiveKind::kAllReduce;
  const bool picks = c.op == ReduceOp::kMax || c.op == ReduceOp::kMin;
  if (!reduces || picks || (!is_floating(c.dtype) && !is_complex(c.dtype))) return 0;
  const double unit = c.dtype == Dtype::kF64    ? 0x1p-52
                      : c.dtype == Dtype::kBF16 ? 0x1p-7
                      : c.dtype == Dtype::kF16  ? 0x1p-10
                                                : 0x1p-23;
  return 4 * unit;
}

// Prints progress. On a GPU that the processes share, each step waits for its turn and takes long.
void say(const Job& job, const std::string& what) {
  if (job.world->rank() != 0) return;
  std::printf("%s\n", what.c_str());
  std::fflush(stdout);
}

Result<int> check_collectives(const Job& job, int step) {
  int done = 0;
  const auto cases = cts::collective_cases();
  for (size_t i = 0; i < cases.size(); i += static_cast<size_t>(step), ++done) {
    const cts::CollectiveCase& c = cases[i];
    const HostTensor x = cts::input_of(c, static_cast<uint32_t>(c.count + 1));
    SHW_RETURN_IF_ERROR(
        check(job, cts::plan_of(c), {{x.type, x.data.data()}}, slack_of(c), cts::to_string(c)));
    say(job, cts::to_string(c));
  }
  return done;
}

Status check_llama(const Job& job) {
  SHW_ASSIGN_OR_RETURN(const auto json,
                       import::read_json_file(
                           SHW_TEST_DATA "/../../examples/data/llama_tiny_2x4.graph.pre.json.gz"));
  SHW_ASSIGN_OR_RETURN(const auto graph, import::import_fx_json(json));
  CompileOptions options;
  options.mesh = "dp=2,tp=2";
  Monitor monitor;
  SHW_ASSIGN_OR_RETURN(const auto compiled, compile(write_graph(graph), options, monitor));
  const auto plan = std::make_shared<const Plan>(compiled.plan);
  std::vector<HostTensor> inputs;
  std::vector<HostTensorView> views;
  for (const PortId id : plan->program.entries[0].inputs) {
    const TensorType& type = plan->program.ports[id].global;
    const bool whole = type.dtype == Dtype::kI64;  // tokens are whole numbers
    inputs.push_back(testing::make_tensor(type.dtype, type.shape, [&](int64_t i) {
      return whole ? static_cast<double>(i % 7) : testing::small_integer(i) / 8;
    }));
  }
  for (const HostTensor& input : inputs) views.push_back(testing::view_of(input));
  return check(job, plan, views, 1e-5, "LLaMA");
}

int run_rank(testing::Sockets& sockets, int64_t rank, int step, bool on_gpu) {
  const auto report = [&](const Status& s) {
    std::printf("rank %d: %s\n", static_cast<int>(rank), s.message().c_str());
    std::fflush(stdout);
    return s.code() == Code::kUnavailable ? 77 : 1;
  };
  auto job = join(sockets, rank, on_gpu);
  if (!job.ok()) return report(job.status());
  const auto fail = [&](const Status& s) {
    job->world->abort(s);
    return report(s);
  };
  if (const Status s = check_llama(*job); !s.ok()) return fail(s);
  say(*job, "LLaMA");
  const auto done = check_collectives(*job, step);
  if (!done.ok()) return fail(done.status());
  say(*job, std::to_string(*done) + " collectives and LLaMA, as on virtual ranks");
  return 0;
}

int run_all(int step, bool on_gpu) {
  testing::Sockets sockets = testing::make_sockets(kRanks);
  if (sockets.empty()) return 1;
  std::vector<pid_t> children;
  for (int64_t rank = 0; rank < kRanks; ++rank) {
    const pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
      for (int64_t other = 0; other < kRanks; ++other)
        for (const int socket : sockets[static_cast<size_t>(other)])
          if (other != rank && socket >= 0) close(socket);
      std::exit(run_rank(sockets, rank, step, on_gpu));
    }
    children.push_back(child);
  }
  for (const auto& of_rank : sockets)
    for (const int socket : of_rank)
      if (socket >= 0) close(socket);
  int worst = 0;
  for (const pid_t child : children) {
    int how = 0;
    waitpid(child, &how, 0);
    worst = std::max(worst, WIFEXITED(how) ? WEXITSTATUS(how) : 1);
  }
  return worst;
}

}  // namespace
}  // namespace shw::runtime

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const bool on_gpu = argc > 2 && std::string(argv[2]) == "gpu";
  return shw::runtime::run_all(std::max(1, std::atoi(argv[1])), on_gpu);
}
