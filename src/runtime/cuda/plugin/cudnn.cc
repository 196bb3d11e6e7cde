#include "runtime/cuda/plugin/cudnn.h"

namespace shw::runtime::cuda {
namespace {

#define SHW_ENTRY_TABLE Cudnn
const EntryPoint kCudnnEntryPoints[] = {SHW_CUDA_CUDNN(SHW_ENTRY_POINT)};
#undef SHW_ENTRY_TABLE

const LibraryKind kCudnn = {"cuDNN",
                            {"libcudnn.so.9"},
                            "install cuDNN 9 (the Python package nvidia-cudnn-cu12 or -cu13) where "
                            "the system looks for libraries"};
constexpr size_t kLeastCudnnVersion = 90000;

}  // namespace

Status Cudnn::check(CudnnError error, const char* what, SourceLoc loc) const {
  if (error == 0) return {};
  return {Code::kInternal, std::string(what) + ": cuDNN status " + std::to_string(error), loc};
}

Result<Cudnn> open_cudnn(const std::string& folder) {
  Cudnn cudnn;
  SHW_RETURN_IF_ERROR(open_library(kCudnn, folder, kCudnnEntryPoints, &cudnn));
  if (const size_t version = cudnn.version(); version < kLeastCudnnVersion)
    return unavailable("needs cuDNN 9 or newer, found " + std::to_string(version) + " at " +
                       library_file(reinterpret_cast<const void*>(cudnn.version)) + ": " +
                       kCudnn.remedy);
  return cudnn;
}

std::unique_ptr<SharedCudnn> SharedCudnn::open(const std::string& folder) {
  const auto api = open_cudnn(folder);
  if (!api.ok()) return nullptr;
  CudnnHandle handle = nullptr;
  if (api->create(&handle) != 0) return nullptr;
  return std::unique_ptr<SharedCudnn>(new SharedCudnn(*api, handle));
}

SharedCudnn::~SharedCudnn() { (void)api_.destroy(handle_); }

}  // namespace shw::runtime::cuda
