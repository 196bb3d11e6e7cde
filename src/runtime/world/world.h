// A world: the ranks that communicate with each other, and what they have in common.
//
// A world owns the connections between its ranks; executors borrow them. Every executor joins the
// world for one rank and becomes part of a job: the n-th executors of all ranks form job n. The
// collectives of a job are separate from those of other jobs. The ranks of a job must run the same
// program; they compare identities when they join, before the first collective.
//
// Joining does not wait for other ranks of this process, so one thread can create the executors of
// all local ranks one after another. In a world of several processes, joining waits for the other
// processes.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "plan/plan.h"
#include "runtime/channel.h"
#include "runtime/collective/log.h"

namespace shw::runtime {

// What the ranks of a job must agree on. It is sent between processes in this binary form.
struct ProgramIdentity {
  uint64_t checksum = 0;  // checksum of the plan's bytes
  uint64_t graph_hash = 0, options_hash = 0, mesh_hash = 0;
  char library[16] = {};  // the version of the library that runs the plan
};
ProgramIdentity identity_of(const Plan& plan);

// FAILED_PRECONDITION names both ranks and what differs.
Status check_same_program(int64_t rank, const ProgramIdentity& mine, int64_t other_rank,
                          const ProgramIdentity& other);

struct WorldOptions {
  // The limit of each wait for another rank; zero or less: no limit. The default is long because
  // loading data or swapping can delay a rank by minutes.
  Timeout timeout = std::chrono::minutes(10);
};

class World {
 public:
  virtual ~World() = default;
  virtual int64_t num_ranks() const = 0;
  virtual Timeout timeout() const = 0;  // as in its options
  // The ranks of this process, ascending.
  virtual std::span<const int64_t> local_ranks() const = 0;

  // Joins the rank to its next job. end_join() must follow; it reports whether the executor was
  // created. Calls for one rank must not overlap.
  virtual Result<std::unique_ptr<ChannelProvider>> begin_join(int64_t rank, const Mesh& mesh,
                                                              const ProgramIdentity& program) = 0;
  virtual void end_join(int64_t rank, bool has_joined) = 0;

  // Ends all running and future collectives on all ranks, permanently. Any thread; does not wait.
  virtual void abort(const Status& cause) = 0;
  virtual Status status() const = 0;  // OK, or the cause of the abort
};

// Guard for joining: calls end_join() whether or not the executor is created.
class Joining {
 public:
  Joining(World& world, int64_t rank) : world_(world), rank_(rank) {}
  ~Joining() {
    if (has_begun_) world_.end_join(rank_, has_joined_);
  }
  Joining(const Joining&) = delete;
  Joining& operator=(const Joining&) = delete;

  Result<std::unique_ptr<ChannelProvider>> begin(const Mesh& mesh, const ProgramIdentity& program) {
    auto provider = world_.begin_join(rank_, mesh, program);
    has_begun_ = provider.ok();
    return provider;
  }
  void succeeded() { has_joined_ = true; }

 private:
  World& world_;
  int64_t rank_;
  bool has_begun_ = false, has_joined_ = false;
};

// Checks that a world of `num_ranks` ranks can run `mesh` with this rank. FAILED_PRECONDITION,
// OUT_OF_RANGE.
Status check_rank(int64_t rank, int64_t num_ranks, const Mesh& mesh);

// A world whose ranks are all in this process, and exchange data through its memory.
std::shared_ptr<World> create_local_world(int64_t num_ranks, const WorldOptions& options);

}  // namespace shw::runtime
