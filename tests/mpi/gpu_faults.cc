// One rank of an MPI job on fake GPUs in which calls of NVIDIA's libraries fail, for mpi_test.py:
//   gpu_faults PLUGIN CALLS eager|graphs
// For each function, one rank's first call fails, or its last call, or one of CALLS calls in all in
// between; all later calls fail, too. Then every rank must end with an error within the time-out:
// the rank itself with the cause, the others with that rank's number. After a reset the job must
// compute the same bits as before, or the rank must report that its device is lost. In no case may
// anything be leaked. Exit code 0: all checks passed.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "cuda/fake_ranks.h"
#include "cuda/fakes.h"
#include "runtime/mpi/mpi_transport.h"
#include "runtime/port_memory.h"
#include "runtime/world/process_rank.h"
#include "unit/runtime/program_builder.h"

namespace shw::runtime {
namespace {

using Clock = std::chrono::steady_clock;
using testing::fake_alive;
using testing::fake_calls;
using testing::fake_leaks;
using testing::Injected;

constexpr std::chrono::seconds kTimeout{20};
constexpr int kCode = 777;  // the error code of a failing call, which messages contain
const std::vector<Mesh::Axis> kMesh = {{"a", 2}, {"b", 4}};

const std::vector<const char*> kEager = {"cuInit",
                                         "cuDevicePrimaryCtxRetain",
                                         "cuDeviceGetName",
                                         "cuModuleLoadData",
                                         "cuModuleGetFunction",
                                         "cuMemAlloc_v2",
                                         "cuMemHostAlloc",
                                         "cuStreamCreateWithPriority",
                                         "cuStreamQuery",
                                         "cuStreamSynchronize",
                                         "cuStreamWaitEvent",
                                         "cuStreamWriteValue32_v2",
                                         "cuEventCreate",
                                         "cuEventRecord",
                                         "cuLaunchKernel",
                                         "cuLaunchHostFunc",
                                         "cuMemcpyHtoDAsync_v2",
                                         "cuMemcpyDtoHAsync_v2",
                                         "a kernel",
                                         "nvrtcCompileProgram",
                                         "cublasLtCreate",
                                         "cublasLtMatmulAlgoGetHeuristic",
                                         "cublasLtMatmul",
                                         "ncclGetUniqueId",
                                         "ncclCommInitRankConfig",
                                         "ncclCommSplit",
                                         "ncclCommGetAsyncError",
                                         "ncclMemAlloc",
                                         "ncclCommRegister",
                                         "ncclAllReduce",
                                         "ncclReduceScatter",
                                         "ncclAllGather",
                                         "ncclSend",
                                         "ncclRecv"};
const std::vector<const char*> kInGraphs = {"cuStreamBeginCapture_v2",
                                            "cuStreamEndCapture",
                                            "cuGraphInstantiateWithFlags",
                                            "cuGraphLaunch",
                                            "cuLaunchKernel",
                                            "cublasLtMatmul",
                                            "ncclAllReduce",
                                            "a kernel"};
// These functions are optional. Without ncclMemAlloc, memory comes from the driver.
bool may_be_absent(const std::string& function) { return function == "ncclMemAlloc"; }

// A plan with collectives of all kinds in several groups, products, pointwise steps, and results
// that are kept in host memory.
std::shared_ptr<const Plan> make_plan() {
  testing::ProgramBuilder b(kMesh);
  const Layout rows = *parse_layout("S(0)S(0)", 2);
  const auto f32 = [](const Dims& shape) { return row_major(Dtype::kF32, shape); };
  const ValueId x = b.input("x", Dtype::kF32, {32, 8}, rows);  // [4,8] on each rank
  const ValueId w = b.input("w", Dtype::kF32, {8, 8}, *parse_layout("RR", 2));
  const ValueId r = b.compute("relu", {x}, f32({4, 8}));
  const ValueId away = b.compute("clone", {r}, f32({4, 8}));
  const ValueId y = b.compute("mm", {r, w}, f32({4, 8}));
  const ValueId sum = b.collective(CollectiveKind::kAllReduce, {0}, y, {4, 8}, ReduceOp::kAvg);
  const ValueId all = b.collective(CollectiveKind::kAllGather, {1}, sum, {16, 8});
  const ValueId part = b.collective(CollectiveKind::kReduceScatter, {1}, all, {4, 8});
  const ValueId turned = b.collective(CollectiveKind::kAllToAll, {0}, part, {4, 8});
  const ValueId moved = b.collective(CollectiveKind::kPermute, {0, 1}, turned, {4, 8});
  const ValueId back = b.compute("clone", {away}, f32({4, 8}));
  const ValueId z = b.compute("add", {b.compute("mm", {moved, w}, f32({4, 8})), back}, f32({4, 8}));
  b.output("z", z, {32, 8}, rows);
  Program& p = b.program();
  ProgramStorage& host = p.storages[p.values[away].storage];
  host.kind = StorageKind::kHost;
  host.offset_bytes = 0;
  p.host_bytes = kArenaAlignment;
  const auto order = [&](uint32_t from, uint32_t to) {
    if (p.steps[from].records == kNoEvent) p.steps[from].records = p.num_events++;
    p.steps[to].waits.push_back(p.steps[from].records);
  };
  const uint32_t to_host = 1, from_host = 8;  // the two clones
  p.steps[to_host].stream = host_stream(p, HostCopy::kToHost);
  p.steps[from_host].stream = host_stream(p, HostCopy::kFromHost);
  order(0, to_host);
  order(to_host, from_host);
  order(from_host, from_host + 2);
  return b.finish();
}

// The ranks exchange small numbers in a separate job in host memory.
class Agreement {
 public:
  static Result<std::unique_ptr<Agreement>> create(ProcessWorld& world) {
    std::unique_ptr<Agreement> made(new Agreement);
    Joining joining(world, world.rank());
    const uint8_t axes[] = {0, 1};
    SHW_ASSIGN_OR_RETURN(made->provider_, joining.begin(*Mesh::create(kMesh), {}));
    SHW_ASSIGN_OR_RETURN(made->channel_, made->provider_->channel(axes));
    joining.succeeded();
    return made;
  }
  // The largest of all ranks' values. Ends the process if the ranks cannot agree.
  int64_t most(int64_t mine) {
    int64_t result = 0;
    HostCollective call{{CollectiveKind::kAllReduce, ReduceOp::kMax, Dtype::kI64, 1}};
    call.input = &mine;
    call.output = &result;
    if (const Status s = channel_->run(call); !s.ok()) {
      std::printf("the ranks are out of step: %s\n", s.message().c_str());
      std::fflush(stdout);
      _exit(2);
    }
    return result;
  }
  bool all(bool mine) { return most(mine ? 0 : 1) == 0; }

