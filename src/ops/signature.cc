#include "ops/signature.h"

#include <algorithm>
#include <utility>

#include "support/similar.h"

namespace shw {
namespace {

bool is_attribute(const Param& p) { return p.kind >= ParamKind::kInt; }

// An attribute: "dim: int", "dim: int = -1", or "max: number?" where absence is a meaning.
std::string attribute_text(const Param& p, const char* kind) {
  std::string text = std::string(p.name) + ": " + kind;
  if (p.required()) return text;
  return p.otherwise.empty() ? text + "?" : text + " = " + std::string(p.otherwise);
}

}  // namespace

bool is_operand_list(ParamKind kind) {
  return kind == ParamKind::kTensorList || kind == ParamKind::kOptionalTensorList;
}

bool is_operand(ParamKind kind) {
  return kind == ParamKind::kTensor || kind == ParamKind::kOptionalTensor ||
         is_operand_list(kind) || kind == ParamKind::kTensorOrScalar ||
         kind == ParamKind::kTrailingTensor;
}

std::string text_of(const Param& p) {
  const std::string name(p.name);
  switch (p.kind) {
    case ParamKind::kTensor:
      return name;
    case ParamKind::kOptionalTensor:
    case ParamKind::kTrailingTensor:
      return name + "?";
    case ParamKind::kTensorOrScalar:
      return name + ": tensor or number";
    case ParamKind::kTensorList:
      return name + "...";
    case ParamKind::kOptionalTensorList:
      return name + "?...";
    case ParamKind::kInt:
      return attribute_text(p, "int");
    case ParamKind::kFloat:
      return attribute_text(p, "float");
    case ParamKind::kNumber:
      return attribute_text(p, "number");
    case ParamKind::kBool:
      return attribute_text(p, "bool");
    case ParamKind::kInts:
      return attribute_text(p, "ints");
    case ParamKind::kDtype:
      return attribute_text(p, "dtype");
    case ParamKind::kString:
      return attribute_text(p, "string");
    case ParamKind::kIgnored:
      break;
  }
  return name;
}

std::vector<Param> visible_params(OpKind op) {
  std::vector<Param> params;
  for (const Param& p : op_def(op).params)
    if (p.kind != ParamKind::kIgnored) params.push_back(p);
  std::stable_partition(params.begin(), params.end(),
                        [](const Param& p) { return !is_attribute(p); });
  return params;
}

std::string signature(OpKind op) {
  std::string text(op_name(op));
  text += '(';
  for (const Param& p : visible_params(op)) text += (text.back() == '(' ? "" : ", ") + text_of(p);
  return text + ')';
}

std::string known_attributes(OpKind op) {
  std::string text;
  for (const Param& p : visible_params(op))
    if (is_attribute(p) || p.kind == ParamKind::kTensorOrScalar)
      text += (text.empty() ? "; it has: " : ", ") + std::string(p.name);
  return text.empty() ? "; it has none" : text;
}

Status unknown_op(std::string_view name) {
  // What people call them elsewhere.
  static constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
      {"matmul", "mm, or bmm for batches"},
      {"dot", "mm, or einsum"},
      {"linear", "mm or addmm, or einsum"},
      {"multiply", "mul"},
      {"subtract", "sub"},
      {"divide", "div"},
      {"reshape", "view"},
      {"mse_loss", "sub, mul and mean"},
      {"relu_backward", "threshold_backward with threshold 0"},
      {"sgd", "mul and sub, and an output of role update"},
      {"adam", "mul, add, sqrt, div and sub, and outputs of role update"},
      {"attention", "sdpa"},
      {"scaled_dot_product_attention", "sdpa"},
      {"paged_attention", "sdpa_paged"},
      {"layer_norm", "native_layer_norm"},
      {"dropout", "native_dropout"},
      {"arange", "iota"},
      {"cast", "convert_element_type"},
  };
  std::string message = "there is no operation '" + std::string(name) + "'";
  const auto* known = std::ranges::find(kElsewhere, name, [](const auto& e) { return e.first; });
  if (known != std::end(kElsewhere)) {
    message += "; use " + std::string(known->second);
  } else {
    std::vector<std::string> names;
    for (size_t i = 1; i < static_cast<size_t>(OpKind::kCount); ++i)  // 0: input
      names.emplace_back(op_name(static_cast<OpKind>(i)));
    message += did_you_mean(name, std::move(names));
  }
  return {Code::kNotFound, std::move(message)};
}

}  // namespace shw
