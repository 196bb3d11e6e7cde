// Elements of gathers and scatters in a generated kernel. Only those elements of a gather's table
// that indices select are computed. A scatter compares the position of each of its elements with
// the index of its line, so it needs no memory. If a row differs from a constant row only at such a
// scatter's position, a sum over the row does not need a loop.
//
//   const i64 place3 = place_in_line(widened<Int, 9>(x2), {0, 4096, 4096}, errors, {node7, 31});
//   const auto x8 = k == static_cast<unsigned>(place3) ? x5 : x7;
#pragma once
#include "runtime/cuda/plugin/fused_elements.h"

namespace shw::runtime::cuda {

class FusedPlaces : public FusedElements {
 protected:
  using FusedElements::FusedElements;

  static bool has_places(const FusedStep& s) {
    return s.formula.kind == StepFormula::Kind::kGather ||
           s.formula.kind == StepFormula::Kind::kScatter;
  }
  // The steps whose node the kernel needs, to report an index that is out of range.
  const std::vector<int>& reporting() const { return reporting_; }

  // The variable that holds the position to which index `at` points, among the elements of its line
  // on this rank; negative: the element is on another rank.
  std::string place_at(int s, const Index& at) {
    const std::string what = "place of s" + std::to_string(s) + "@" + space_.text(at);
    if (const std::string* known = find_element(what)) return *known;
    return in_outermost(at, [&] { return declare_place(what, s, at); });
  }

  // Whether the type has one element for all columns of each row, or one for all rows.
  static bool is_row_result(const TensorType& type, const Dims& shape, int64_t columns) {
    int64_t inner = 1;
    for (size_t d = shape.size(); d-- > 0 && inner < columns; inner *= shape[d]) {
      const size_t behind = shape.size() - d;
      if (behind <= type.shape.size() && type.shape[type.shape.size() - behind] != 1) return false;
    }
    return inner == columns;
  }

  // What distinguishes the elements of a row in a window: nothing (kAlike); a single scatter, whose
  // index gives the position of the one element that differs (the number of the scatter's step); or
  // more than that (kApart).
  static constexpr int kAlike = -1, kApart = -2;
  int told_apart_by(const FusedWindow& window, const Dims& shape, int64_t columns) const {
    if (is_row_result(*window.type, shape, columns)) return kAlike;
    if (window.writer == kFromMemory) return kApart;
    const FusedStep& of = step(window.writer);
    const Dims& whole = of.output.type->shape;
    if (*window.type != *of.output.type || window.begin != of.output.begin || whole != shape)
      return kApart;
    if (of.formula.kind == StepFormula::Kind::kScatter) {
      const bool along_rows = of.formula.dim + 1 == whole.size() && whole.back() == columns;
      return along_rows && told_apart_by(of.inputs[0], whole, columns) == kAlike ? window.writer
                                                                                 : kApart;
    }
    if (of.formula.kind != StepFormula::Kind::kPointwise) return kApart;
    int by = kAlike;
    for (const int i : of.formula.inputs) {
      if (i < 0) continue;
      const int also = told_apart_by(of.inputs[static_cast<size_t>(i)], whole, columns);
      if (by == kAlike)
        by = also;
      else if (also != kAlike && also != by)
        by = kApart;
    }
    return by;
  }

  // Two elements of a row: the one at the scatter's position, and another one.
  struct TwoElements {
    std::string place, at_place, elsewhere;
  };
  TwoElements two_elements(const FusedWindow& window, int scatter, int64_t columns) {
    TwoElements two;
    two.place = place_at(scatter, row_);
    Index at, other;
    in_outermost(row_, [&] {
      at = declare_index(two.place + " < 0 ? 0 : " + two.place, columns);
      other = declare_index(two.place + " == 0 ? 1 : 0", 2);
      return std::string();
    });
    const Dims& shape = window.type->shape;
    two.at_place = element(window, shape, row_ * columns + at);
    two.elsewhere = element(window, shape, row_ * columns + other);
    return two;
  }

 private:
  Index declare_index(const std::string& value, int64_t limit) {
    const std::string m = new_name("m"), type = space_.type();
    line("const " + type + " " + m + " = static_cast<" + type + ">(" + value + ");");
    return space_.variable(m, limit, scopes_.size() - 1);
  }

  std::string declare_place(const std::string& what, int s, const Index& at) {
    const FusedStep& of = step(s);
    const FusedWindow& index = of.inputs[1];
    const std::string x = element(index, index.type->shape, at), p = new_name("place");
    if (std::ranges::find(reporting_, s) == reporting_.end()) reporting_.push_back(s);
    const TableRows& rows = of.formula.rows;
    line("const i64 " + p + " = place_in_line(" + widened("Int", *index.type, x) + ", {" +
         whole_text(rows.first) + ", " + whole_text(rows.own) + ", " + whole_text(rows.whole) +
         "}, errors, {node" + std::to_string(s) + ", " + std::to_string(of.formula.kernel) + "});");
    scopes_.back().elements[what] = p;
    return p;
  }

  std::string at_place(const std::string& what, int s, const Index& at) override {
    return step(s).formula.kind == StepFormula::Kind::kGather ? gathered(what, s, at)
                                                              : scattered(what, s, at);
  }

  static int64_t inner_size(const TensorType& table, size_t dim) {
    int64_t inner = 1;
    for (size_t d = dim + 1; d < table.shape.size(); ++d) inner *= table.shape[d];
    return inner;
  }

  // `at`: the number of the line. Elements on other ranks read as 0.
  std::string gathered(const std::string& what, int s, const Index& at) {
    const FusedStep& of = step(s);
    const TensorType& table = *of.inputs[0].type;
    const int64_t size = table.shape[of.formula.dim], inner = inner_size(table, of.formula.dim);
    const std::string p = place_at(s, at);
    const Index middle = declare_index(p + " < 0 ? 0 : " + p, size);
    const auto [outer, column] = divide(at, inner);
    const std::string x =
        element(of.inputs[0], table.shape, outer * (size * inner) + middle * inner + column);
    return declare(what, scopes_.size() - 1,
                   p + " < 0 ? Element<" + dtype_text(table.dtype) + ">{} : " + x);
  }

  std::string scattered(const std::string& what, int s, const Index& at) {
    const FusedStep& of = step(s);
    const TensorType& table = *of.output.type;
    const int64_t size = table.shape[of.formula.dim], inner = inner_size(table, of.formula.dim);
    const auto [lines, column] = divide(at, inner);
    const auto [outer, middle] = divide(lines, size);
    const Index line_at = outer * inner + column;
    const std::string p = place_at(s, line_at), base = input(of, 0, at);
    const bool has_source = of.inputs.size() > 2 && of.inputs[2].type != nullptr;
    const std::string source = has_source ? element(of.inputs[2], of.inputs[2].type->shape, line_at)
                                          : "element_of_bits<" + dtype_text(table.dtype) + ">(" +
                                                whole_text(of.formula.fixed) + ")";
    return declare(what, scopes_.size() - 1,
                   space_.text(middle) + " == static_cast<" + space_.type() + ">(" + p + ") ? " +
                       source + " : " + base);
  }

  std::vector<int> reporting_;
};

}  // namespace shw::runtime::cuda
