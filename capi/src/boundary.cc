#include "boundary.h"

#include <exception>
#include <new>

namespace shw::capi {

shw_status* caught() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::exception& e) {
    return to_c(Status(Code::kInternal, e.what()));
  } catch (...) {
    return to_c(Status(Code::kInternal, "an exception of unknown type"));
  }
}

Status null_argument(const char* name, SourceLoc loc) {
  return {Code::kInvalidArgument, std::string(name) + " is NULL", loc};
}

Status check_struct_size(size_t size, size_t min_size) {
  if (size >= min_size && size <= kMaxStructSize) return {};
  return invalid_argument("struct_size is " + std::to_string(size) + ", expected at least " +
                          std::to_string(min_size) +
                          ": was it set by the INIT macro or the _init function?");
}

Status clear_out(void* out, size_t size, size_t min_size) {
  SHW_RETURN_IF_ERROR(check_struct_size(size, min_size));
  std::memset(static_cast<unsigned char*>(out) + sizeof(size_t), 0, size - sizeof(size_t));
  return {};
}

Status too_new() {
  return invalid_argument("a field is set that this library, version " +
                          std::string(shw_version_string()) + ", is too old to know");
}

Status check_index(size_t index, size_t count, const char* what, SourceLoc loc) {
  if (index < count) return {};
  const std::string range =
      count == 0 ? "there is none" : "expected 0 to " + std::to_string(count - 1);
  return {Code::kOutOfRange,
          std::string(what) + " " + (index == SHW_NONE ? "SHW_NONE" : std::to_string(index)) +
              " is out of range: " + range,
          loc};
}

Status check_flags(uint64_t flags, uint64_t known, SourceLoc loc) {
  if ((flags & ~known) == 0) return {};
  return {Code::kInvalidArgument, "unknown flags: " + std::to_string(flags & ~known), loc};
}

Status check_reserved(int64_t value, SourceLoc loc) {
  if (value == 0) return {};
  return {Code::kInvalidArgument, "a reserved field is not 0", loc};
}

}  // namespace shw::capi
