// One CUDA device in this process: the driver, the device's primary context, the compiled kernels
// and cuBLASLt. The device's streams, events, kernels and channels share it.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/cuda/options.h"
#include "runtime/cuda/plugin/cublaslt.h"
#include "runtime/cuda/plugin/cudnn.h"
#include "runtime/cuda/plugin/driver.h"
#include "runtime/cuda/plugin/kernels/names.h"
#include "runtime/cuda/plugin/nvrtc.h"
#include "runtime/cuda/plugin/program_cache.h"
#include "runtime/cuda/plugin/registered_memory.h"

namespace shw::runtime::cuda {

inline constexpr size_t kMemoryAlignment = 256;  // alignment of device memory from the driver

enum class DeviceProgram : unsigned {
#define X(name) name,
  SHW_CUDA_PROGRAMS(X)
#undef X
      kCount
};
// A set of programs.
constexpr unsigned programs() { return 0; }
template <class... P>
constexpr unsigned programs(DeviceProgram first, P... rest) {
  return 1u << static_cast<unsigned>(first) | programs(rest...);
}

enum class DeviceKernel : int {
#define X(program, name) name,
  SHW_CUDA_KERNELS(X)
#undef X
      kCount
};

class Context {
 public:
  // UNAVAILABLE: a library is missing or too old, or the device does not exist; the message says
  // what to do.
  static Result<std::shared_ptr<Context>> open(const Options& options);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Driver& driver() const { return driver_; }
  const CublasLt& cublaslt() const { return cublaslt_; }
  CublasLtHandle cublaslt_handle() const { return cublaslt_handle_; }
  // Null: cuDNN is missing. It is large, so it is loaded at the first call. Any thread.
  SharedCudnn* cudnn() const;
  const Options& options() const { return options_; }
  RegisteredMemory& registered() { return registered_; }
  Ordinal ordinal() const { return ordinal_; }
  const std::string& name() const { return name_; }
  // Compiles and loads those programs of a set that are not loaded yet. This takes seconds, so it
  // is done when a step is prepared. Any thread.
  Status load(unsigned programs);
  // Finds a kernel in generated device code, which is compiled and loaded once. Any thread.
  Result<FunctionHandle> load_source(const std::string& text, const char* kernel);
  // The kernel's program must be loaded.
  FunctionHandle function(DeviceKernel kernel) const {
    return functions_[static_cast<size_t>(kernel)];
  }
  // The block size of kernels whose threads cooperate: a power of two.
  int block_threads() const { return block_threads_; }
  // The maximum number of blocks of a launch; kernels loop over the rest.
  int max_blocks() const { return max_blocks_; }

 private:
  friend class Current;
  explicit Context(const Options& options) : options_(options) {}
  Status open_device();
  Status load_program(DeviceProgram program);
  Result<ModuleHandle> load_text(const std::string& name, const std::string& text);
  Result<ModuleHandle> load_binary(const std::string& binary);
  Result<int> attribute(DeviceAttribute which) const;

  const Options options_;
  Driver driver_;
  CublasLt cublaslt_;
  CublasLtHandle cublaslt_handle_ = nullptr;
  mutable std::once_flag cudnn_opened_;
  mutable std::unique_ptr<SharedCudnn> cudnn_;
  Ordinal ordinal_ = 0;
  std::string name_;
  ContextHandle handle_ = nullptr;
  Nvrtc nvrtc_;
  ProgramCache cache_;
  RegisteredMemory registered_;
  int major_ = 0, minor_ = 0;  // the device's compute capability
  std::mutex mutex_;           // held while programs are loaded
  std::array<ModuleHandle, static_cast<size_t>(DeviceProgram::kCount)> modules_{};
  std::array<FunctionHandle, static_cast<size_t>(DeviceKernel::kCount)> functions_{};
  std::map<std::string, ModuleHandle> generated_;  // by source text
  int block_threads_ = 1, max_blocks_ = 1;
};

// Makes a context current on the calling thread for a scope, and restores the previous one.
class Current {
 public:
  explicit Current(const Context& context) : driver_(context.driver_) {
    pushed_ = driver_.push_context(context.handle_) == kDriverSuccess;
  }
  ~Current() {
    ContextHandle ours;
    if (pushed_) (void)driver_.pop_context(&ours);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  const Driver& driver_;
  bool pushed_;
};

}  // namespace shw::runtime::cuda
