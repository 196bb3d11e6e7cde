#include "runtime/cuda/plugin/ranking.h"

#include <algorithm>

#include "runtime/cuda/plugin/line_arguments.h"
#include "runtime/cuda/plugin/sorting.h"
#include "runtime/ranking_shape.h"

namespace shw::runtime::cuda {
namespace {

// A limited number of lines is sorted at a time, so that the workspace stays small compared with
// large tensors. Its size is about 128 MiB, or two entries for each element of a longer line.
constexpr int64_t kEntriesAtOnce = int64_t{1} << 22;

class RankingKernel final : public CudaKernel {
 public:
  RankingKernel(const LineArguments& arguments, int64_t taken, bool is_real)
      : arguments_(arguments),
        taken_(taken),
        is_real_(is_real),
        at_once_(std::min<int64_t>(
            arguments.places.total,
            std::max<int64_t>(1, kEntriesAtOnce / std::max<int64_t>(1, arguments.count)))) {}
  int64_t workspace_bytes() const override {
    return LineSort{at_once_, arguments_.count}.workspace_bytes();
  }

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    const void* in = buffers[0];
    auto* entries = static_cast<SortEntry*>(buffers[3]);
    for (i64 first = 0; first < arguments_.places.total; first += at_once_) {
      const i64 lines = std::min<i64>(at_once_, arguments_.places.total - first), taken = taken_;
      SHW_RETURN_IF_ERROR(launch_elements(
          stream, is_real_ ? DeviceKernel::shw_rank_keys_f64 : DeviceKernel::shw_rank_keys_i64,
          lines * arguments_.count, entries, in, arguments_, first, lines));
      SHW_ASSIGN_OR_RETURN(const SortEntry* sorted,
                           LineSort({lines, arguments_.count}).run(stream, entries));
      SHW_RETURN_IF_ERROR(launch_elements(
          stream, is_real_ ? DeviceKernel::shw_rank_write_f64 : DeviceKernel::shw_rank_write_i64,
          lines * taken, buffers[1], buffers[2], in, sorted, arguments_, first, lines, taken));
    }
    return {};
  }

 private:
  const LineArguments arguments_;  // kind 1: largest first
  const int64_t taken_;            // sorted elements of a line that are returned
  const bool is_real_;
  const int64_t at_once_;  // lines
};

Prepared ranking(const KernelArgs& args, bool descending) {
  SHW_ASSIGN_OR_RETURN(const RankingShape shape, ranking_shape(args));
  LineArguments a =
      line_arguments<3>(shape.lines, {args.inputs[0], args.outputs[0], args.outputs[1]});
  a.kind = descending ? 1 : 0;
  return make_kernel<RankingKernel>(a, shape.count, is_floating(args.inputs[0]->dtype));
}

}  // namespace

Prepared prepare_sort(const Context&, const KernelArgs& args) {
  return ranking(args, sorts_down(args.attrs));
}
Prepared prepare_topk(const Context&, const KernelArgs& args) {
  return ranking(args, takes_largest(args.attrs));
}

}  // namespace shw::runtime::cuda
