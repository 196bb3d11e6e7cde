// Packs: several neighbouring units that a thread of a generated kernel processes together. There
// is an inner loop over the units, and their elements are moved in one instruction.
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

  // A loop over the units of a pack whose body is being generated at depth `depth`.
  struct UnitLoop {
    int variable;
    size_t depth;
    int64_t width;
  };
  // Opens the block of such a loop; returns its variable.
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

  // `count` contiguous elements in memory, `begin` bytes from the beginning of a window.
  struct Pack {
    Index begin;
    int64_t count;
    Index element;  // index of a unit's element
  };
  // The pack that contains the elements at `bytes` for all units of the loop, at most `of_unit` per
  // unit. Its position is known outside the loop, it lies within the window, and it is aligned for
  // one instruction if the memory is aligned.
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

  std::vector<UnitLoop> unit_loops_;  // nested
};

}  // namespace shw::runtime::cuda
