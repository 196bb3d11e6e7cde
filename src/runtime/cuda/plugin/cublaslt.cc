#include "runtime/cuda/plugin/cublaslt.h"

namespace shw::runtime::cuda {
namespace {

#define SHW_ENTRY_TABLE CublasLt
const EntryPoint kCublasLtEntryPoints[] = {SHW_CUDA_CUBLASLT(SHW_ENTRY_POINT)};
#undef SHW_ENTRY_TABLE

const LibraryKind kCublasLt = {"cuBLASLt",
                               {"libcublasLt.so.13", "libcublasLt.so.12"},
                               "install cuBLAS 12 or newer (of the CUDA toolkit, or the Python "
                               "package nvidia-cublas) where the system looks for libraries"};
constexpr size_t kLeastCublasLtVersion = 120000;

}  // namespace

Status CublasLt::check(CublasError error, const char* what, SourceLoc loc) const {
  if (error == 0) return {};
  return {Code::kInternal, std::string(what) + ": cuBLAS status " + std::to_string(error), loc};
}

Result<CublasLt> open_cublaslt(const std::string& folder) {
  CublasLt cublaslt;
  SHW_RETURN_IF_ERROR(open_library(kCublasLt, folder, kCublasLtEntryPoints, &cublaslt));
  if (const size_t version = cublaslt.version(); version < kLeastCublasLtVersion)
    return unavailable("needs cuBLASLt 12 or newer, found " + std::to_string(version) + " at " +
                       library_file(reinterpret_cast<const void*>(cublaslt.version)) + ": " +
                       kCublasLt.remedy);
  return cublaslt;
}

}  // namespace shw::runtime::cuda
