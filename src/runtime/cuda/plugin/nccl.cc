#include "runtime/cuda/plugin/nccl.h"

namespace shw::runtime::cuda {
namespace {

#define SHW_ENTRY_TABLE Nccl
const EntryPoint kNcclEntryPoints[] = {SHW_CUDA_NCCL(SHW_ENTRY_POINT)};
#undef SHW_ENTRY_TABLE
#define SHW_ENTRY_TABLE NcclRegistration
const EntryPoint kRegistrationEntryPoints[] = {SHW_CUDA_NCCL_REGISTRATION(SHW_ENTRY_POINT)};
#undef SHW_ENTRY_TABLE

const LibraryKind kNccl = {
    "NCCL",
    {"libnccl.so.2"},
    "install NCCL 2.18 or newer (the Python package nvidia-nccl-cu13 has it) "
    "where the system looks for libraries"};
constexpr int kLeastNcclVersion = 21800;  // the first version with ncclCommSplit

std::string nccl_version(int v) {
  return std::to_string(v / 10000) + "." + std::to_string(v % 10000 / 100) + "." +
         std::to_string(v % 100);
}

}  // namespace

Status Nccl::check(NcclError error, const char* what, SourceLoc loc) const {
  if (error == kNcclSuccess || error == kNcclInProgress) return {};
  return {error == kNcclRemoteError ? Code::kAborted : Code::kInternal,
          std::string(what) + ": NCCL: " + error_text(error) + " (" + std::to_string(error) + ")",
          loc};
}

Result<Nccl> open_nccl(const std::string& folder) {
  Nccl nccl;
  SHW_RETURN_IF_ERROR(open_library(kNccl, folder, kNcclEntryPoints, &nccl));
  int version = 0;
  SHW_RETURN_IF_ERROR(nccl.check(nccl.version(&version), "asking for the version"));
  if (version < kLeastNcclVersion)
    return unavailable("needs NCCL " + nccl_version(kLeastNcclVersion) + " or newer, found " +
                       nccl_version(version) + " at " +
                       library_file(reinterpret_cast<const void*>(nccl.version)) + ": " +
                       kNccl.remedy);
  return nccl;
}

NcclRegistration open_nccl_registration(const std::string& folder) {
  NcclRegistration registration;
  if (open_library(kNccl, folder, kRegistrationEntryPoints, &registration).ok())
    return registration;
  return {};
}

}  // namespace shw::runtime::cuda
