// Channels between ranks: what a transport provides for the collectives of a program.
//
// Modelled on NCCL. A collective is a prepared kernel (hal.h): it is launched on a stream, and
// errors are raised in the stream's fault.
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
  // Elements of the *smaller* of input and output: what one member contributes to all_gather and
  // all_reduce, receives from reduce_scatter, sends to each other member in all_to_all, and sends
  // in a permute.
  int64_t count = 0;
  int64_t source = 0, target = 0;  // permute: members to receive from and to send to
  // all_to_all only: each call states the counts per member (HostCollective), and `count` is 0.
  bool by_counts = false;
};

// A collective that runs on the calling thread, on host memory.
struct HostCollective {
  CollectiveSpec spec;
  int64_t node = -1;  // the graph node, for error messages
  const void* input = nullptr;
  void* output = nullptr;
  // For a collective by counts: offsets in elements, one more than there are members. Elements
  // send_offsets[m] to send_offsets[m + 1] of the input go to member m. The data from member m are
  // written to the output from receive_offsets[m] on. A member sends itself as many elements as it
  // receives from itself.
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
  // Runs a collective on the calling thread, which must be the only one that uses the channel.
  // Returns when the collective has ended, with its error if it failed. Allocates nothing in the
  // steady state. UNIMPLEMENTED: the channel's collectives work on device memory.
  virtual Status run(const HostCollective&) {
    return unimplemented("collectives of this device cannot be called from the host");
  }
};

// Creates a rank's channels. abort(), or the death of a rank, ends the collectives of every rank of
// the job.
class ChannelProvider {
 public:
  virtual ~ChannelProvider() = default;
  virtual int64_t rank() const = 0;
  virtual const Mesh& mesh() const = 0;
  // All members of the group must make this call, in the same order relative to their other calls.
  virtual Result<std::unique_ptr<Channel>> channel(std::span<const uint8_t> axes) = 0;
  // Ends running and future collectives on every rank of the job with ABORTED. Any thread.
  virtual void abort(const Status& cause) = 0;
  // Called when this rank failed to create the object that needs the channels. If the rank cannot
  // try again in this job, the other ranks get the reason, as after an abort; otherwise they keep
  // waiting for this rank.
  virtual void give_up(const Status&) {}
  // Call after an abort, once this rank's streams have drained. The rank's channels work again as
  // soon as every other rank has called reset() equally often. An abort affects only the ranks that
  // have called reset() as often as the aborting rank; it does not end later collectives.
  virtual void reset() = 0;
  // OK, or why the collectives of this job have ended. Any thread; waits for nothing.
  virtual Status async_status() const { return {}; }
  // The longest interval between calls of async_status() while collectives may be running:
  // time-outs are detected only in that call. Zero or less: no calls are needed.
  virtual std::chrono::nanoseconds ask_within() const { return {}; }
  // Text for a time-out's error message: "; rank 3 does not answer: …" for every rank that does not
  // answer within a moment. Empty if all answer, or if all ranks are in this process. Any thread;
  // waits for the answers.
  virtual std::string silent_ranks() { return {}; }
};

}  // namespace shw::runtime
