#include "runtime/cpu/one_loop.h"

#include <algorithm>

#include "runtime/strided.h"

namespace shw::runtime::cpu {
namespace {

class OneLoop {
 public:
  OneLoop(const Dims& shape, size_t row_dims) : nest_(shape), row_dims_(row_dims) {}

  bool add(const TracedStep& step, std::span<const GroupStep> later) {
    if (!begin_walk(step)) return false;
    std::vector<Traced> inputs;
    for (const auto& input : step.inputs) {
      if (!input) {
        inputs.emplace_back();
        continue;
      }
      const auto node = read(*input);
      if (!node) return false;
      inputs.emplace_back(row_.formula, *node);
    }
    const int32_t node =
        as_stored(row_.formula, step.traced().trace(inputs).node(row_.formula), *step.output.type);
    return write(step.output, node, step.traced().row_dims() > 0, later);
  }

  std::optional<LoopNest> finish() {
    nest_.add_row(std::move(row_), 0);
    if (!nest_.finish(row_dims_)) return {};
    return std::move(nest_);
  }

 private:
  struct Value {
    GroupWindow window;
    int32_t node;
    std::optional<RowPlace> place;  // empty: not in memory
    bool is_written;
    int32_t after = 0;  // the last node of the step that wrote it
    size_t walk = 0;
    bool is_sum = false;
  };

  // Steps that read a sum belong to the next traversal. Returns whether the step sums the same rows
  // as the others.
  bool begin_walk(const TracedStep& step) {
    const size_t row_dims = step.traced().row_dims();
    if (row_dims > 0 && row_dims_ > 0 && row_dims != row_dims_) return false;
    for (const Value& value : values_)
      if (value.is_sum && value.walk == this_walk() &&
          std::ranges::any_of(step.inputs, [&](const auto& input) {
            return input && same(*input, value.window);
          })) {
        row_.walk_ends.push_back(static_cast<int32_t>(row_.formula.nodes().size()));
        break;
      }
    return true;
  }
  size_t this_walk() const { return row_.walk_ends.size(); }
  bool is_of_row(const GroupWindow& window) const {
    const Dims& shape = nest_.shape();
    const Dims strides = broadcast_strides_bytes(*window.type, shape);
    for (size_t d = shape.size() - row_dims_; d < shape.size(); ++d)
      if (shape[d] != 1 && strides[d] != 0) return false;
    return true;
  }

  std::optional<int32_t> read(const GroupWindow& window) {
    for (size_t v = values_.size(); v-- > 0;) {
      if (same(values_[v].window, window)) return read_again(values_[v]);
      if (values_[v].is_written && may_overlap(values_[v].window, window)) return {};
    }
    const auto place = nest_.place_of(window);
    if (!place) return {};
    const int32_t node = add_input(*place);
    values_.push_back({window, node, place, false, node, this_walk()});
    return node;
  }

  int32_t add_input(const RowPlace& place) {
    row_.inputs.push_back(place);
    const auto input = static_cast<int32_t>(row_.inputs.size()) - 1;
    return row_.formula.add({FormulaOp::kInput, {input, -1, -1, -1}, 0});
  }

  // Values that an earlier traversal computed for each element are read from memory again.
  std::optional<int32_t> read_again(Value& value) {
    if (value.walk == this_walk() || is_of_row(value.window)) return value.node;
    if (!value.place) {
      value.place = nest_.place_of(value.window);
      if (!value.place) return {};
      row_.stores.push_back({value.node, *value.place, value.after, false});
    }
    value.walk = this_walk();
    value.node = add_input(*value.place);
    return value.node;
  }

  bool write(const GroupWindow& window, int32_t node, bool is_sum,
             std::span<const GroupStep> later) {
    const auto after = static_cast<int32_t>(row_.formula.nodes().size()) - 1;
    std::optional<RowPlace> place;
    for (const Value& value : values_) {
      if (same(value.window, window))
        place = value.place;
      else if (may_overlap(value.window, window))
        return false;
    }
    std::erase_if(values_, [&](const Value& value) { return same(value.window, window); });
    if (is_wanted(window, later)) {
      if (!place) place = nest_.place_of(window);
      if (!place) return false;
      row_.stores.push_back({node, *place, after, may_stream(window, later)});
    } else {
      place = {};
    }
    values_.push_back({window, node, place, true, after, this_walk(), is_sum});
    return true;
  }

  LoopNest nest_;
  RowLoop row_;
  std::vector<Value> values_;
  size_t row_dims_;  // trailing dims that are summed; 0: none
};

}  // namespace

std::optional<LoopNest> one_loop(std::span<const TracedStep> steps,
                                 std::span<const GroupStep> later) {
  Dims shape;
  size_t row_dims = 0;
  for (const TracedStep& step : steps) {
    if (shape.size() == 0 || is_of_rows(shape, step.shape())) shape = step.shape();
    row_dims = std::max(row_dims, step.traced().row_dims());
  }
  OneLoop loop(shape, row_dims);
  for (const TracedStep& step : steps)
    if (!loop.add(step, later)) return {};
  return loop.finish();
}

}  // namespace shw::runtime::cpu
