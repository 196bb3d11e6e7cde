#include "plan/product_rows.h"

#include <string_view>

namespace shw {
namespace {

constexpr size_t kNone = std::string_view::npos;

// Whether the letter at `dim` of the result is at the same place in every operand that has all
// letters before it, and nowhere else.
bool is_row(std::string_view result, size_t dim, const std::string_view* operands,
            std::vector<uint8_t>& inputs) {
  const char letter = result[dim];
  if (result.find(letter) != dim || result.find(letter, dim + 1) != kNone) return false;
  for (size_t k = 0; k < 2; ++k) {
    const size_t at = operands[k].find(letter);
    if (dim == 0 && at == 0) inputs[k] = 1;
    if (at != (inputs[k] ? dim : kNone)) return false;
    if (at != kNone && operands[k].find(letter, at + 1) != kNone) return false;
  }
  return true;
}

}  // namespace

ProductRows product_rows(const ProgramStep& s) {
  if (s.kernel == "mm" && s.inputs.size() == 2) return {1, {1, 0}};
  if (s.kernel != "einsum" || s.inputs.size() < 2) return {};
  const std::string_view equation = s.attrs.get_string(AttrKey::kEquation);
  const size_t comma = equation.find(','), arrow = equation.find("->");
  if (comma == kNone || arrow == kNone || comma > arrow) return {};
  for (size_t k = 2; k < s.inputs.size(); ++k)
    if (s.inputs[k].valid()) return {};  // a bias may have the rows, too
  const std::string_view result = equation.substr(arrow + 2);
  const std::string_view operands[] = {equation.substr(0, comma),
                                       equation.substr(comma + 1, arrow - comma - 1)};
  ProductRows rows{0, std::vector<uint8_t>(s.inputs.size(), 0)};
  while (rows.dims < result.size() && is_row(result, rows.dims, operands, rows.inputs)) ++rows.dims;
  return rows.dims == 0 ? ProductRows{} : rows;
}

}  // namespace shw
