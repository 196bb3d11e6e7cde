// Loops over the elements of slices that do several steps of a group, as they are made before they
// are compiled.
#pragma once
#include <optional>

#include "runtime/cpu/codegen/row_loop.h"
#include "runtime/host_kernel.h"

namespace shw::runtime::cpu {

// An operand of a step, and where it lies in the first slice.
struct GroupWindow {
  const TensorType* type;
  const GroupOperand* at;
  size_t buffer;  // of the launch
};
bool same(const GroupWindow& a, const GroupWindow& b);
bool may_overlap(const GroupWindow& a, const GroupWindow& b);
// Whether one of the steps reads bytes of the window.
bool is_read(const GroupWindow& window, std::span<const GroupStep> by);
// Whether a result is to be written: others than the steps before `later` read it.
bool is_wanted(const GroupWindow& result, std::span<const GroupStep> later);

// A step that has a formula.
struct TracedStep {
  std::unique_ptr<HostKernel> kernel;
  std::vector<std::optional<GroupWindow>> inputs;  // nothing: absent
  GroupWindow output;

  const TracedKernel& traced() const { return *kernel->traced(); }
  // What it runs over.
  const Dims& shape() const {
    return traced().row_dims() > 0 ? inputs[0]->type->shape : output.type->shape;
  }
};

// The node as it is stored: rounded, where the type is bf16.
int32_t as_stored(Formula& formula, int32_t node, const TensorType& type);

// Whether `of` is `whole` but for trailing dims that have size 1: one number for each row of it.
bool is_of_rows(const Dims& of, const Dims& whole);

// Outer loops around the rows of one or several row loops, one after another.
class LoopNest {
 public:
  struct Row {
    RowLoop loop;
    int64_t elements = 0;
  };
  // Memory that the loops walk: that of an operand, and of others that lie in the same memory and
  // are walked alike.
  struct Walk {
    GroupWindow first;
    Dims stride_bytes;  // by dim of shape(); 0: one number along it
  };

  explicit LoopNest(const Dims& shape) : shape_(shape) {}

  // Where rows of the window begin, from a column of it on. Nothing: there are no pointers left.
  std::optional<RowPlace> place_of(const GroupWindow& window, int64_t column = 0);
  void add_row(RowLoop loop, int64_t elements) { rows_.push_back({std::move(loop), elements}); }
  // Makes dims that all walk alike one, and decides what is written past the caches. `row_dims`:
  // dims at the end that are a row; 0: any. Whether rows of at least one element, without gaps,
  // come of it.
  bool finish(size_t row_dims);

  const Dims& shape() const { return shape_; }               // the last dim is the row's
  const std::vector<Walk>& walks() const { return walks_; }  // by pointer
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

// Whether a result that is written may be written past the caches, as far as its size and other
// steps are concerned.
bool may_stream(const GroupWindow& result, std::span<const GroupStep> later);

}  // namespace shw::runtime::cpu
