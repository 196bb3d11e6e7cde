// Channels between ranks: what a transport provides for the collectives of a program.
//
// Shaped by NCCL. A collective is a prepared kernel (hal.h): it is launched on a stream, and what
// goes wrong is raised in the stream's fault.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "plan/program.h"
#include "runtime/hal.h"

namespace shw::runtime {

struct CollectiveSpec {
  CollectiveKind kind = CollectiveKind::kNone;
  ReduceOp op = ReduceOp::kSum;
  Dtype dtype = Dtype::kF32;
  int64_t count = 0;  // elements of the *smaller* of input and output: what one member contributes
                      // to all_gather and all_reduce, gets from reduce_scatter, sends to each of
                      // the others in all_to_all, to one in a permute
  int64_t source = 0, target = 0;  // permute: the members that it receives from and sends to
  bool by_counts = false;  // all_to_all: each call says how much goes to and comes from each member
                           // (HostCollective), and `count` is 0
};

// A collective that is done at once, in memory of the host.
struct HostCollective {
  CollectiveSpec spec;
  int64_t node = -1;  // of the graph, for messages
  const void* input = nullptr;
  void* output = nullptr;
  // By counts, in elements, one more than members: the input from send_offsets[m] to the next one
  // goes to member m, and what comes from it goes to the output from receive_offsets[m] on. A
  // member sends itself as much as it receives from itself.
  const int64_t* send_offsets = nullptr;
  const int64_t* receive_offsets = nullptr;
};

// One rank's end of a group of ranks (program.h: Collective). Every member must launch the same
// collectives in the same order.
class Channel {
 public:
  virtual ~Channel() = default;
  virtual int64_t member() const = 0;  // this rank's number in the group
  virtual int64_t size() const = 0;
  // Buffers at launch: input, output, workspace. all_reduce may be in place.
  virtual Result<std::unique_ptr<PreparedKernel>> prepare(const CollectiveSpec& spec) = 0;
  // Does one on the calling thread, which must be the only one that uses the channel. Returns when
  // it is done, or with the error that ended it. Allocates nothing in the steady state.
  // UNIMPLEMENTED: these collectives work in memory of devices.
  virtual Status run(const HostCollective&) {
    return unimplemented("collectives of this device cannot be called from the host");
  }
};

// Where a rank gets its channels. abort() and a rank's death reach every rank of the job.
class ChannelProvider {
 public:
  virtual ~ChannelProvider() = default;
  virtual int64_t rank() const = 0;
  virtual const Mesh& mesh() const = 0;
  // A collective call in spirit: all members of the group make it, in the same order.
  virtual Result<std::unique_ptr<Channel>> channel(std::span<const uint8_t> axes) = 0;
  // Ends collectives that run or come, on every rank of the job, with ABORTED. Any thread.
  virtual void abort(const Status& cause) = 0;
  // The rank could not make what it wanted the channels for. Where it has no second try in this
  // job, the others are told why, as by an abort; otherwise they go on waiting for it.
  virtual void give_up(const Status&) {}
  // After an abort, and after this rank's streams have drained: the rank's channels work again, as
  // soon as the other ranks have called it as often. An abort ends what ranks do that have reset as
  // often as the one that aborts, and nothing later.
  virtual void reset() = 0;
  // OK, or why the collectives of this job have ended. Any thread; waits for nothing.
  virtual Status async_status() const { return {}; }
  // How often async_status() wants to be asked while collectives may be under way, since time-outs
  // come to light there only. Zero or less: it need not be asked.
  virtual std::chrono::nanoseconds ask_within() const { return {}; }
  // For the message of a time-out: "; rank 3 does not answer: …" of every rank that does not do so
  // within a moment. Empty: all do, or they are in this process. Any thread; waits for the answers.
  virtual std::string silent_ranks() { return {}; }
};

}  // namespace shw::runtime
