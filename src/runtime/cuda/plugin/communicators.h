// The NCCL communicators of one rank, and the thread that makes and watches them.
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/channel.h"
#include "runtime/collective/log.h"
#include "runtime/cuda/plugin/collective_graph.h"
#include "runtime/cuda/plugin/context.h"
#include "runtime/cuda/plugin/nccl.h"
#include "runtime/cuda/plugin/stream.h"
#include "runtime/cuda/plugin/underway.h"

namespace shw::runtime::cuda {

// A group that this rank is in, and its communicator.
struct Group {
  GroupName name{};
  int64_t first_rank = 0;                   // the group's smallest rank; its colour for NCCL
  int64_t member = 0, size = 1;             // this rank's number in the group; the group's size
  NcclCommunicator communicator = nullptr;  // null: not made yet, or aborted
  uint64_t num_collectives = 0;             // dispatched
  Underway underway;
  struct Registration {
    const void* begin;
    void* handle;
  };
  std::vector<Registration> registered;  // ranges registered with this communicator
  uint64_t registered_at = 0;            // the RegisteredMemory::changes() it has seen
  // Number of finished collectives in graphs: pinned memory that a kernel increments.
  unsigned* counted = nullptr;
};

class Communicators final : public RegisteredMemory::User {
 public:
  static Result<std::shared_ptr<Communicators>> create(std::shared_ptr<Context> context,
                                                       std::shared_ptr<ChannelProvider> control,
                                                       Timeout timeout);
  ~Communicators();

  int64_t rank() const { return control_->rank(); }
  const Mesh& mesh() const { return control_->mesh(); }
  const Nccl& nccl() const { return nccl_; }
  Context& context() const { return *context_; }

  // The group along `axes` that contains this rank. Its communicator is made later.
  Result<std::shared_ptr<Group>> add_group(std::span<const uint8_t> axes);

  // Calls `put(communicator)`, which enqueues a collective on the stream, once the group's
  // communicator exists. Then watches the collective.
  template <class F>
  Status dispatch(Group& group, const CollectiveRecord& record, StreamHandle stream, F&& put) {
    std::unique_lock lock(mutex_);
    SHW_RETURN_IF_ERROR(put_on_stream(lock, group, [&](NcclCommunicator c) {
      const NcclError error = register_memory(group);
      return error == kNcclSuccess ? put(c) : error;
    }));
    return watch(group, record, stream);
  }

  // Like dispatch(), on a stream that is being captured: the collective is watched from each launch
  // of the graph on. The first call of a capture creates `graph`. NCCL itself registers the memory
  // of graphs.
  template <class F>
  static Status capture(const std::shared_ptr<Communicators>& job,
                        std::shared_ptr<CollectiveGraph>& graph,
                        const std::shared_ptr<Group>& group, const CollectiveRecord& record,
                        CudaStream& stream, F&& put) {
    std::unique_lock lock(job->mutex_);
    SHW_RETURN_IF_ERROR(job->put_on_stream(lock, *group, put));
    return job->note(job, graph, group, record, stream);
  }
  // Call when the graph of these collectives has been instantiated. ABORTED: its communicators have
  // been ended.
  Status adopt(const std::shared_ptr<CollectiveGraph>& graph, GraphExecHandle exec);
  Status launch(CollectiveGraph& graph, StreamHandle stream);
  bool is_usable(const CollectiveGraph& graph) const;
  void end(CollectiveGraph& graph);

  void forget(const void* begin) override;

  void abort(const Status& cause);
  void reset();
  Status async_status() const;

 private:
  using Clock = std::chrono::steady_clock;

  Communicators(std::shared_ptr<Context> context, std::shared_ptr<ChannelProvider> control,
                Timeout timeout)
      : context_(std::move(context)), control_(std::move(control)), timeout_(timeout) {}
  Status start();
  template <class F>
  Status put_on_stream(std::unique_lock<std::mutex>& lock, const Group& group, F&& put) {
    SHW_RETURN_IF_ERROR(wait_until_ready(lock, group));
    SHW_RETURN_IF_ERROR(with_cause(lock, nccl_.check(put(group.communicator), "a collective")));
    return wait_until_put(lock, group);
  }
  Status note(const std::shared_ptr<Communicators>& job, std::shared_ptr<CollectiveGraph>& graph,
              const std::shared_ptr<Group>& group, const CollectiveRecord& record,
              CudaStream& stream);
  NcclError register_memory(Group& group);
  static CollectiveRecord numbered(Group& group, const CollectiveRecord& record);
  Status wait_until_ready(std::unique_lock<std::mutex>& lock, const Group& group);
  Status with_cause(std::unique_lock<std::mutex>& lock, Status status);
  Status wait_until_put(std::unique_lock<std::mutex>& lock, const Group& group);
  Status watch(Group& group, const CollectiveRecord& record, StreamHandle stream);

  // For the thread. `lock` is held at the start and at the end, and released while waiting for
  // other ranks.
  void serve();
  Status work(std::unique_lock<std::mutex>& lock);
  void end_job(const Status& cause) noexcept;
  bool must_build() const;
  bool is_watching() const;
  Status build(std::unique_lock<std::mutex>& lock);
  Status join_all(std::unique_lock<std::mutex>& lock);
  Status split(std::unique_lock<std::mutex>& lock, Group& group);
  Status finish_init(std::unique_lock<std::mutex>& lock, NcclCommunicator communicator);
  Result<NcclId> exchange_id();
  Status look_for_errors();
  Status look_at_the_clock();
  void add_silent_ranks(std::unique_lock<std::mutex>& lock, Status& status) noexcept;
  // Aborts every communicator, and destroys every graph that contains their collectives. `lock` is
  // held at the start and at the end.
  void end_all(std::unique_lock<std::mutex>& lock);

  const std::shared_ptr<Context> context_;
  const std::shared_ptr<ChannelProvider> control_;
  const Timeout timeout_;
  Nccl nccl_;
  NcclRegistration registration_;             // empty: this NCCL has no registration
  std::unique_ptr<PreparedKernel> exchange_;  // exchanges ids in host memory
  int64_t num_ranks_ = 1, member_ = 0;        // of the communicator of all ranks

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  NcclCommunicator all_ = nullptr;
  std::vector<std::shared_ptr<Group>> groups_;
  std::vector<NcclCommunicator> ending_;  // communicators being aborted; has room for all
  std::vector<std::shared_ptr<CollectiveGraph>> graphs_;
  uint64_t generation_ = 0;  // number of times that all communicators ended
  Status failure_;           // reason why there are no communicators
  bool is_building_ = false, is_ending_ = false, is_stopping_ = false;
  bool must_look_ = false;  // check for errors now: this rank aborted the job
  CollectiveLog log_;
  std::thread thread_;
};

}  // namespace shw::runtime::cuda
