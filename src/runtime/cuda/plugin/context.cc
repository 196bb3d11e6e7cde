#include "runtime/cuda/plugin/context.h"

#include <algorithm>

#include "runtime/cuda/plugin/nvrtc.h"

namespace shw::runtime::cuda {
namespace {

constexpr const char* kKernelNames[] = {
#define X(name) #name,
    SHW_CUDA_KERNELS(X)
#undef X
};
constexpr int kMostBlockThreads = 256;        // SHW_MAX_THREADS of the device code
constexpr int kBlocksPerMultiprocessor = 32;  // more than fit at once: the device balances them
constexpr int kLeastMajor = 8;                // sm_80: what the kernels are built and checked for

}  // namespace

Result<std::shared_ptr<Context>> Context::open(const Options& options) {
  std::shared_ptr<Context> context(new Context(options));
  SHW_ASSIGN_OR_RETURN(context->driver_, open_driver(options.folder));
  SHW_RETURN_IF_ERROR(context->open_device());
  const Current current(*context);
  SHW_RETURN_IF_ERROR(context->load_kernels());
  SHW_ASSIGN_OR_RETURN(context->cublaslt_, open_cublaslt(options.folder));
  SHW_RETURN_IF_ERROR(context->cublaslt_.check(
      context->cublaslt_.create(&context->cublaslt_handle_), "starting cuBLASLt"));
  return context;
}

Context::~Context() {
  if (handle_ == nullptr) return;
  {
    const Current current(*this);
    if (cublaslt_handle_ != nullptr) (void)cublaslt_.destroy(cublaslt_handle_);
    if (module_ != nullptr) (void)driver_.unload_module(module_);
  }
  (void)driver_.release_context(ordinal_);
}

Result<int> Context::attribute(DeviceAttribute which) const {
  int value = 0;
  SHW_RETURN_IF_ERROR(driver_.check(driver_.device_attribute(&value, which, ordinal_),
                                    "asking a CUDA device what it can do"));
  return value;
}

Status Context::open_device() {
  int count = 0;
  SHW_RETURN_IF_ERROR(driver_.check(driver_.device_count(&count), "counting CUDA devices"));
  if (options_.index < 0 || options_.index >= count)
    return invalid_argument("CUDA device " + std::to_string(options_.index) +
                            " does not exist: there are " + std::to_string(count));
  SHW_RETURN_IF_ERROR(
      driver_.check(driver_.device_get(&ordinal_, options_.index), "choosing a CUDA device"));
  SHW_ASSIGN_OR_RETURN(const int major, attribute(kCapabilityMajor));
  SHW_ASSIGN_OR_RETURN(const int pools, attribute(kMemoryPoolsSupported));
  SHW_ASSIGN_OR_RETURN(const int unified, attribute(kUnifiedAddressing));
  if (major < kLeastMajor || pools == 0 || unified == 0)
    return unavailable("CUDA device " + std::to_string(options_.index) +
                       " is too old: needs compute capability 8.0 or newer, with memory pools and "
                       "unified addressing; it has " +
                       std::to_string(major) + ".x");
  SHW_ASSIGN_OR_RETURN(const int threads, attribute(kMaxThreadsPerBlock));
  SHW_ASSIGN_OR_RETURN(const int multiprocessors, attribute(kNumMultiprocessors));
  while (block_threads_ * 2 <= std::min(threads, kMostBlockThreads)) block_threads_ *= 2;
  max_blocks_ = std::max(1, multiprocessors) * kBlocksPerMultiprocessor;
  return driver_.check(driver_.retain_context(&handle_, ordinal_), "opening a CUDA device");
}

Status Context::load_kernels() {
  SHW_ASSIGN_OR_RETURN(const Nvrtc nvrtc, open_nvrtc(options_.folder));
  SHW_ASSIGN_OR_RETURN(const int major, attribute(kCapabilityMajor));
  SHW_ASSIGN_OR_RETURN(const int minor, attribute(kCapabilityMinor));
  SHW_ASSIGN_OR_RETURN(const std::string binary, compile_kernels(nvrtc, major, minor));
  SHW_RETURN_IF_ERROR(
      driver_.check(driver_.load_module(&module_, binary.data()), "loading the CUDA kernels"));
  for (size_t i = 0; i < functions_.size(); ++i)
    SHW_RETURN_IF_ERROR(driver_.check(
        driver_.find_function(&functions_[i], module_, kKernelNames[i]), kKernelNames[i]));
  return {};
}

}  // namespace shw::runtime::cuda