 private:
  Agreement() = default;
  std::unique_ptr<ChannelProvider> provider_;
  std::unique_ptr<Channel> channel_;
};

using Bytes = std::vector<std::byte>;

// Copies this rank's pieces to the device, runs the entry, and copies the results back.
Result<Bytes> run_once(ProcessRank& rank, const std::shared_ptr<Device>& device) {
  const Program& program = rank.program();
  const ProgramEntry& entry = program.entries[0];
  std::vector<BufferRef> in, out(entry.outputs.size());
  for (const PortId id : entry.inputs) {
    const int64_t bytes = port_bytes(program, program.ports[id]);
    SHW_ASSIGN_OR_RETURN(in.emplace_back(), Buffer::allocate(device, {bytes}));
    std::vector<float> values(static_cast<size_t>(bytes) / sizeof(float));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) - 3;
    SHW_RETURN_IF_ERROR(
        device->copy(in.back()->data(), values.data(), bytes, CopyKind::kHostToDevice));
  }
  SHW_ASSIGN_OR_RETURN(const Completion done, rank.executor().enqueue(entry, in, out));
  SHW_RETURN_IF_ERROR(done.wait());
  Bytes result(static_cast<size_t>(out[0]->bytes()));
  SHW_RETURN_IF_ERROR(
      device->copy(result.data(), out[0]->data(), out[0]->bytes(), CopyKind::kDeviceToHost));
  return result;
}

// A rank that has failed aborts its executor, so that the other ranks end, too.
Result<Bytes> run_twice(ProcessRank& rank, const std::shared_ptr<Device>& device) {
  auto result = run_once(rank, device);
  if (result.ok()) result = run_once(rank, device);
  if (!result.ok()) rank.executor().abort();
  return result;
}

class Job {
 public:
  Job(std::shared_ptr<ProcessWorld> world, Agreement& agreement, bool graphs)
      : functions_(graphs ? kInGraphs : kEager),
        world_(std::move(world)),
        agreement_(agreement),
        plan_(make_plan()) {
    options_.graphs = graphs;
    options_.time_limit = kTimeout;
  }

