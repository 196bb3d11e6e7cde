#include "ops/signature.h"

#include <algorithm>

namespace shw {
namespace {

bool is_attribute(const Param& p) { return p.kind >= ParamKind::kInt; }

std::string text_of(const Param& p) {
  const std::string name(p.name);
  switch (p.kind) {
    case ParamKind::kTensor:
      return name;
    case ParamKind::kOptionalTensor:
      return name + "?";
    case ParamKind::kTensorOrScalar:
      return name + ": tensor or number";
    case ParamKind::kTensorList:
      return name + "...";
    case ParamKind::kOptionalTensorList:
      return name + "?...";
    case ParamKind::kInt:
      return name + ": int";
    case ParamKind::kFloat:
      return name + ": float";
    case ParamKind::kNumber:
      return name + ": number";
    case ParamKind::kBool:
      return name + ": bool";
    case ParamKind::kInts:
      return name + ": ints";
    case ParamKind::kDtype:
      return name + ": dtype";
    case ParamKind::kString:
      return name + ": string";
    case ParamKind::kIgnored:
      break;
  }
  return name;
}

}  // namespace

std::vector<Param> visible_params(OpKind op) {
  std::vector<Param> params;
  for (const Param& p : op_def(op).params)
    if (p.kind != ParamKind::kIgnored) params.push_back(p);
  std::ranges::stable_partition(params, [](const Param& p) { return !is_attribute(p); });
  return params;
}

std::string signature(OpKind op) {
  std::string text(op_name(op));
  text += '(';
  for (const Param& p : visible_params(op)) text += (text.back() == '(' ? "" : ", ") + text_of(p);
  return text + ')';
}

}  // namespace shw
