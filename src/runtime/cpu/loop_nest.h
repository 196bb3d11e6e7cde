// Loop nests over the elements of slices that compute several steps of a group, before they are
// compiled.
#pragma once
#include <optional>

#include "runtime/cpu/codegen/row_loop.h"
#include "runtime/host_kernel.h"

namespace shw::runtime::cpu {

// An operand of a step and its location in the first slice.
struct GroupWindow {
  const TensorType* type;
  const GroupOperand* at;
  size_t buffer;  // number among the buffers of the launch
};
bool same(const GroupWindow& a, const GroupWindow& b);
bool may_overlap(const GroupWindow& a, const GroupWindow& b);
// Whether one of the steps reads bytes of the window.
bool is_read(const GroupWindow& window, std::span<const GroupStep> by);
// Whether a result must be written: it is used outside the steps before `later`.
bool is_wanted(const GroupWindow& result, std::span<const GroupStep> later);

// A step with a formula.
struct TracedStep {
  std::unique_ptr<HostKernel> kernel;
  std::vector<std::optional<GroupWindow>> inputs;  // empty: absent
  GroupWindow output;

  const TracedKernel& traced() const { return *kernel->traced(); }
  // The shape of its iteration space.
  const Dims& shape() const {
    return traced().row_dims() > 0 ? inputs[0]->type->shape : output.type->shape;
  }
};

// The node's value as it is stored: rounded if the type is bf16.
int32_t as_stored(Formula& formula, int32_t node, const TensorType& type);

// Whether `of` equals `whole` except for trailing dims of size 1: it has one number for each row of
// `whole`.
bool is_of_rows(const Dims& of, const Dims& whole);

// Outer loops around one or several row loops, which run one after another.
class LoopNest {
 public:
  struct Row {
    RowLoop loop;
    int64_t elements = 0;
  };
  // Memory that the loops traverse with one pointer: an operand, and other operands in the same
  // memory with the same strides.
  struct Walk {
    GroupWindow first;
    Dims stride_bytes;  // by dim of shape(); 0: one number for the whole dim
  };

  explicit LoopNest(const Dims& shape) : shape_(shape) {}

  // Where rows of the window begin, from column `column` on. Empty: no pointer is left.
  std::optional<RowPlace> place_of(const GroupWindow& window, int64_t column = 0);
  void add_row(RowLoop loop, int64_t elements) { rows_.push_back({std::move(loop), elements}); }
  // Merges dims that all operands traverse alike, and decides which stores bypass the caches.
  // `row_dims`: number of trailing dims that form a row; 0: any number. Returns whether the rows
  // have at least one element and no gaps.
  bool finish(size_t row_dims);

  const Dims& shape() const { return shape_; }               // the last dim is the row
  const std::vector<Walk>& walks() const { return walks_; }  // by pointer number
  const std::vector<Row>& rows() const { return rows_; }
  bool streams() const;

 private:
  bool merge_dims(size_t row_dims);
  int64_t stride_of_rows(const Walk& walk) const;
  int64_t rows_ahead(const Walk& walk) const;
  bool begins_at_vectors(const RowPlace& place) const;
  void choose_streams(RowLoop& loop) const;

  Dims shape_;
  std::vector<Walk> walks_;
  std::vector<Row> rows_;
};

// Whether a store of this result may bypass the caches, judged by its size and by the steps that
// read it.
bool may_stream(const GroupWindow& result, std::span<const GroupStep> later);

}  // namespace shw::runtime::cpu
