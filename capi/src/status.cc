// shw_status, and what must hold of numbers that C and C++ share.
#include <string_view>
#include <vector>

#include "boundary.h"
#include "tensor/dtype.h"

namespace shw::capi {
namespace {

// The actual type of every status except the constant one.
struct HeapStatus : shw_status {
  std::string message_text, node_text;
  std::vector<std::string> conflict_texts;
  std::vector<const char*> conflict_names;
};

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): its address is a shw_status*
constinit shw_status g_out_of_memory = {
    SHW_RESOURCE_EXHAUSTED, "out of memory", SHW_NONE, "", nullptr, 0, "", 0};

struct NamedCode {
  shw_code c;
  Code cc;
  const char* name;
};
constexpr NamedCode kCodes[] = {
    {SHW_OK, Code::kOk, "OK"},
    {SHW_CANCELLED, Code::kCancelled, "CANCELLED"},
    {SHW_UNKNOWN, Code::kUnknown, "UNKNOWN"},
    {SHW_INVALID_ARGUMENT, Code::kInvalidArgument, "INVALID_ARGUMENT"},
    {SHW_DEADLINE_EXCEEDED, Code::kDeadlineExceeded, "DEADLINE_EXCEEDED"},
    {SHW_NOT_FOUND, Code::kNotFound, "NOT_FOUND"},
    {SHW_ALREADY_EXISTS, Code::kAlreadyExists, "ALREADY_EXISTS"},
    {SHW_PERMISSION_DENIED, Code::kPermissionDenied, "PERMISSION_DENIED"},
    {SHW_RESOURCE_EXHAUSTED, Code::kResourceExhausted, "RESOURCE_EXHAUSTED"},
    {SHW_FAILED_PRECONDITION, Code::kFailedPrecondition, "FAILED_PRECONDITION"},
    {SHW_ABORTED, Code::kAborted, "ABORTED"},
    {SHW_OUT_OF_RANGE, Code::kOutOfRange, "OUT_OF_RANGE"},
    {SHW_UNIMPLEMENTED, Code::kUnimplemented, "UNIMPLEMENTED"},
    {SHW_INTERNAL, Code::kInternal, "INTERNAL"},
    {SHW_UNAVAILABLE, Code::kUnavailable, "UNAVAILABLE"},
    {SHW_DATA_LOSS, Code::kDataLoss, "DATA_LOSS"},
};
constexpr bool codes_agree() {
  for (const NamedCode& code : kCodes)
    if (code.c != static_cast<shw_code>(code.cc)) return false;
  return true;
}
static_assert(codes_agree(), "codes have the same numbers in C and C++");

constexpr std::pair<int32_t, Dtype> kDtypes[] = {
    {SHW_DTYPE_F32, Dtype::kF32},       {SHW_DTYPE_F64, Dtype::kF64},
    {SHW_DTYPE_F16, Dtype::kF16},       {SHW_DTYPE_BF16, Dtype::kBF16},
    {SHW_DTYPE_I8, Dtype::kI8},         {SHW_DTYPE_I16, Dtype::kI16},
    {SHW_DTYPE_I32, Dtype::kI32},       {SHW_DTYPE_I64, Dtype::kI64},
    {SHW_DTYPE_U8, Dtype::kU8},         {SHW_DTYPE_BOOL, Dtype::kBool},
    {SHW_DTYPE_C64, Dtype::kC64},       {SHW_DTYPE_F8E4M3FN, Dtype::kF8E4M3},
    {SHW_DTYPE_F8E5M2, Dtype::kF8E5M2},
};
constexpr bool dtypes_agree() {
  for (const auto& [c, cc] : kDtypes)
    if (c != static_cast<int32_t>(cc)) return false;
  return true;
}
static_assert(dtypes_agree(), "dtypes have the same numbers in C and C++");

}  // namespace

const char* short_path(const char* file) {
  const std::string_view path = file;
  for (const std::string_view top : {"capi/src/", "src/"}) {
    const size_t at = path.rfind(top);
    if (at != std::string_view::npos && (at == 0 || path[at - 1] == '/')) return file + at;
  }
  return file;
}

shw_status* out_of_memory() { return &g_out_of_memory; }

shw_status* to_c(const Status& status) noexcept {
  if (status.ok()) return nullptr;
  try {
    auto heap = std::make_unique<HeapStatus>();
    heap->message_text = status.message();
    heap->node_text = status.node_name();
    if (status.node_index() >= 0)
      heap->message_text +=
          " (node " + std::to_string(status.node_index()) + ", '" + heap->node_text + "')";
    heap->code = static_cast<shw_code>(status.code());
    heap->message = heap->message_text.c_str();
    heap->node_index =
        status.node_index() >= 0 ? static_cast<size_t>(status.node_index()) : SHW_NONE;
    heap->node_name = heap->node_text.c_str();
    heap->conflict_texts.assign(status.conflicts().begin(), status.conflicts().end());
    for (const std::string& name : heap->conflict_texts)
      heap->conflict_names.push_back(name.c_str());
    heap->conflicts = heap->conflict_names.data();
    heap->num_conflicts = heap->conflict_names.size();
    heap->file = short_path(status.loc().file);
    heap->line = status.loc().line;
    return heap.release();
  } catch (...) {
    return out_of_memory();
  }
}

}  // namespace shw::capi

using namespace shw::capi;

shw_code shw_status_code(const shw_status* status) { return status ? status->code : SHW_OK; }

const char* shw_status_code_name(shw_code code) {
  for (const NamedCode& known : kCodes)
    if (known.c == code) return known.name;
  return "UNRECOGNISED";
}

const char* shw_status_message(const shw_status* status) { return status ? status->message : ""; }

size_t shw_status_node_index(const shw_status* status) {
  return status ? status->node_index : SHW_NONE;
}

const char* shw_status_node_name(const shw_status* status) {
  return status ? status->node_name : "";
}

size_t shw_status_num_conflicts(const shw_status* status) {
  return status ? status->num_conflicts : 0;
}

const char* shw_status_conflict(const shw_status* status, size_t index) {
  return index < shw_status_num_conflicts(status) ? status->conflicts[index] : "";
}

const char* shw_status_source_file(const shw_status* status) { return status ? status->file : ""; }

int32_t shw_status_source_line(const shw_status* status) { return status ? status->line : 0; }

void shw_status_destroy(shw_status* status) {
  if (status != out_of_memory()) delete static_cast<HeapStatus*>(status);
}
