#include "runtime/cpu/lookup.h"

#include <cstring>

#include "runtime/dim.h"
#include "runtime/strided.h"

namespace shw::runtime::cpu {
namespace {

class Read final : public HostKernel {
 public:
  Read(const Lookup& lookup, int64_t item, size_t output)
      : lookup_(lookup), item_(static_cast<size_t>(item)), output_(output) {}
  Status compute(void* const* buffers) override {
    const auto* table = static_cast<const std::byte*>(buffers[0]);
    auto* out = static_cast<std::byte*>(buffers[output_]);
    return lookup_.for_each(buffers[1], [&](int64_t from, int64_t to) {
      if (from >= 0)
        std::memcpy(out + to, table + from, item_);
      else
        std::memset(out + to, 0, item_);
    });
  }

 private:
  Lookup lookup_;
  size_t item_, output_;
};

class ReadSlices final : public HostKernel {
 public:
  ReadSlices(const KernelArgs& args, const Lookup& lookup)
      : lookup_(lookup), output_(args.inputs.size()) {
    const TensorType &table = *args.inputs[0], &out = *args.outputs[0];
    Dims shape, from, to;
    for (size_t d = lookup.shape.size(); d < out.shape.size(); ++d) {
      shape.push_back(out.shape[d]);
      from.push_back(table.strides[d]);
      to.push_back(out.strides[d]);
    }
    copy_ = StridedCopy(shape, dtype_size(out.dtype), to, from);
    zero_ = StridedFill({shape, to, out.dtype});
  }
  Status compute(void* const* buffers) override {
    const auto* table = static_cast<const std::byte*>(buffers[0]);
    auto* out = static_cast<std::byte*>(buffers[output_]);
    return lookup_.for_each(buffers[1], [&](int64_t from, int64_t to) {
      if (from >= 0)
        copy_.run(out + to, table + from);
      else
        zero_.run(out + to);
    });
  }

 private:
  Lookup lookup_;
  size_t output_;
  StridedCopy copy_;
  StridedFill zero_;
};

// What both kinds have in common: walked is `other`.
Result<Lookup> look_up(const KernelArgs& args, const TensorType& table, const TensorType& indices,
                       const TensorType& other, size_t dim) {
  Lookup l;
  l.shape = other.shape;
  l.strides[0] = leading_strides_bytes(table, table.shape.size());
  l.strides[0][dim] = 0;
  l.strides[2] = leading_strides_bytes(other, other.shape.size());
  SHW_ASSIGN_OR_RETURN(l.part, table_part(args, table, dim));
  l.table_step = table.strides[dim] * dtype_size(table.dtype);
  l.load = load_row<Int>(indices.dtype);
  return l;
}

Status refuse(const TensorType& table, const TensorType& indices, const TensorType& other) {
  return bad_types("indices " + to_string(indices) + " do not stand between " + to_string(table) +
                   " and " + to_string(other));
}

}  // namespace

Result<Lookup> lookup_elements(const KernelArgs& args, const TensorType& table,
                               const TensorType& indices, const TensorType& other) {
  SHW_ASSIGN_OR_RETURN(const size_t dim, dim_of(args.attrs, table));
  bool fits = is_index_dtype(indices.dtype) && indices.shape == other.shape &&
              indices.rank() == table.rank();
  for (size_t d = 0; fits && d < table.shape.size(); ++d)
    fits = d == dim || indices.shape[d] <= table.shape[d];
  if (!fits) return refuse(table, indices, other);
  SHW_ASSIGN_OR_RETURN(Lookup l, look_up(args, table, indices, other, dim));
  l.strides[1] = leading_strides_bytes(indices, indices.shape.size());
  return l;
}

Result<Lookup> lookup_slices(const KernelArgs& args, const TensorType& table,
                             const TensorType& indices, const TensorType& other) {
  SHW_ASSIGN_OR_RETURN(const size_t dim, dim_of(args.attrs, table));
  Dims expected = table.shape;
  if (indices.rank() == 1) expected[dim] = indices.shape[0];
  if (!is_index_dtype(indices.dtype) || indices.rank() != 1 || other.shape != expected)
    return refuse(table, indices, other);
  SHW_ASSIGN_OR_RETURN(Lookup l, look_up(args, table, indices, other, dim));
  l.strides[1] = Dims(table.shape.size(), 0);
  l.strides[1][dim] = indices.strides[0] * dtype_size(indices.dtype);
  while (l.shape.size() > dim + 1) {
    l.shape.erase(l.shape.size() - 1);
    for (Dims& strides : l.strides) strides.erase(strides.size() - 1);
  }
  return l;
}

namespace {
Status check_dtypes(const TensorType& table, const TensorType& out) {
  if (table.dtype == out.dtype) return {};
  return bad_types(to_string(out) + " does not hold elements of " + to_string(table));
}
}  // namespace

[[gnu::cold]] Prepared prepare_read(const KernelArgs& args, const Lookup& lookup) {
  const TensorType& out = *args.outputs[0];
  SHW_RETURN_IF_ERROR(check_dtypes(*args.inputs[0], out));
  return make_kernel<Read>(lookup, dtype_size(out.dtype), args.inputs.size());
}
[[gnu::cold]] Prepared prepare_read_slices(const KernelArgs& args, const Lookup& lookup) {
  SHW_RETURN_IF_ERROR(check_dtypes(*args.inputs[0], *args.outputs[0]));
  return make_kernel<ReadSlices>(args, lookup);
}

}  // namespace shw::runtime::cpu
