#include "runtime/cpu/part_loops.h"

#include <algorithm>
#include <map>
#include <set>

namespace shw::runtime::cpu {
namespace {

// A range of columns of a window, or of a step's result.
struct Columns {
  int64_t begin, end;
};

int64_t columns_of(const TensorType& type) {
  return type.shape.size() == 0 ? 1 : type.shape.back();
}

// If the window consists of columns of the rows of `whole`, the first of these columns; otherwise
// empty.
std::optional<int64_t> column_in(const GroupWindow& whole, const GroupWindow& window) {
  if (same(whole, window)) return 0;
  const TensorType &w = *whole.type, &p = *window.type;
  if (whole.at->memory != window.at->memory || w.dtype != p.dtype || w.strides != p.strides ||
      w.shape.size() == 0 || w.strides.back() != 1 ||
      !std::equal(w.shape.begin(), w.shape.end() - 1, p.shape.begin()) ||
      !std::ranges::equal(whole.at->slice_stride_bytes, window.at->slice_stride_bytes))
    return {};
  const int64_t bytes = window.at->offset_bytes - whole.at->offset_bytes;
  const int64_t element = dtype_size(w.dtype), column = bytes / element;
  if (bytes < 0 || bytes % element != 0 || column + p.shape.back() > w.shape.back()) return {};
  return column;
}

// Results are computed on demand: a part of a row requests those parts of its operands that lie in
// the same columns.
class PartLoops {
 public:
  PartLoops(std::span<const TracedStep> steps, std::span<const GroupStep> later)
      : steps_(steps), later_(later) {}

  std::optional<LoopNest> make() {
    for (size_t s = 0; s < steps_.size(); ++s)
      if (is_wanted(steps_[s].output, later_)) wanted_.push_back(s);
    if (wanted_.empty()) return {};
    const Dims& shape = steps_[wanted_[0]].output.type->shape;
    for (const size_t s : wanted_)
      if (steps_[s].output.type->shape != shape) return {};
    if (shape.size() == 0) return {};
    LoopNest nest(shape);
    std::set<int64_t> ends;
    for (const size_t s : wanted_) ends.merge(cuts(s));
    ends.insert(shape.back());
    int64_t begin = 0;
    for (const int64_t end : ends) {
      if (!add_part(nest, {begin, end})) return {};
      begin = end;
    }
    if (!nest.finish(1)) return {};
    return nest;
  }

 private:
  // The step that computes an operand of step s, and the column of its result at which the operand
  // begins. -1: none.
  struct Writer {
    int step = -1;
    int64_t column = 0;
  };
  Writer writer(size_t s, const GroupWindow& operand) const {
    for (size_t w = s; w-- > 0;)
      if (const auto column = column_in(steps_[w].output, operand))
        return {static_cast<int>(w), *column};
    return {};
  }

  // The columns at which elements of the result begin to come from another source.
  std::set<int64_t> cuts(size_t s) const {
    std::set<int64_t> found;
    const TracedStep& step = steps_[s];
    const auto add = [&](const GroupWindow& operand, const RowPart& part) {
      const Writer from = writer(s, operand);
      if (part.begin > 0) found.insert(part.begin);
      if (from.step < 0) return;
      const int64_t first = from.column + part.from;
      for (const int64_t c : cuts(static_cast<size_t>(from.step)))
        if (c > first && c < first + part.count) found.insert(part.begin + c - first);
    };
    const auto parts = step.traced().row_parts();
    for (const RowPart& part : parts) add(*step.inputs[part.input], part);
    for (const auto& input : step.inputs)
      if (parts.empty() && input) add(*input, {0, columns_of(*input->type), 0, 0});
    return found;
  }

  bool add_part(LoopNest& nest, Columns columns) {
    RowLoop loop;
    known_.clear();
    for (const size_t s : wanted_) {
      const auto node = result(nest, loop, s, columns);
      if (!node) return false;
      const GroupWindow& to = steps_[s].output;
      const auto place = nest.place_of(to, columns.begin);
      if (!place) return false;
      loop.stores.push_back({*node, *place, static_cast<int32_t>(loop.formula.nodes().size()) - 1,
                             may_stream(to, later_)});
    }
    nest.add_row(std::move(loop), columns.end - columns.begin);
    return true;
  }

  std::optional<int32_t> result(LoopNest& nest, RowLoop& loop, size_t s, Columns columns) {
    const TracedStep& step = steps_[s];
    const auto key = std::pair(s, columns.begin);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    for (const RowPart& part : step.traced().row_parts()) {
      if (columns.begin < part.begin || columns.end > part.begin + part.count) continue;
      const int64_t shift = part.from - part.begin;
      const auto node = operand(nest, loop, s, *step.inputs[part.input],
                                {columns.begin + shift, columns.end + shift});
      if (node) known_[key] = *node;
      return node;
    }
    if (!step.traced().row_parts().empty()) return {};
    std::vector<Traced> inputs;
    for (const auto& input : step.inputs) {
      inputs.emplace_back();
      if (!input) continue;
      const auto node = operand(nest, loop, s, *input, columns);
      if (!node) return {};
      inputs.back() = Traced(loop.formula, *node);
    }
    const int32_t node =
        as_stored(loop.formula, step.traced().trace(inputs).node(loop.formula), *step.output.type);
    known_[key] = node;
    return node;
  }

  std::optional<int32_t> operand(LoopNest& nest, RowLoop& loop, size_t s, const GroupWindow& window,
                                 Columns columns) {
    if (columns_of(*window.type) == 1) columns = {0, 1};
    for (size_t w = s; w-- > 0;) {
      if (const auto column = column_in(steps_[w].output, window))
        return result(nest, loop, w, {columns.begin + *column, columns.end + *column});
      if (may_overlap(steps_[w].output, window)) return {};
    }
    // A part is written before the next part is read.
    for (const size_t w : wanted_)
      if (may_overlap(steps_[w].output, window)) return {};
    const auto place = nest.place_of(window, columns.begin);
    if (!place) return {};
    loop.inputs.push_back(*place);
    const auto input = static_cast<int32_t>(loop.inputs.size()) - 1;
    return loop.formula.add({FormulaOp::kInput, {input, -1, -1, -1}, 0});
  }

  std::span<const TracedStep> steps_;
  std::span<const GroupStep> later_;
  std::vector<size_t> wanted_;                           // steps whose results are written
  std::map<std::pair<size_t, int64_t>, int32_t> known_;  // nodes of the current part
};

}  // namespace

std::optional<LoopNest> loops_by_part(std::span<const TracedStep> steps,
                                      std::span<const GroupStep> later) {
  return PartLoops(steps, later).make();
}

}  // namespace shw::runtime::cpu