  struct Outcome {
    Status status;  // of creating the executor and of two runs
    Bytes result;   // of the second run
    bool is_used_again = false;
    Status again;                      // of two more runs after a reset
    bool has_failed = false;           // whether a call on the rank with the fault failed
    double seconds = 0;                // seconds until `status` was known
    std::map<std::string, int> calls;  // calls until then, by function
  };
  struct Fault {
    std::string function;
    int after;
  };
  // All ranks call it. `fault`: set on the rank whose calls fail.
  Outcome attempt(const Fault* fault) {
    Outcome o;
    const auto begin = Clock::now();
    count_calls(o.calls, -1);
    std::unique_ptr<Injected> injected;
    if (fault != nullptr)
      injected = std::make_unique<Injected>(fault->function, kCode, fault->after);
    std::shared_ptr<Device> device;
    std::unique_ptr<ProcessRank> rank;
    auto opened =
        cuda::CudaDevice::open({.index = static_cast<int>(world_->rank()), .folder = SHW_FAKES});
    if (opened.ok()) device = *opened;
    o.status = opened.status();
    // A rank without a device cannot join a job.
    if (agreement_.all(device != nullptr)) {
      o.status = start(device, rank, o.result);
      o.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    } else if (o.status.ok()) {
      o.status = Status(Code::kAborted, "another rank has no device");
    }
    count_calls(o.calls, 1);
    o.has_failed =
        agreement_.most(fault != nullptr && o.calls[fault->function] > fault->after) == 1;
    // A rank that had finished before the error must see it in its next run.
    const bool is_good = agreement_.all(o.status.ok());
    if ((o.has_failed || !is_good) && o.status.ok()) o.status = run_twice(*rank, device).status();
    injected.reset();
    o.is_used_again = agreement_.all(rank != nullptr);
    if (o.is_used_again) o.again = use_again(*rank, device, o.result);
    rank.reset();
    device.reset();
    return o;
  }

 private:
  void count_calls(std::map<std::string, int>& calls, int sign) const {
    for (const char* function : functions_) calls[function] += sign * fake_calls(function);
  }
  Status start(const std::shared_ptr<Device>& device, std::unique_ptr<ProcessRank>& rank,
               Bytes& result) {
    RankBackend backend = testing::fake_ranks(kTimeout);
    backend.device = [&](int64_t) { return device; };
    SHW_ASSIGN_OR_RETURN(rank, ProcessRank::create(plan_, world_, options_, backend));
    SHW_ASSIGN_OR_RETURN(result, run_twice(*rank, device));
    return {};
  }
  Status use_again(ProcessRank& rank, const std::shared_ptr<Device>& device, Bytes& result) {
    rank.executor().reset();
    auto got = run_twice(rank, device);
    if (got.ok()) result = std::move(*got);
    return got.status();
  }

  const std::vector<const char*>& functions_;
  const std::shared_ptr<ProcessWorld> world_;
  Agreement& agreement_;
  const std::shared_ptr<const Plan> plan_;
  ExecutorOptions options_;
};

class Trial {
 public:
  Trial(std::shared_ptr<ProcessWorld> world, Agreement& agreement, int calls, bool graphs)
      : agreement_(agreement),
        me_(world->rank()),
        num_ranks_(world->num_ranks()),
        calls_(calls),
        job_(std::move(world), agreement, graphs) {}

  int run(const std::vector<const char*>& functions) {
    good_ = job_.attempt(nullptr);
    check(good_.status.ok() && good_.again.ok(), "the job without faults", good_.status);
    for (size_t f = 0; f < functions.size() && agreement_.all(problems_ == 0); ++f) {
      const std::string function = functions[f];
      const int64_t victim =
          function == "ncclGetUniqueId" ? 0 : static_cast<int64_t>(f) % num_ranks_;
      // The number of calls in a job without faults.
      const int64_t count = agreement_.most(me_ == victim ? good_.calls[function] : 0);
      check(count > 0, function + " is never called", {});
      int64_t last = -1;
      for (int i = 0; i < calls_; ++i) {
        const int64_t after = calls_ == 1 ? 0 : i * (count - 1) / (calls_ - 1);
        if (after != last) fail_at(function, static_cast<int>(after), victim);
        last = after;
      }
    }
    const bool all = agreement_.all(problems_ == 0);
    if (me_ == 0)
      std::printf(
          "%d calls of %zu functions failed; %d jobs used again, %d with a lost device, %d "
          "without an executor; %d calls not reached, %d done without; the slowest error "
          "after %.2f s\n",
          failed_, functions.size(), reused_, lost_, ended_, not_reached_, without_, slowest_);
    return all ? 0 : 1;
  }

