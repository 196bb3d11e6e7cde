// shw_op: the operations that graphs may have.
#include <string>

#include "boundary.h"
#include "ops/signature.h"
#include "shardwise/builder.h"

using namespace shw;
using namespace shw::capi;

namespace shw::capi {
namespace {

constexpr size_t kOpParamSize_0_2 = SHW_SIZE_TO(shw_op_param, default_value);
constexpr size_t kFirst = 1;  // skips inputs, which are not an operation
static_assert(static_cast<size_t>(OpKind::kInput) == 0);

shw_param_kind param_kind(ParamKind kind) {
  switch (kind) {
    case ParamKind::kTensor:
      return SHW_PARAM_TENSOR;
    case ParamKind::kOptionalTensor:
    case ParamKind::kTrailingTensor:
      return SHW_PARAM_OPTIONAL_TENSOR;
    case ParamKind::kTensorOrScalar:
      return SHW_PARAM_TENSOR_OR_NUMBER;
    case ParamKind::kTensorList:
      return SHW_PARAM_TENSORS;
    case ParamKind::kOptionalTensorList:
      return SHW_PARAM_OPTIONAL_TENSORS;
    case ParamKind::kInt:
      return SHW_PARAM_INT;
    case ParamKind::kFloat:
      return SHW_PARAM_FLOAT;
    case ParamKind::kNumber:
      return SHW_PARAM_NUMBER;
    case ParamKind::kBool:
      return SHW_PARAM_BOOL;
    case ParamKind::kInts:
      return SHW_PARAM_INTS;
    case ParamKind::kDtype:
      return SHW_PARAM_DTYPE;
    case ParamKind::kString:
      return SHW_PARAM_STRING;
    case ParamKind::kIgnored:  // not visible
      break;
  }
  return 0;
}

int32_t is_required(const Param& p) {
  return p.required() || p.kind == ParamKind::kTensor || p.kind == ParamKind::kTensorOrScalar;
}

OpKind kind_of(size_t op) { return static_cast<OpKind>(op + kFirst); }

}  // namespace
}  // namespace shw::capi

size_t shw_op_count(void) { return static_cast<size_t>(OpKind::kCount) - kFirst; }

const char* shw_op_name(size_t op) {
  return op < shw_op_count() ? op_name(kind_of(op)).data() : "";  // a literal
}

shw_status* shw_op_find(const char* name, size_t* out_op) {
  return fill_value(
      out_op, "out_op",
      [&](size_t& op) -> Status {
        SHW_WANT(name);
        const std::optional<OpKind> kind = op_from_name(name);
        if (!kind || *kind == OpKind::kInput) return unknown_op(name);
        op = static_cast<size_t>(*kind) - kFirst;
        return {};
      },
      SHW_NONE);
}

size_t shw_op_num_params(size_t op) {
  if (op >= shw_op_count()) return 0;
  const auto params = op_def(kind_of(op)).params;
  return static_cast<size_t>(
      std::ranges::count_if(params, [](const Param& p) { return p.kind != ParamKind::kIgnored; }));
}

void shw_op_param_init(shw_op_param* param, size_t size) { init_struct(param, size); }

shw_status* shw_op_get_param(size_t op, size_t index, shw_op_param* out_param) {
  return fill_struct(out_param, "out_param", kOpParamSize_0_2, [&](auto& out) -> Status {
    SHW_RETURN_IF_ERROR(check_index(op, shw_op_count(), "operation"));
    const std::vector<Param> params = visible_params(kind_of(op));
    SHW_RETURN_IF_ERROR(check_index(index, params.size(), "parameter"));
    out.name = params[index].name.data();  // a literal
    out.kind = param_kind(params[index].kind);
    out.required = is_required(params[index]);
    if (!params[index].required() && !params[index].otherwise.empty())
      out.default_value = params[index].otherwise.data();  // a literal
    return {};
  });
}
