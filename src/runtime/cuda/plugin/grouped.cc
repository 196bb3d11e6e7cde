#include "runtime/cuda/plugin/grouped.h"

#include "runtime/cuda/plugin/loops.h"
#include "runtime/cuda/plugin/tiles.h"
#include "runtime/grouped_shape.h"

namespace shw::runtime::cuda {
namespace {

class GroupedMm final : public CudaKernel {
 public:
  GroupedMm(const GroupedArguments& arguments, bool has_offsets, size_t output)
      : arguments_(arguments), has_offsets_(has_offsets), output_(output) {}

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    arguments_.step.node = origin.node;
    const DeviceKernel kernel = arguments_.dtype[2] == kDeviceF64
                                    ? DeviceKernel::shw_grouped_mm_f64
                                    : DeviceKernel::shw_grouped_mm_f32;
    const void *left = buffers[0], *right = buffers[1],
               *offsets = has_offsets_ ? buffers[2] : nullptr;
    return launch_tiles(stream, kernel, arguments_.tiles, buffers[output_], left, right, offsets,
                        stream.errors(), arguments_);
  }

 private:
  GroupedArguments arguments_;
  const bool has_offsets_;
  const size_t output_;
};

// Sets the strides of groups, rows and columns.
void set_matrix(const TensorType& type, i64* strides) {
  const Dims all = strides_bytes(type);
  const size_t skipped = 3 - all.size();
  for (size_t d = 0; d < all.size(); ++d) strides[skipped + d] = all[d];
}

GroupedKind kind_of(const GroupedShape& s) {
  if (!s.has_offsets) return GroupedKind::kBatches;
  if (s.b_by_group) return GroupedKind::kRows;
  return s.a_by_group ? GroupedKind::kColumns : GroupedKind::kTerms;
}

// Along the dim that offsets cut, each group begins with a new tile.
void set_tiles(const TensorType& out, GroupedArguments& a) {
  const int64_t more = a.groups.whole + 1;
  int64_t down = tiles_of(a.rows);
  a.tiles_across = tiles_of(a.columns);
  if (a.kind == GroupedKind::kRows) down += more;
  if (a.kind == GroupedKind::kColumns) a.tiles_across += more;
  if (a.kind >= GroupedKind::kTerms) down *= out.shape[0];
  a.tiles = down * a.tiles_across;
}

}  // namespace

Prepared prepare_grouped_mm(const Context&, const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const GroupedShape s, grouped_shape(args));
  const TensorType &left = *args.inputs[0], &right = *args.inputs[1], &out = *args.outputs[0];
  GroupedArguments a{};
  a.kind = kind_of(s);
  a.rows = s.rows;
  a.columns = s.columns;
  a.depth = s.depth;
  a.ragged = s.ragged();
  a.groups = {s.groups.first, s.groups.own, s.groups.whole};
  set_matrix(left, a.left);
  set_matrix(right, a.right);
  set_matrix(out, a.out);
  for (const auto& [type, dtype] :
       {std::pair{&left, &a.dtype[0]}, {&right, &a.dtype[1]}, {&out, &a.dtype[2]}})
    *dtype = static_cast<int>(type->dtype);
  if (s.has_offsets) {
    a.offset_step = strides_bytes(*args.inputs[2])[0];
    a.offset_dtype = static_cast<int>(args.inputs[2]->dtype);
  }
  a.step.kernel = kernel_number("grouped_mm");
  set_tiles(out, a);
  return make_kernel<GroupedMm>(a, s.has_offsets, args.inputs.size());
}

}  // namespace shw::runtime::cuda
