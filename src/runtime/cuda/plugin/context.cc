#include "runtime/cuda/plugin/context.h"

#include <algorithm>

#include "runtime/cuda/plugin/kernels/arguments.h"

namespace shw::runtime::cuda {
namespace {

constexpr const char* kProgramNames[] = {
#define X(name) #name,
    SHW_CUDA_PROGRAMS(X)
#undef X
};
struct KernelPlace {
  DeviceProgram program;
  const char* name;
};
constexpr KernelPlace kKernels[] = {
#define X(program, name) {DeviceProgram::program, #name},
    SHW_CUDA_KERNELS(X)
#undef X
};
// More than fit at once, so that the device can balance the load.
constexpr int kBlocksPerMultiprocessor = 32;
constexpr int kLeastMajor = 8;  // sm_80: the kernels are built and checked for it

}  // namespace

Result<std::shared_ptr<Context>> Context::open(const Options& options) {
  std::shared_ptr<Context> context(new Context(options));
  SHW_ASSIGN_OR_RETURN(context->cache_, ProgramCache::open(options.kernel_cache));
  SHW_ASSIGN_OR_RETURN(context->driver_, open_driver(options.folder));
  SHW_RETURN_IF_ERROR(context->open_device());
  const Current current(*context);
  SHW_ASSIGN_OR_RETURN(context->nvrtc_, open_nvrtc(options.folder));
  SHW_ASSIGN_OR_RETURN(context->cublaslt_, open_cublaslt(options.folder));
  SHW_RETURN_IF_ERROR(context->cublaslt_.check(
      context->cublaslt_.create(&context->cublaslt_handle_), "starting cuBLASLt"));
  return context;
}

Context::~Context() {
  if (handle_ == nullptr) return;
  {
    const Current current(*this);
    cudnn_ = nullptr;
    if (cublaslt_handle_ != nullptr) (void)cublaslt_.destroy(cublaslt_handle_);
    for (ModuleHandle module : modules_)
      if (module != nullptr) (void)driver_.unload_module(module);
    for (const auto& item : generated_) (void)driver_.unload_module(item.second);
  }
  (void)driver_.release_context(ordinal_);
}

SharedCudnn* Context::cudnn() const {
  std::call_once(cudnn_opened_, [this] {
    const Current current(*this);
    cudnn_ = SharedCudnn::open(options_.folder);
  });
  return cudnn_.get();
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
  char name[256] = {};
  SHW_RETURN_IF_ERROR(
      driver_.check(driver_.device_name(name, sizeof name - 1, ordinal_), "naming a CUDA device"));
  name_ = name;
  SHW_ASSIGN_OR_RETURN(major_, attribute(kCapabilityMajor));
  SHW_ASSIGN_OR_RETURN(minor_, attribute(kCapabilityMinor));
  SHW_ASSIGN_OR_RETURN(const int pools, attribute(kMemoryPoolsSupported));
  SHW_ASSIGN_OR_RETURN(const int unified, attribute(kUnifiedAddressing));
  if (major_ < kLeastMajor || pools == 0 || unified == 0)
    return unavailable("CUDA device " + std::to_string(options_.index) +
                       " is too old: needs compute capability 8.0 or newer, with memory pools and "
                       "unified addressing; it has " +
                       std::to_string(major_) + ".x");
  SHW_ASSIGN_OR_RETURN(const int threads, attribute(kMaxThreadsPerBlock));
  SHW_ASSIGN_OR_RETURN(const int multiprocessors, attribute(kNumMultiprocessors));
  while (block_threads_ * 2 <= std::min(threads, kMostBlockThreads)) block_threads_ *= 2;
  max_blocks_ = std::max(1, multiprocessors) * kBlocksPerMultiprocessor;
  return driver_.check(driver_.retain_context(&handle_, ordinal_), "opening a CUDA device");
}

Status Context::load(unsigned programs) {
  std::lock_guard lock(mutex_);
  const Current current(*this);
  for (size_t p = 0; p < modules_.size(); ++p)
    if ((programs >> p & 1) != 0 && modules_[p] == nullptr)
      SHW_RETURN_IF_ERROR(load_program(static_cast<DeviceProgram>(p)));
  return {};
}

Result<ModuleHandle> Context::load_text(const std::string& name, const std::string& text) {
  std::string program;
  if (cache_.is_open()) {
    SHW_ASSIGN_OR_RETURN(program, program_description(nvrtc_, text, major_, minor_));
  }
  // A cached binary that the driver rejects is compiled anew, whatever the reason.
  if (const auto known = cache_.find(program))
    if (auto module = load_binary(*known); module.ok()) return module;
  SHW_ASSIGN_OR_RETURN(const std::string binary,
                       compile_program(nvrtc_, name, text, major_, minor_));
  SHW_ASSIGN_OR_RETURN(ModuleHandle module, load_binary(binary));
  cache_.keep(program, binary);
  return module;
}

Result<ModuleHandle> Context::load_binary(const std::string& binary) {
  ModuleHandle module = nullptr;
  SHW_RETURN_IF_ERROR(
      driver_.check(driver_.load_module(&module, binary.data()), "loading CUDA kernels"));
  return module;
}

Result<FunctionHandle> Context::load_source(const std::string& text, const char* kernel) {
  std::lock_guard lock(mutex_);
  const Current current(*this);
  ModuleHandle& module = generated_[text];
  if (module == nullptr) {
    auto loaded = load_text(kernel, text);
    if (!loaded.ok()) {
      generated_.erase(text);
      return loaded.status();
    }
    module = *loaded;
  }
  FunctionHandle function = nullptr;
  SHW_RETURN_IF_ERROR(driver_.check(driver_.find_function(&function, module, kernel), kernel));
  return function;
}

Status Context::load_program(DeviceProgram program) {
  const auto p = static_cast<size_t>(program);
  const std::string name = kProgramNames[p];
  SHW_ASSIGN_OR_RETURN(ModuleHandle module, load_text(name, "#include \"" + name + ".cuh\"\n"));
  Status status;
  for (size_t k = 0; k < functions_.size() && status.ok(); ++k)
    if (kKernels[k].program == program)
      status = driver_.check(driver_.find_function(&functions_[k], module, kKernels[k].name),
                             kKernels[k].name);
  if (status.ok())
    modules_[p] = module;
  else
    (void)driver_.unload_module(module);
  return status;
}

}  // namespace shw::runtime::cuda