 private:
  void check(bool good, const std::string& what, const Status& status) {
    if (good) return;
    ++problems_;
    std::printf("rank %d: %s: %s\n", static_cast<int>(me_), what.c_str(),
                status.ok() ? "no error" : status.message().c_str());
    std::fflush(stdout);
  }

  void fail_at(const std::string& function, int after, int64_t victim) {
    const std::string what = function + " of rank " + std::to_string(victim) + " after " +
                             std::to_string(after) + " calls";
    const Job::Fault fault{function, after};
    const Job::Outcome o = job_.attempt(me_ == victim ? &fault : nullptr);
    const bool is_good = agreement_.all(o.status.ok());
    if (!o.has_failed) {
      ++not_reached_;
      check(o.status.ok(), what + ", which were not made", o.status);
    } else if (is_good && may_be_absent(function)) {
      ++without_;
      check(o.result == good_.result, what + ": another result", {});
    } else {
      ++failed_;
      check_error(what, o, victim);
    }
    check_again(what, o, victim);
    check_leaks(what);
  }

  void check_error(const std::string& what, const Job::Outcome& o, int64_t victim) {
    slowest_ = std::max(slowest_, o.seconds);
    check(!o.status.ok() && o.status.code() != Code::kDeadlineExceeded, what, o.status);
    const std::string& text = o.status.message();
    const auto says = [&](const std::string& words) { return text.find(words) != text.npos; };
    const bool is_named =
        me_ == victim
            ? says(std::to_string(kCode)) || says("as it was told to") ||
                  says("an error of the fake NVRTC")
            : says("rank " + std::to_string(victim)) || text == "another rank has no device";
    check(is_named, what + (me_ == victim ? ", without the cause" : ", without the rank"),
          o.status);
  }

  void check_again(const std::string& what, const Job::Outcome& o, int64_t victim) {
    const bool is_used = o.is_used_again, is_lost = !agreement_.all(o.again.ok());
    ++(!is_used ? ended_ : is_lost ? lost_ : reused_);
    if (!is_used) return;
    if (!is_lost) {
      check(o.result == good_.result, what + ", then another result", {});
      return;
    }
    const std::string& text = o.again.message();
    check(text.find(me_ == victim ? "nothing works on this device until the process is started anew"
                                  : "rank " + std::to_string(victim)) != text.npos,
          what + ", then", o.again);
  }

  void check_leaks(const std::string& what) {
    check(fake_leaks() == 0 && fake_alive() == 0,
          what + ": " + std::to_string(fake_leaks()) + " allocations and " +
              std::to_string(fake_alive()) + " other objects leaked",
          {});
  }

  Agreement& agreement_;
  const int64_t me_, num_ranks_;
  const int calls_;
  Job job_;
  Job::Outcome good_;
  int problems_ = 0, failed_ = 0, not_reached_ = 0, without_ = 0;
  int reused_ = 0, lost_ = 0, ended_ = 0;
  double slowest_ = 0;
};

Result<int> run(const std::string& plugin, int calls, bool graphs) {
  WorldOptions options;
  options.timeout = kTimeout;
  SHW_ASSIGN_OR_RETURN(auto transport, open_mpi_transport(plugin, std::chrono::minutes(1)));
  SHW_ASSIGN_OR_RETURN(const auto world, create_message_world(std::move(transport), options));
  SHW_ASSIGN_OR_RETURN(const auto agreement, Agreement::create(*world));
  return Trial(world, *agreement, calls, graphs).run(graphs ? kInGraphs : kEager);
}

}  // namespace
}  // namespace shw::runtime

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto code =
      shw::runtime::run(argv[1], std::atoi(argv[2]), std::string(argv[3]) == "graphs");
  if (!code.ok()) std::printf("%s\n", code.status().message().c_str());
  return code.ok() ? *code : 2;
}
