// index(self, indices…): self[indices…]; attrs.dims says which dims of self they index (none: the
// first ones). Their broadcast shape stands in the result where the first of these dims stood if
// they are neighbours, else in front.
#include <algorithm>
#include <cstring>

#include "runtime/cpu/indices.h"
#include "runtime/cpu/odometer.h"

namespace shw::runtime::cpu {
namespace {

struct Indexed {
  int64_t size = 0, stride_bytes = 0;  // of the dim of self
  LoadRow<Int> load = nullptr;
};

class Index final : public HostKernel {
 public:
  Index(const TensorType& out, size_t count) : shape_(out.shape), count_(count) {
    item_ = static_cast<size_t>(dtype_size(out.dtype));
    strides_[0] = leading_strides_bytes(out, shape_.size());
  }
  Status compute(void* const* buffers) noexcept override {
    const auto* self = static_cast<const std::byte*>(buffers[0]);
    auto* out = static_cast<std::byte*>(buffers[count_ + 1]);
    Status status;
    for_each_offset(shape_, strides_, [&](const auto& at) {
      if (!status.ok()) return;
      int64_t from = at[1];
      for (size_t k = 0; k < count_; ++k) {
        Int index;
        indexed_[k].load(static_cast<const std::byte*>(buffers[k + 1]) + at[k + 2], 0, 1, &index);
        const int64_t i = index.v < 0 ? index.v + indexed_[k].size : index.v;
        if (i < 0 || i >= indexed_[k].size) {
          status = index_out_of_range(index.v, indexed_[k].size);
          return;
        }
        from += i * indexed_[k].stride_bytes;
      }
      std::memcpy(out + at[0], self + from, item_);
    });
    return status;
  }

  static constexpr size_t kMostIndices = kMaxRank;
  std::array<Dims, kMostIndices + 2> strides_;  // per dim of the result: result, self, indices
  std::array<Indexed, kMostIndices> indexed_;

 private:
  Dims shape_;
  size_t count_, item_;
};

Prepared prepare(const KernelArgs& args) {
  const size_t count = args.inputs.empty() ? 0 : args.inputs.size() - 1;
  SHW_RETURN_IF_ERROR(expect_operands(args, std::max<size_t>(2, count + 1)));
  const TensorType &self = *args.inputs[0], &out = *args.outputs[0];
  const std::vector<int64_t>& named = args.attrs.get_ints(AttrKey::kDims);
  const auto refuse = [&] {
    return bad_types(std::to_string(count) + " index tensors do not take " + to_string(out) +
                     " from " + to_string(self));
  };
  if (count > self.shape.size() || (!named.empty() && named.size() != count) ||
      self.dtype != out.dtype)
    return refuse();
  std::array<bool, kMaxRank> gone{};
  size_t broadcast = 0;
  std::vector<size_t> dims;
  for (size_t k = 0; k < count; ++k) {
    const int64_t dim = named.empty() ? static_cast<int64_t>(k) : named[k];
    if (dim < 0 || dim >= self.rank() || gone[static_cast<size_t>(dim)] ||
        (k > 0 && static_cast<size_t>(dim) < dims.back()) ||
        !is_index_dtype(args.inputs[k + 1]->dtype))
      return refuse();
    dims.push_back(static_cast<size_t>(dim));
    gone[dims.back()] = true;
    broadcast = std::max(broadcast, args.inputs[k + 1]->shape.size());
  }
  if (out.shape.size() != self.shape.size() - count + broadcast) return refuse();
  const bool neighbours = dims.back() - dims.front() + 1 == count;
  const size_t first = neighbours ? dims.front() : 0;

  auto kernel = std::make_unique<Index>(out, count);
  Dims& from_self = kernel->strides_[1];
  Dims block;  // the indices' part of the result
  for (size_t d = 0; d < self.shape.size(); ++d)
    if (!gone[d]) from_self.push_back(self.strides[d] * dtype_size(self.dtype));
  for (size_t b = 0; b < broadcast; ++b) {
    from_self.insert(first + b, 0);
    block.push_back(out.shape[first + b]);
  }
  for (size_t d = 0, rest = 0; d < out.shape.size(); ++d) {
    if (d >= first && d < first + broadcast) continue;
    while (gone[rest]) ++rest;
    if (out.shape[d] != self.shape[rest++]) return refuse();
  }
  for (size_t k = 0; k < Index::kMostIndices; ++k) {
    Dims& strides = kernel->strides_[k + 2];
    strides = Dims(out.shape.size(), 0);
    if (k >= count) continue;
    const TensorType& t = *args.inputs[k + 1];
    if (!broadcasts_to(t.shape, block)) return refuse();
    const Dims own = broadcast_strides_bytes(t, block);
    for (size_t b = 0; b < broadcast; ++b) strides[first + b] = own[b];
    kernel->indexed_[k] = {self.shape[dims[k]], self.strides[dims[k]] * dtype_size(self.dtype),
                           load_row<Int>(t.dtype)};
  }
  return std::unique_ptr<PreparedKernel>(std::move(kernel));
}

}  // namespace

extern const Kernel kIndex;
constinit const Kernel kIndex = {"index", prepare};

}  // namespace shw::runtime::cpu
