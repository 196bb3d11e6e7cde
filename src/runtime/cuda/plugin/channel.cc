#include "runtime/cuda/plugin/channel.h"

#include "runtime/collective/reduce.h"
#include "runtime/cuda/plugin/communicators.h"
#include "runtime/cuda/plugin/gathered.h"
#include "runtime/cuda/plugin/stream.h"

namespace shw::runtime::cuda {
namespace {

// A reduction in NCCL's terms. A complex sum is a sum of pairs.
struct Reduction {
  NcclType type;
  NcclOperation operation;
  int64_t per_element = 1;
};

// bool is a byte with value 0 or 1.
NcclType nccl_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return kNcclF64;
    case Dtype::kF16:
      return kNcclF16;
    case Dtype::kBF16:
      return kNcclBF16;
    case Dtype::kI8:
      return kNcclI8;
    case Dtype::kI32:
      return kNcclI32;
    case Dtype::kI64:
      return kNcclI64;
    case Dtype::kU8:
    case Dtype::kBool:
      return kNcclU8;
    default:
      return kNcclF32;
  }
}

NcclOperation nccl_operation(ReduceOp op, Dtype dtype) {
  const bool is_bool = dtype == Dtype::kBool;
  switch (op) {
    case ReduceOp::kAvg:
      return kNcclAverage;
    case ReduceOp::kMax:
      return kNcclMax;
    case ReduceOp::kMin:
      return kNcclMin;
    case ReduceOp::kProduct:
      return is_bool ? kNcclMin : kNcclProduct;
    default:
      return is_bool ? kNcclMax : kNcclSum;
  }
}

class NcclCollective final : public PreparedKernel {
 public:
  // `named`: the name in error messages.
  NcclCollective(std::shared_ptr<Communicators> job, std::shared_ptr<Group> group,
                 const CollectiveSpec& spec, const CollectiveSpec& named)
      : job_(std::move(job)), group_(std::move(group)), spec_(spec), named_(named) {}

  void launch(Stream& stream, void* const* buffers) override {
    auto& ours = static_cast<CudaStream&>(stream);
    // After a collective that was not dispatched, this one would meet a different collective of the
    // other ranks.
    if (ours.is_poisoned()) return;
    const auto handle = static_cast<StreamHandle>(ours.native());
    const Current current(ours.context());
    CollectiveRecord record;
    record.spec = named_;
    record.node = origin.node;
    const auto on_stream = [&](NcclCommunicator c) {
      return put(c, buffers[0], buffers[1], handle);
    };
    Capture* const capture = ours.capture();
    ours.raise(capture == nullptr ? job_->dispatch(*group_, record, handle, on_stream)
                                  : Communicators::capture(job_, capture->collectives, group_,
                                                           record, ours, on_stream),
               origin);
  }

 private:
  NcclError put(NcclCommunicator c, const void* in, void* out, StreamHandle stream) const {
    const Nccl& nccl = job_->nccl();
    const auto count = static_cast<size_t>(spec_.count * how_.per_element);
    const auto bytes = static_cast<size_t>(spec_.count * dtype_size(spec_.dtype));
    switch (spec_.kind) {
      case CollectiveKind::kAllReduce:
        return nccl.all_reduce(in, out, count, how_.type, how_.operation, c, stream);
      case CollectiveKind::kReduceScatter:
        return nccl.reduce_scatter(in, out, count, how_.type, how_.operation, c, stream);
      case CollectiveKind::kAllGather:
        return nccl.all_gather(in, out, bytes, kNcclU8, c, stream);
      case CollectiveKind::kAllToAll:
        return exchange(c, in, out, bytes, stream);
      case CollectiveKind::kPermute:
        return permute(c, in, out, bytes, stream);
      case CollectiveKind::kNone:
        break;
    }
    return kNcclInvalidUsage;
  }
  NcclError exchange(NcclCommunicator c, const void* in, void* out, size_t bytes,
                     StreamHandle stream) const {
    const Nccl& nccl = job_->nccl();
    NcclError error = nccl.begin_group();
    for (int64_t m = 0; m < group_->size && error == kNcclSuccess; ++m) {
      const size_t at = static_cast<size_t>(m) * bytes;
      const int peer = static_cast<int>(m);
      error = nccl.send(static_cast<const std::byte*>(in) + at, bytes, kNcclU8, peer, c, stream);
      if (error == kNcclSuccess)
        error = nccl.receive(static_cast<std::byte*>(out) + at, bytes, kNcclU8, peer, c, stream);
    }
    const NcclError end = nccl.end_group();
    return error != kNcclSuccess ? error : end;
  }
  NcclError permute(NcclCommunicator c, const void* in, void* out, size_t bytes,
                    StreamHandle stream) const {
    const Nccl& nccl = job_->nccl();
    NcclError error = nccl.begin_group();
    if (error == kNcclSuccess)
      error = nccl.send(in, bytes, kNcclU8, static_cast<int>(spec_.target), c, stream);
    if (error == kNcclSuccess)
      error = nccl.receive(out, bytes, kNcclU8, static_cast<int>(spec_.source), c, stream);
    const NcclError end = nccl.end_group();
    return error != kNcclSuccess ? error : end;
  }

