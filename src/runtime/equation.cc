#include "runtime/equation.h"

#include <algorithm>
#include <string>

#include "runtime/step_args.h"
#include "support/stable_sort.h"

namespace shw::runtime {
namespace {

Status add_subscripts(std::string_view text, const TensorType& type, Operand which,
                      Letters& letters) {
  if (text.size() != type.shape.size())
    return bad_types("'" + std::string(text) + "' does not name the dims of " + to_string(type));
  for (size_t d = 0; d < text.size(); ++d) {
    const char c = text[d];
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
      return unimplemented("einsum with '" + std::string(1, c) + "' in its equation");
    auto it =
        std::find_if(letters.begin(), letters.end(), [&](const Letter& l) { return l.name == c; });
    if (it == letters.end()) it = letters.insert(letters.end(), Letter{.name = c});
    const int64_t size = type.shape[d];
    if (it->size != 1 && size != 1 && size != it->size)
      return bad_types("'" + std::string(1, c) + "' has the sizes " + std::to_string(it->size) +
                       " and " + std::to_string(size));
    if (which == kResult &&
        (it->in[kResult] || (!it->in[kLeft] && !it->in[kRight]) || size != it->size))
      return bad_types("dim '" + std::string(1, c) + "' of the result " + to_string(type) +
                       " does not come from the operands");
    it->size = std::max(it->size, size);
    if (size == 0) it->size = 0;
    it->in[which] = true;
    if (size != 1) it->stride[which] += type.strides[d];  // size 1 is broadcast
  }
  return {};
}

}  // namespace

Result<Equation> parse_equation(std::string_view text, const TensorType& left,
                                const TensorType& right, const TensorType& result) {
  const size_t comma = text.find(','), arrow = text.find("->");
  if (comma == std::string_view::npos || arrow == std::string_view::npos || arrow < comma ||
      text.find(',', comma + 1) != std::string_view::npos)
    return unimplemented("einsum '" + std::string(text) +
                         "': only two operands and an explicit result");
  Letters letters;
  SHW_RETURN_IF_ERROR(add_subscripts(text.substr(0, comma), left, kLeft, letters));
  SHW_RETURN_IF_ERROR(
      add_subscripts(text.substr(comma + 1, arrow - comma - 1), right, kRight, letters));
  SHW_RETURN_IF_ERROR(add_subscripts(text.substr(arrow + 2), result, kResult, letters));
  Equation e;
  for (const Letter& l : letters) {
    // A letter that occurs in one operand only and is summed has stride 0 in the other operand.
    Letters& home = !l.in[kResult]                ? e.depth
                    : l.in[kLeft] && l.in[kRight] ? e.batch
                    : l.in[kLeft]                 ? e.rows
                                                  : e.columns;
    home.push_back(l);
  }
  return e;
}

void sort_by(Letters& letters, Operand guide) {
  sort_stably(letters,
              [&](const Letter& a, const Letter& b) { return a.stride[guide] > b.stride[guide]; });
}

int64_t extent(const Letters& letters) {
  int64_t n = 1;
  bool none = false;
  for (const Letter& l : letters) {
    none |= l.size == 0;
    if (__builtin_mul_overflow(n, l.size, &n)) n = INT64_MAX;
  }
  return none ? 0 : n;
}

int64_t joint_stride(const Letters& letters, Operand which) {
  int64_t stride = 0, next = -1;
  for (auto it = letters.rbegin(); it != letters.rend(); ++it) {
    if (it->size == 1) continue;
    if (next < 0)
      stride = it->stride[which];
    else if (it->stride[which] != next)
      return -1;
    next = it->stride[which] * it->size;
  }
  return next == 0 ? -1 : stride;  // broadcast: a matrix that is not there
}

TensorType letters_type(const std::array<const Letters*, 3>& groups, Operand which, Dtype dtype) {
  TensorType type{{}, {}, dtype};
  for (const Letters* group : groups)
    for (const Letter& l : *group) {
      if (l.size == 1) continue;
      type.shape.push_back(l.size);
      type.strides.push_back(l.stride[which]);
    }
  return type;
}

size_t num_wide(const Equation& e) {
  size_t n = 0;
  for (const Letters* group : {&e.batch, &e.rows, &e.columns, &e.depth})
    for (const Letter& l : *group) n += l.size != 1;
  return n;
}

}  // namespace shw::runtime
