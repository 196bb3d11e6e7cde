#include "runtime/cpu/compiled_group.h"

#include <algorithm>

#include "runtime/cpu/one_loop.h"
#include "runtime/cpu/part_loops.h"

namespace shw::runtime::cpu {
namespace {

// The first steps that have formulas, or that concatenate parts of rows.
std::vector<TracedStep> traced_steps(std::span<const GroupStep> steps, const PrepareStep& prepare) {
  std::vector<TracedStep> traced;
  size_t buffer = 0;
  for (const GroupStep& step : steps) {
    if (step.args.outputs.size() != 1 || step.args.outputs[0] == nullptr) break;
    auto kernel = prepare(step.kernel, step.args);
    if (!kernel.ok() || (*kernel)->traced() == nullptr) break;
    TracedStep& added = traced.emplace_back();
    added.kernel = std::move(*kernel);
    for (size_t i = 0; i < step.args.inputs.size(); ++i, ++buffer) {
      const TensorType* type = step.args.inputs[i];
      added.inputs.emplace_back();
      if (type != nullptr) added.inputs.back() = GroupWindow{type, &step.operands[i], buffer};
    }
    added.output = {step.args.outputs[0], &step.operands[step.args.inputs.size()], buffer++};
  }
  return traced;
}

// How many of the first steps iterate over the same elements, or over rows of them.
size_t count_alike(std::span<const TracedStep> steps) {
  const Dims* shape = nullptr;
  size_t count = 0;
  for (const TracedStep& step : steps) {
    if (!step.traced().row_parts().empty()) break;
    if (shape == nullptr || is_of_rows(*shape, step.shape()))
      shape = &step.shape();
    else if (!is_of_rows(step.shape(), *shape))
      break;
    ++count;
  }
  return count;
}
// How many of them iterate over the same rows, or over parts of them. None of these sums a row.
size_t count_by_part(std::span<const TracedStep> steps) {
  const auto alike = [&](const TracedStep& step) {
    const Dims &first = steps[0].shape(), &shape = step.shape();
    return step.traced().row_dims() == 0 && shape.size() == first.size() && shape.size() > 0 &&
           std::equal(shape.begin(), shape.end() - 1, first.begin());
  };
  size_t count = 0;
  while (count < steps.size() && alike(steps[count])) ++count;
  return count;
}

class CompiledGroupKernel final : public HostKernel {
 public:
  using Rows = std::vector<std::unique_ptr<const CompiledRow>>;

  // `rows`: the compiled rows of the nest, without streaming stores. `streaming`: the same with
  // streaming stores; empty if no store bypasses the caches.
  CompiledGroupKernel(const LoopNest& nest, Rows rows, Rows streaming)
      : rows_(std::move(rows)), streaming_(std::move(streaming)), shape_(nest.shape()) {
    for (const LoopNest::Walk& walk : nest.walks())
      pointers_.push_back({walk.first.buffer, walk.stride_bytes, false});
    for (const LoopNest::Row& row : nest.rows()) {
      elements_.push_back(row.elements);
      for (const RowLoop::Store& store : row.loop.stores)
        if (store.may_stream) pointers_[static_cast<size_t>(store.place.pointer)].streams = true;
    }
    set_never_blocks();
  }

  Status compute(void* const* buffers) override {
    Places places{};
    bool streams = !streaming_.empty();
    for (size_t p = 0; p < pointers_.size(); ++p) {
      places[p] = static_cast<std::byte*>(buffers[pointers_[p].buffer]);
      const bool aligned = reinterpret_cast<uintptr_t>(places[p]) % kVectorBytes == 0;
      streams = streams && (aligned || !pointers_[p].streams);
    }
    walk(streams ? streaming_ : rows_, 0, places);
    if (streams) CompiledRow::finish();
    return {};
  }

 private:
  using Places = std::array<std::byte*, kMostRowPointers>;
  struct Pointer {
    size_t buffer;
    Dims stride_bytes;  // by dim of the nest's shape
    bool streams;       // stores there may bypass the caches
  };

  // The loops around the rows. The compiled rows handle the last dim but one themselves.
  void walk(const Rows& rows, size_t dim, Places places) const {
    if (dim + 2 >= shape_.size()) {
      const int64_t count = shape_.size() > 1 ? shape_[dim] : 1;
      for (size_t r = 0; r < rows.size() && count > 0; ++r)
        rows[r]->run(places.data(), elements_[r], count);
      return;
    }
    for (int64_t i = 0; i < shape_[dim]; ++i) {
      walk(rows, dim + 1, places);
      for (size_t p = 0; p < pointers_.size(); ++p) places[p] += pointers_[p].stride_bytes[dim];
    }
  }

  const Rows rows_, streaming_;
  const Dims shape_;
  std::vector<int64_t> elements_;  // by row
  std::vector<Pointer> pointers_;
};

// Empty: a row could not be compiled.
CompiledGroupKernel::Rows compile_rows(const LoopNest& nest, bool streams) {
  CompiledGroupKernel::Rows rows;
  for (const LoopNest::Row& row : nest.rows()) {
    RowLoop loop = row.loop;
    loop.streams = loop.streams && streams;
    rows.push_back(compile(loop));
    if (rows.back() == nullptr) return {};
  }
  return rows;
}

// The largest number of the first `most` steps, and at least the given minimum, for which `make`
// succeeds.
template <class Make>
std::optional<GroupKernel> compile_most(std::span<const TracedStep> traced, size_t least,
                                        size_t most, std::span<const GroupStep> steps,
                                        const Make& make) {
  for (size_t count = most; count >= least; --count) {
    const std::optional<LoopNest> nest = make(traced.first(count), steps.subspan(count));
    if (!nest) continue;
    auto rows = compile_rows(*nest, false);
    if (rows.empty()) continue;
    auto streaming = nest->streams() ? compile_rows(*nest, true) : CompiledGroupKernel::Rows();
    return GroupKernel{
        std::make_unique<CompiledGroupKernel>(*nest, std::move(rows), std::move(streaming)), count};
  }
  return {};
}

}  // namespace

Result<GroupKernel> compile_group(std::span<const GroupStep> steps, const PrepareStep& prepare) {
  if (!compiles_loops()) return unimplemented("no loops are compiled on this machine");
  const std::vector<TracedStep> traced = traced_steps(steps, prepare);
  constexpr size_t kLeast = 2;
  const size_t alike = count_alike(traced), by_part = count_by_part(traced);
  if (auto kernel =
          compile_most(traced, std::max(alike + 1, kLeast), by_part, steps, loops_by_part))
    return std::move(*kernel);
  if (auto kernel = compile_most(traced, kLeast, alike, steps, one_loop)) return std::move(*kernel);
  return unimplemented("no loop is compiled that begins with this step");
}

}  // namespace shw::runtime::cpu