  const std::shared_ptr<Communicators> job_;
  const std::shared_ptr<Group> group_;
  const CollectiveSpec spec_, named_;
  const Reduction how_{nccl_type(spec_.dtype), nccl_operation(spec_.op, spec_.dtype),
                       is_complex(spec_.dtype) ? 2 : 1};
};

class NcclChannel final : public Channel {
 public:
  NcclChannel(std::shared_ptr<Communicators> job, std::shared_ptr<Group> group)
      : job_(std::move(job)), group_(std::move(group)) {}
  int64_t member() const override { return group_->member; }
  int64_t size() const override { return group_->size; }
  Result<std::unique_ptr<PreparedKernel>> prepare(const CollectiveSpec& spec) override {
    SHW_RETURN_IF_ERROR(reduction_of(spec).status());
    if (!is_reduced_here(spec)) return make(spec, spec);
    return prepare_gathered(job_->context(), make(moved_for(spec), spec), spec, size());
  }

 private:
  std::unique_ptr<PreparedKernel> make(const CollectiveSpec& spec, const CollectiveSpec& named) {
    return std::make_unique<NcclCollective>(job_, group_, spec, named);
  }

  const std::shared_ptr<Communicators> job_;
  const std::shared_ptr<Group> group_;
};

// Requires NCCL only from the first channel on: a job of one rank has no channel.
class NcclProvider final : public ChannelProvider {
 public:
  NcclProvider(std::shared_ptr<Context> context, std::unique_ptr<ChannelProvider> control,
               Timeout timeout)
      : context_(std::move(context)), control_(std::move(control)), timeout_(timeout) {}
  int64_t rank() const override { return control_->rank(); }
  const Mesh& mesh() const override { return control_->mesh(); }
  Result<std::unique_ptr<Channel>> channel(std::span<const uint8_t> axes) override {
    if (job_ == nullptr) {
      SHW_ASSIGN_OR_RETURN(job_, Communicators::create(context_, control_, timeout_));
    }
    SHW_ASSIGN_OR_RETURN(auto group, job_->add_group(axes));
    return std::unique_ptr<Channel>(std::make_unique<NcclChannel>(job_, std::move(group)));
  }
  void abort(const Status& cause) override {
    job_ != nullptr ? job_->abort(cause) : control_->abort(cause);
  }
  void give_up(const Status& cause) override { control_->give_up(cause); }
  void reset() override { job_ != nullptr ? job_->reset() : control_->reset(); }
  Status async_status() const override {
    return job_ != nullptr ? job_->async_status() : control_->async_status();
  }

 private:
  const std::shared_ptr<Context> context_;
  const std::shared_ptr<ChannelProvider> control_;
  const Timeout timeout_;
  std::shared_ptr<Communicators> job_;  // null: no channel yet
};

}  // namespace

std::unique_ptr<ChannelProvider> make_channels(std::shared_ptr<Context> context,
                                               std::unique_ptr<ChannelProvider> control,
                                               Timeout timeout) {
  return std::make_unique<NcclProvider>(std::move(context), std::move(control), timeout);
}

}  // namespace shw::runtime::cuda
