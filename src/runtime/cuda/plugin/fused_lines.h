// The text of a kernel during generation: lines in nested blocks, the values that are known in each
// block, and the positions of elements.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "runtime/cuda/plugin/fused_index.h"
#include "tensor/tensor_type.h"

namespace shw::runtime::cuda {

// The lines of a block, and the values that are known in it.
struct Scope {
  std::vector<std::string> lines;
  std::map<std::string, std::string> elements;               // from description to variable name
  std::map<std::string, std::pair<Index, Index>> divisions;  // quotient, rest
};

class FusedLines {
 protected:
  explicit FusedLines(bool wide) : space_(wide) {}

  std::string new_name(const char* kind) { return kind + std::to_string(next_name_++); }
  void line(size_t depth, std::string text) {
    ++num_lines_;
    scopes_[depth].lines.push_back(std::move(text));
  }
  void line(std::string text) { line(scopes_.size() - 1, std::move(text)); }
  std::string fail() {
    failed_ = true;
    return "failed";
  }

  const std::string* find_element(const std::string& what) {
    for (size_t d = scopes_.size(); d-- > 0;)
      if (const auto it = scopes_[d].elements.find(what); it != scopes_[d].elements.end())
        return &it->second;
    return nullptr;
  }
  // Declares an element in the block at `depth`, the outermost block where its position is known.
  std::string declare(const std::string& what, size_t depth, const std::string& value) {
    const std::string name = new_name("x");
    line(depth, "const auto " + name + " = " + value + ";");
    scopes_[depth].elements[what] = name;
    return name;
  }

  // index = by · quotient + rest.
  std::pair<Index, Index> divide(const Index& index, int64_t by) {
    const IndexSpace::Division d = space_.divide(index, by);
    Index quotient = d.quotient, rest = d.inner;
    if (!d.done) {
      const auto& [more, left] = divided(d.inner, d.inner_by);
      quotient = quotient + more;
      rest = left;
    }
    return {quotient, rest * d.scale + d.rest};
  }
  std::pair<Index, Index> divided(const Index& index, int64_t by) {
    const std::string what = "(" + space_.text(index) + ")", number = space_.number(by);
    for (size_t d = scopes_.size(); d-- > 0;)
      if (const auto it = scopes_[d].divisions.find(what + number);
          it != scopes_[d].divisions.end())
        return it->second;
    const size_t depth = space_.depth(index);
    const std::string q = new_name("q"), r = new_name("r"), type = "const " + space_.type() + " ";
    line(depth,
         type + q + " = " + what + " / " + number + ", " + r + " = " + what + " % " + number + ";");
    const auto result = std::pair{space_.variable(q, space_.most(index) / by + 1, depth),
                                  space_.variable(r, by, depth)};
    scopes_[depth].divisions[what + number] = result;
    return result;
  }

  // The offset in bytes from a window's beginning to element `at`, numbered in the order of
  // `shape`.
  Index offset(const Dims& shape, const Dims& strides, const Index& at) {
    Dims sizes, steps;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1) continue;
      const size_t last = sizes.size() - 1;
      if (!sizes.empty() && steps[last] == strides[d] * shape[d]) {
        sizes[last] *= shape[d];
        steps[last] = strides[d];
      } else {
        sizes.push_back(shape[d]);
        steps.push_back(strides[d]);
      }
    }
    Index bytes, rest = at;
    for (size_t d = sizes.size(); d-- > 1;) {
      auto [quotient, digit] = divide(rest, sizes[d]);
      bytes = bytes + digit * steps[d];
      rest = quotient;
    }
    return sizes.empty() ? bytes : bytes + rest * steps[0];
  }

  IndexSpace space_;
  std::vector<Scope> scopes_;  // the kernel, then nested blocks
  size_t num_lines_ = 0;
  bool failed_ = false;

 private:
  int next_name_ = 0;
};

}  // namespace shw::runtime::cuda
