// CUDA's streams.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/cuda/plugin/event.h"
#include "runtime/cuda/plugin/kernels/arguments.h"

namespace shw::runtime::cuda {

// Enqueues a copy. The device's context must be current on this thread.
Status copy_on(const Driver& driver, StreamHandle stream, void* to, const void* from, int64_t bytes,
               CopyKind kind);

class CudaStream;
struct CollectiveGraph;
// The streams that take part in a capture; the first one began it. During a capture the driver must
// not be asked for their progress.
struct Capture {
  std::vector<CudaStream*> streams;
  std::shared_ptr<CollectiveGraph> collectives = {};  // null: none
  Status error =
      // The error of the first call that failed. During the capture it is unknown whether the
      // device is lost.
      {};
};

class CudaStream final : public Stream {
 public:
  static Result<std::unique_ptr<Stream>> create(std::shared_ptr<Context> context,
                                                const StreamOptions& options);
  ~CudaStream() override;

  void record(Event& event) override;
  void wait(const Event& event) override;
  void host(HostWork& work, void* const* buffers) override;
  // Host memory should be MemoryKind::kHost; with other memory the driver blocks.
  void copy(void* to, const void* from, int64_t bytes, CopyKind kind) override;
  void fill(void* to, std::byte value, int64_t bytes) override;
  Result<void*> allocate(const MemorySpec& spec) override;
  void free(void* memory, const MemorySpec& spec) override;
  void flush() override {}
  Status synchronize() override;
  Status status() const override;
  void count() override;
  Counts counts() const override;
  Status begin_capture() override;
  Result<std::unique_ptr<Graph>> end_capture(std::unique_ptr<Graph> known) override;
  void* native() const override { return handle_; }
  StreamHandle handle() const { return handle_; }

  // If `status` is not OK, raises it in the fault as an error of the step `origin`. If the device
  // is lost, the error belongs to an earlier step, because any call may return it. During a capture
  // the error becomes the result of the capture.
  void raise(Status status, const StepOrigin& origin = {});
  bool is_poisoned() const {
    return fault_.raised() || (capture_ != nullptr && !capture_->error.ok());
  }
  // Launches a kernel of kernels/. `parameters`: a pointer to each of its parameters.
  Status launch(DeviceKernel kernel, int64_t blocks, int threads, void** parameters) {
    return launch(context_->function(kernel), blocks, threads, parameters);
  }
  Status launch(FunctionHandle function, int64_t blocks, int threads, void** parameters);
  // Where kernels report invalid values, such as indices out of range.
  DeviceError* errors() const { return &page_->error; }
  const Context& context() const { return *context_; }
  // Null: the stream is not being captured. Only for the thread that enqueues.
  Capture* capture() const { return capture_.get(); }

 private:
  struct HostCall {
    HostWork* work = nullptr;
    void* const* buffers = nullptr;
    Fault* fault = nullptr;
    std::atomic<bool> pending{false};
  };
  CudaStream(std::shared_ptr<Context> context, const StreamOptions& options);
  static void call_host(void* call);
  HostCall& free_call();
  void join(std::shared_ptr<Capture> capture);
  // Makes a graph object after a capture.
  Result<std::unique_ptr<Graph>> make_graph(GraphHandle graph,
                                            std::shared_ptr<CollectiveGraph> collectives,
                                            std::unique_ptr<Graph> known) const;
  Status lost() const;  // OK: the device is not lost
  // An error that a kernel has reported since the fault was cleared; only the first caller gets it.
  Status reported() const;

  const std::shared_ptr<Context> context_;
  Fault& fault_;
  StreamHandle handle_ = nullptr;
  bool is_own_ = false;
  // Pinned memory, so that the host can read it even if the device is lost.
  struct Page {
    DeviceError error;
    unsigned reached;  // the stream's count, modulo 2^32
  };
  Page* page_ = nullptr;
  std::atomic<bool> counts_{true};  // false: this device cannot write values in stream order
  std::atomic<uint64_t> put_{0};    // places put into the stream so far
  std::vector<HostCall> calls_;     // a ring
  size_t next_call_ = 0;
  mutable std::mutex mutex_;  // guards was_told_
  mutable bool was_told_ = false;
  mutable std::mutex capture_mutex_;  // guards capture_; held during queries of the driver
  std::shared_ptr<Capture> capture_;  // null: the stream is not being captured
};

}  // namespace shw::runtime::cuda
