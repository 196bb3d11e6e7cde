// What a thread of a kernel that is written takes of several neighbouring units at once: the inner
// loop over them, and the elements in memory that it moves in one instruction.
//
//   const auto x0 = read_pack<4, 8>(p0, 16u * i);
//   Pack<4, 8> x1;
//   for (unsigned v = 0; v < 8u; ++v) {
//     …
//     x1.at[v] = x9;
//   }
//   write_pack<4, 8>(p1, 16u * i, x1);
#pragma once
#include <optional>

#include "runtime/cuda/plugin/fused_lines.h"
#include "runtime/cuda/plugin/fused_steps.h"

namespace shw::runtime::cuda {

class FusedPacks : public FusedLines {
 protected:
  explicit FusedPacks(bool wide) : FusedLines(wide) {}

  // A loop over the units of a pack, whose lines are now written; they stand `depth` deep.
  struct UnitLoop {
    int variable;
    size_t depth;
    int64_t width;
  };
  // Opens the block of such a loop, and gives its variable.
  Index open_units(int64_t width) {
    const size_t depth = scopes_.size();
    Index v = space_.variable("v", width, depth);
    scopes_.emplace_back();
    unit_loops_.push_back({v.factors.begin()->first, depth, width});
    return v;
  }
  Scope close_units() {
    Scope units = std::move(scopes_.back());
    scopes_.pop_back();
    unit_loops_.pop_back();
    return units;
  }
  std::vector<std::string> units_text(const std::vector<std::string>& lines, int64_t width) const {
    std::vector<std::string> text = {"#pragma unroll", "for (" + space_.type() + " v = 0; v < " +
                                                           space_.number(width) + "; ++v) {"};
    for (const std::string& l : lines) text.push_back("  " + l);
    text.push_back("}");
    return text;
  }

  // `count` elements that lie side by side in memory, `begin` bytes from where a window begins.
  struct Pack {
    Index begin;
    int64_t count;
    Index element;  // which of them a unit has
  };
  // The pack in which the units of the loop have the elements `bytes` from the window's begin, at
  // most `of_unit` each. It is known outside of the loop, lies within the window and begins at a
  // multiple of what one instruction moves, if the memory does.
  std::optional<Pack> find_pack(const FusedWindow& window, const Index& bytes,
                                int64_t of_unit) const {
    if (unit_loops_.empty()) return {};
    const UnitLoop& loop = unit_loops_.back();
    const int64_t size = dtype_size(window.type->dtype);
    auto [step, begin] = take_out(bytes, loop.variable);
    if (step == 0 || step % size != 0 || step / size > of_unit) return {};
    const int64_t within = begin.constant % step, count = step / size * loop.width;
    const int64_t at_once = std::min<int64_t>(count * size, kVectorBytes);
    begin.constant -= within;
    if (within % size != 0 || space_.depth(begin) >= loop.depth || window.begin % at_once != 0 ||
        !is_multiple(begin, at_once) ||
        space_.most(begin) + count * size > window.end - window.begin)
      return {};
    return Pack{begin, count, {{{loop.variable, step / size}}, within / size}};
  }
  static std::string pack_kind(const FusedWindow& window) {
    return window.is_aligned ? "pack" : "callers_pack";
  }
  static std::string pack_type(const FusedWindow& window, const Pack& pack) {
    return std::to_string(static_cast<int>(window.type->dtype)) + ", " + std::to_string(pack.count);
  }

  std::vector<UnitLoop> unit_loops_;  // within each other
};

}  // namespace shw::runtime::cuda
