#include "runtime/cpu/lookup.h"

#include <cstring>

#include "runtime/index_shape.h"
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

Lookup lookup_of(const IndexShape& s) {
  const IndexedDim& dim = s.indexed[0];
  return {s.shape,
          {s.table, s.indices[0], s.other},
          dim.part,
          dim.stride_bytes,
          load_row<Int>(dim.dtype)};
}

}  // namespace

Result<Lookup> lookup_elements(const KernelArgs& args, const TensorType& table,
                               const TensorType& indices, const TensorType& other) {
  SHW_ASSIGN_OR_RETURN(const IndexShape shape, element_lookup_shape(args, table, indices, other));
  return lookup_of(shape);
}

Result<Lookup> lookup_slices(const KernelArgs& args, const TensorType& table,
                             const TensorType& indices, const TensorType& other) {
  SHW_ASSIGN_OR_RETURN(const IndexShape shape, slice_lookup_shape(args, table, indices, other));
  Lookup l = lookup_of(shape);
  while (!l.shape.empty() && shape.positions[l.shape.size() - 1] == 0) {
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
