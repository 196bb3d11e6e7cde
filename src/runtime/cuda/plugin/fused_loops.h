// The loops of a generated kernel, and their stores.
#pragma once
#include "runtime/cuda/plugin/fused_online.h"

namespace shw::runtime::cuda {

// One pass over the elements of a row, or of some results. If threads process packs, each turn
// contains a loop over the units of a pack.
struct FusedLoop {
  int64_t width = 1;  // units that a thread processes at a time
  Scope turn, units;
  std::vector<std::string> before, declared, stores, pack_stores, after;
  // Copies of elements to registers, for later loops.
  std::vector<std::string> kept, kept_units;
  std::map<std::string, std::string> packs;  // stored packs, by position
};

class FusedLoops : public FusedOnline {
 protected:
  using Loop = FusedLoop;

  // `most_width`: the maximum number of units that a thread processes at a time.
  FusedLoops(std::span<const FusedStep> steps, size_t count, bool wide, int64_t most_width)
      : FusedOnline(steps, count, wide), most_width_(most_width) {}
  size_t this_loop() const override { return loops_.size(); }

  // The number of units per thread. For the dtype with the largest number of moved elements, they
  // fill one vector instruction.
  int64_t width_of(int64_t units, int64_t pair) const {
    std::map<int64_t, int64_t> moved;  // number of elements, by bytes per unit
    const auto count = [&](const FusedWindow& w) {
      const TensorType& type = *w.type;
      size_t last = type.shape.size();
      while (last > 0 && type.shape[last - 1] == 1) --last;
      if (last == 0 || type.strides[last - 1] != 1) return;
      const int64_t of_unit = type.dtype == Dtype::kC64 ? 1 : pair;
      moved[dtype_size(type.dtype) * of_unit] += type.numel();
    };
    for (const FusedStep& s : steps()) {
      // A thread that adds up several elements for each result has enough work already.
      if (s.reduced && !s.by_blocks()) return 1;
      for (const FusedWindow& in : s.inputs)
        if (in.type != nullptr && in.writer == kFromMemory) count(in);
      if (leaves(s)) count(s.output);
    }
    int64_t width = 1, most = 0;
    for (const auto& [bytes, elements] : moved) {  // if equal, the narrowest wins
      if (elements > most) width = std::max<int64_t>(kVectorBytes / bytes, 1);
      most = std::max(most, elements);
    }
    width = std::min(width, most_width_);
    while (units % width != 0) width /= 2;
    return width;
  }

  // Opens the blocks of a turn; returns the unit that it computes.
  Index open_turn(const char* name, int64_t units, const Loop& loop) {
    Index turn = space_.variable(name, units / loop.width, scopes_.size());
    scopes_.emplace_back();
    if (loop.width == 1) return turn;
    return turn * loop.width + open_units(loop.width);
  }
  void close_turn(Loop& loop) {
    if (loop.width > 1) loop.units = close_units();
    loop.turn = std::move(scopes_.back());
    scopes_.pop_back();
    loops_.push_back(std::move(loop));
  }

  // Stores element `at` of a step's result; each unit has `of_unit` elements of it.
  void store(int s, const Index& at, int64_t of_unit, Loop& loop) {
    const auto [out, bytes] = place_of(s, at);
    const std::string x = value(s, at);
    writes_.push_back({out, loops_.size(), place(*out, bytes)});
    const auto pack = find_pack(*out, bytes, of_unit);
    if (!pack || pack->count != of_unit * loop.width)
      return loop.stores.push_back(written(*out, bytes, x));
    const std::string type = pack_type(*out, *pack), begin = space_.text(pack->begin);
    std::string& name = loop.packs[std::to_string(out->memory) + "@" + place(*out, pack->begin)];
    if (name.empty()) {
      name = new_name("x");
      loop.declared.push_back("Pack<" + type + "> " + name + ";");
      loop.pack_stores.push_back("write_" + pack_kind(*out) + "<" + type + ">(" +
                                 parameter(*out, true) + ", " + begin + ", " + name + ");");
    }
    loop.stores.push_back(name + ".at[" + space_.text(pack->element) + "] = " + x + ";");
  }
  // Stores the single element of a row.
  std::string row_store(int s) {
    const auto [out, bytes] = place_of(s, row_);
    const std::string x = value(s, row_);
    writes_.push_back({out, loops_.size(), place(*out, bytes)});
    return "if (threadIdx.x == 0) " + written(*out, bytes, x);
  }
  std::pair<const FusedWindow*, Index> place_of(int s, const Index& at) {
    const FusedWindow& out = step(s).output;
    Dims strides;
    for (const int64_t stride : out.type->strides)
      strides.push_back(stride * dtype_size(out.type->dtype));
    return {&out, offset(out.type->shape, strides, at)};
  }
  std::string written(const FusedWindow& out, const Index& bytes, const std::string& x) {
    return "write_element<" + dtype_text(out.type->dtype) + ">(" + parameter(out, true) + ", " +
           space_.text(bytes) + ", " + x + ");";
  }

  static void append(std::string& text, const std::string& indent,
                     const std::vector<std::string>& lines) {
    for (const std::string& l : lines) text += indent + l + "\n";
  }
  void append_turn(std::string& text, const std::string& indent, const Loop& loop) const {
    append(text, indent, loop.turn.lines);
    append(text, indent, loop.kept);
    append(text, indent, loop.declared);
    std::vector<std::string> units = loop.units.lines;
    for (const auto* lines : {&loop.kept_units, &loop.stores})
      units.insert(units.end(), lines->begin(), lines->end());
    if (!units.empty())
      append(text, indent, loop.width > 1 ? units_text(units, loop.width) : units);
    append(text, indent, loop.pack_stores);
  }

  std::vector<Loop> loops_;
  std::vector<Access> writes_;

 private:
  const int64_t most_width_;
};

}  // namespace shw::runtime::cuda
