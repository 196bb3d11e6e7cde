// One rank of an MPI job, for mpi_test.py:
//   ranks PLUGIN conformance         every collective of the cases, against virtual ranks
//   ranks PLUGIN programs            one rank has another program than the others
//   ranks PLUGIN endless SECONDS DIR steps until an error, which each rank reports in DIR/RANK
//   ranks PLUGIN absent SECONDS      rank 1 does not join; the others say so
// Exit code 0: all is as it should be; 3: endless has reported an error.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cts/collective_cases.h"
#include "runtime/mpi/mpi_transport.h"
#include "runtime/world/process_rank.h"

namespace shw::runtime {
namespace {

using World = std::shared_ptr<ProcessWorld>;

// `start_s`: the time limit for MPI to start, which takes longer than any step on a busy machine.
Result<World> join(const std::string& plugin, double start_s, double timeout_s) {
  WorldOptions options;
  options.timeout = std::chrono::milliseconds(static_cast<int64_t>(1000 * timeout_s));
  const auto start = std::chrono::milliseconds(static_cast<int64_t>(1000 * start_s));
  SHW_ASSIGN_OR_RETURN(auto transport, open_mpi_transport(plugin, start));
  return create_message_world(std::move(transport), options);
}

int conformance(const World& world) {
  const auto run = [&](auto plan, const auto& in) {
    auto rank = ProcessRank::create(plan, world);
    return rank.ok() ? (*rank)->run("step", in) : rank.status();
  };
  const bool compares = world->rank() == 0;
  int bad = 0, count = 0;
  const auto judge = [&](const Status& s) {
    ++count;
    if (s.ok()) return;
    ++bad;
    std::printf("rank %d: %s\n", static_cast<int>(world->rank()), s.message().c_str());
  };
  for (const cts::CollectiveCase& c : cts::collective_cases())
    if (bad < 5) judge(cts::check_collective(c, compares, run));
  judge(cts::check_groups_side_by_side(compares, run));
  if (world->rank() == 0 && bad == 0) std::printf("%d cases, the bits of virtual ranks\n", count);
  return bad == 0 ? 0 : 1;
}

int programs(const World& world) {
  const cts::CollectiveCase c{
      {{"a", world->num_ranks()}}, {0}, CollectiveKind::kAllReduce, ReduceOp::kSum, Dtype::kF32, 4};
  Plan plan = *cts::plan_of(c);
  plan.checksum = world->rank() == 1 ? 22 : 11;
  const Status s = ProcessRank::create(std::make_shared<const Plan>(plan), world).status();
  std::printf("rank %d: %s\n", static_cast<int>(world->rank()), s.message().c_str());
  return s.code() == Code::kFailedPrecondition ? 0 : 1;
}

// Products between collectives in groups along both axes; the pieces exceed one message.
std::shared_ptr<const Plan> endless_plan() {
  testing::ProgramBuilder b({{"a", 2}, {"b", 2}});
  const Layout replicated = *parse_layout("RR", 2);
  const ValueId x = b.input("x", Dtype::kF32, {256, 256}, replicated);
  const TensorType type = row_major(Dtype::kF32, {256, 256});
  const ValueId y = b.collective(CollectiveKind::kAllReduce, {0}, b.compute("mm", {x, x}, type),
                                 {256, 256}, ReduceOp::kAvg);
  const ValueId z = b.collective(CollectiveKind::kAllReduce, {0, 1}, b.compute("relu", {y}, type),
                                 {256, 256}, ReduceOp::kMax);
  const ValueId w = b.collective(CollectiveKind::kAllGather, {1}, z, {512, 256});
  b.output("w", w, {512, 256}, replicated);
  return b.finish();
}

// Reports to a file, since mpirun may lose output that is printed at the end of a broken job.
int endless(const World& world, const std::string& folder) {
  using Clock = std::chrono::steady_clock;
  const int me = static_cast<int>(world->rank());
  const auto rank = ProcessRank::create(endless_plan(), world);
  Status status = rank.status();
  const std::vector<float> values(256 * 256, 0.001f);
  const HostTensorView in[] = {{row_major(Dtype::kF32, {256, 256}), values.data()}};
  auto last_good = Clock::now();
  for (int64_t step = 0; status.ok(); ++step) {
    status = (*rank)->run("step", in).status();
    if (!status.ok()) break;
    last_good = Clock::now();
    if (step == 0) std::printf("rank %d pid %d runs\n", me, static_cast<int>(getpid()));
    std::fflush(stdout);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - last_good).count();
  std::FILE* report = std::fopen((folder + "/" + std::to_string(me)).c_str(), "w");
  if (report == nullptr) return 1;
  std::fprintf(report, "rank %d reports after %.2f s: code %d: %s\n", me, seconds,
               static_cast<int>(status.code()), status.message().c_str());
  std::fclose(report);
  world->abort(status);
  return 3;
}

int run(int argc, char** argv) {
  const std::string mode = argc > 2 ? argv[2] : "";
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (mode == "absent" && rank != nullptr && std::string(rank) == "1") {
    sleep(4);
    _exit(0);
  }
  const double timeout_s = argc > 3 ? std::atof(argv[3]) : 60;
  const auto world = join(argv[1], mode == "absent" ? timeout_s : 60, timeout_s);
  if (!world.ok()) {
    std::printf("%s\n", world.status().message().c_str());
    std::fflush(stdout);
    _exit(world.status().code() == Code::kDeadlineExceeded ? 3 : 1);  // MPI may hang forever
  }
  if (mode == "conformance") return conformance(*world);
  if (mode == "programs") return programs(*world);
  if (mode == "endless") return endless(*world, argc > 4 ? argv[4] : ".");
  return 2;
}

}  // namespace
}  // namespace shw::runtime

int main(int argc, char** argv) { return shw::runtime::run(argc, argv); }
