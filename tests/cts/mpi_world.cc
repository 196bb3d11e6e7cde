#include "cts/mpi_world.h"

#include <cstdio>
#include <cstdlib>

#include "runtime/mpi/mpi_transport.h"

namespace shw::cts {
namespace {

using World = std::shared_ptr<runtime::ProcessWorld>;

World join() {
  const char* plugin = std::getenv("SHW_CTS_MPI_PLUGIN");
  if (plugin == nullptr) return nullptr;
  runtime::WorldOptions options;
  options.timeout = std::chrono::seconds(60);
  auto transport = runtime::open_mpi_transport(plugin, options.timeout);
  Result<World> world = transport.ok()
                            ? runtime::create_message_world(std::move(*transport), options)
                            : transport.status();
  if (world.ok()) return *world;
  std::fprintf(stderr, "%s\n", world.status().message().c_str());
  std::exit(1);
}

World& world() {
  static World joined = join();
  return joined;
}

// Leaves the job at the end of all tests, so that every process takes part when MPI is finalised.
class Leave final : public ::testing::Environment {
  void TearDown() override { world().reset(); }
};
[[maybe_unused]] const auto* const kLeave = ::testing::AddGlobalTestEnvironment(new Leave);

}  // namespace

const World& mpi_world() { return world(); }

std::vector<Exemption> mpi_exemptions() {
  const std::string device = "about devices: ranks of MPI jobs run on the CPU's, which passes it";
  const std::string one_thread = "one thread drives several ranks, of which a process has one";
  std::vector<Exemption> list;
  for (const char* suite : {"ContractionTest.*", "EmbeddingTest.*", "AttentionTest.*", "MoveTest.*",
                            "PointwiseTest.*", "ReductionTest.*", "StreamTest.*", "EventTest.*",
                            "CopyTest.*", "MemoryTest.*", "GraphTest.*"})
    list.push_back({suite, device});
  for (const char* test :
       {"ExecutorTest.RunsInFlight*", "ExecutorTest.GivesBuffersBack*", "ExecutorTest.Destruction*",
        "ExecutorTest.ATimeLimit*", "ExecutorTest.AnAbort*", "ChainTest.*"})
    list.push_back({test, one_thread});
  return list;
}

bool can_have_ranks(int64_t count) {
  return mpi_world() == nullptr || mpi_world()->num_ranks() == count;
}
bool has_rank(int64_t rank) { return mpi_world() == nullptr || mpi_world()->rank() == rank; }

std::unique_ptr<runtime::ChannelProvider> join_mpi_job(const Mesh& mesh) {
  runtime::Joining joining(*mpi_world(), mpi_world()->rank());
  auto provider = joining.begin(mesh, {});
  EXPECT_TRUE(provider.ok()) << provider.status().message();
  if (!provider.ok()) return nullptr;
  joining.succeeded();
  return std::move(*provider);
}

}  // namespace shw::cts
