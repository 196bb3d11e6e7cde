#include "runtime/cuda/plugin/attention.h"

#include <algorithm>
#include <vector>

#include "runtime/attention_dropout.h"
#include "runtime/attention_shape.h"
#include "runtime/cuda/plugin/attention_cudnn.h"
#include "runtime/cuda/plugin/documents.h"
#include "runtime/cuda/plugin/flash.h"
#include "runtime/cuda/plugin/loops.h"
#include "runtime/cuda/plugin/tiled_attention.h"

namespace shw::runtime::cuda {
namespace {

bool is_there(std::span<const TensorType* const> types, size_t i) {
  return i < types.size() && types[i] != nullptr;
}
// The index of operand `documents`: after the other operands of sdpa and of sdpa_backward.
constexpr size_t kDocuments = 4, kDocumentsOfBackward = 9;

unsigned tile_programs(bool is_flash, bool is_tiled) {
  return (is_flash ? cuda::programs(DeviceProgram::flash) : 0) |
         (is_tiled ? cuda::programs(DeviceProgram::tiled_attention) : 0);
}

void* pointer(void* const* buffers, size_t i, bool there) { return there ? buffers[i] : nullptr; }

HeadWindow window(const TensorType& type) {
  HeadWindow w{};
  set_strides(strides_bytes(type), w.stride);
  w.dtype = static_cast<int>(type.dtype);
  return w;
}

Result<HeadWindow> bias_window(const TensorType& type, const AttentionShape& s) {
  const Dims scores{s.batch, s.heads, s.queries, s.keys};
  if (!broadcasts_to(type.shape, scores))
    return bad_types("the bias " + to_string(type) + " does not broadcast to the scores");
  if (!is_floating(type.dtype))
    return unimplemented("an attention mask in " + std::string(dtype_name(type.dtype)));
  HeadWindow w{};
  set_strides(broadcast_strides_bytes(type, scores), w.stride);
  w.dtype = static_cast<int>(type.dtype);
  return w;
}

Dtype compute_dtype(const TensorType& q) {
  return q.dtype == Dtype::kF64 ? Dtype::kF64 : Dtype::kF32;
}

// Reads operands q, k, v from input `first` on, followed by the bias, if there is one.
Result<AttentionArguments> read_forward(const KernelArgs& args, size_t first,
                                        const AttentionShape& s) {
  AttentionArguments a{};
  a.batch = s.batch;
  a.heads = s.heads;
  a.key_heads = std::max<int64_t>(1, s.key_heads);
  a.queries = s.queries;
  a.keys = s.keys;
  a.width = s.width;
  a.value_width = s.value_width;
  a.scale = s.scale;
  a.left = s.window.left;
  a.right = s.window.right;
  a.q = window(*args.inputs[first]);
  a.k = window(*args.inputs[first + 1]);
  a.v = window(*args.inputs[first + 2]);
  if (is_there(args.inputs, first + 3)) {
    SHW_ASSIGN_OR_RETURN(a.bias, bias_window(*args.inputs[first + 3], s));
    a.has_bias = 1;
  }
  return a;
}

void set_lse(const LogSumExp& lse, AttentionArguments& a) {
  a.lse_batch = lse.batch_stride;
  a.lse_head = lse.head_stride;
  a.lse_row = lse.stride;
  a.lse_length = lse.length;
}

// Fills what is valid if there is dropout.
void set_dropout(const AttentionDropout& dropout, AttentionArguments& a) {
  a.dropout = {dropout.dropped.least,
               dropout.dropped.scale,
               dropout.first,
               {dropout.batch_stride, dropout.head_stride, dropout.query_stride}};
}

class Sdpa final : public CudaKernel {
 public:
  AttentionArguments arguments{};
  bool is_f64 = false, has_out = false, has_lse = false;
  bool is_flash = false;                       // if the addresses also allow it
  bool is_tiled = false;                       // used if flash is not
  std::unique_ptr<AttentionByCudnn> by_cudnn;  // if the addresses allow it; null: not available
  Documents documents;
  bool has_dropout = false, returns_seed = false;
  StepSeed seed;  // of the dropout
  size_t output = 0, num_outputs = 0;
  std::vector<std::pair<size_t, int64_t>> zeros;  // results to clear, with their sizes in bytes

  int64_t workspace_bytes() const override {
    if (by_cudnn != nullptr) return by_cudnn->workspace_bytes();
    return has_dropout ? seed_at() + kSeedBytes : documents.bytes();
  }
  unsigned programs() const override {
    return documents.programs() | tile_programs(is_flash, is_tiled) |
           (has_dropout ? cuda::programs(DeviceProgram::draw) : 0);
  }

 protected:
  static constexpr int64_t kSeedBytes = 8;
  int64_t seed_at() const { return workspace_aligned(documents.bytes()); }
  // Launches what draws the seed; null: there is no dropout.
  Result<const void*> draw_seed(CudaStream& stream, void* const* buffers, void* workspace) {
    if (!has_dropout) return static_cast<const void*>(nullptr);
    void* drawn = returns_seed ? buffers[output + kAttentionSeedResult]
                               : static_cast<std::byte*>(workspace) + seed_at();
    const void* run = pointer(buffers, seed.operand, seed.has_run);
    SHW_RETURN_IF_ERROR(launch_elements(stream, DeviceKernel::shw_attention_seed, 1, drawn, run,
                                        DeviceSeed{static_cast<i64>(seed.own), seed.stride}));
    return static_cast<const void*>(drawn);
  }
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    for (const auto& [buffer, bytes] : zeros) stream.fill(buffers[buffer], std::byte{0}, bytes);
    // At least one block: it fills the rows after the last query.
    void* out = pointer(buffers, output, has_out);
    void* lse = pointer(buffers, output + 1, has_lse);
    void* bias = pointer(buffers, 3, arguments.has_bias != 0);
    void* workspace = buffers[output + num_outputs];
    SHW_ASSIGN_OR_RETURN(const void* drawn, draw_seed(stream, buffers, workspace));
    const AttentionBuffers given{buffers[0], buffers[1], buffers[2], bias, out, lse, drawn};
    if (by_cudnn != nullptr && fits_flash(given)) return by_cudnn->run(stream, given, workspace);
    if (is_flash && fits_flash(given)) return launch_flash(stream, arguments, given);
    SHW_ASSIGN_OR_RETURN(const KeySpan* spans,
                         documents.run(stream, buffers, workspace, origin.node));
    if (is_tiled) return launch_tiled(stream, arguments, given, spans);
    return launch_blocks(
        stream, is_f64 ? DeviceKernel::shw_attention_f64 : DeviceKernel::shw_attention_f32,
        std::max<int64_t>(1, arguments.batch * arguments.heads * arguments.queries), out, lse,
        buffers[0], buffers[1], buffers[2], bias, spans, drawn, arguments);
  }
};

enum In : size_t { kGrad, kQ, kK, kV, kBias, kOut, kLse };
enum Res : size_t { kDq, kDk, kDv, kDbias, kNumRes };

class SdpaBackward final : public CudaKernel {
 public:
  AttentionBackwardArguments arguments{};
  bool is_f64 = false, is_flash = false, is_tiled = false;  // as above
  std::unique_ptr<AttentionByCudnn> by_cudnn;
  Documents documents;
  bool has_dropout = false;
  std::array<bool, kNumRes> wanted{};
  size_t num_inputs = 0, num_outputs = 0;

  // The workspace holds the documents, rowsum(grad ∘ out) of each query, and parts of gradients.
  int64_t workspace_bytes() const override {
    const int64_t ours = parts_at() + (is_flash ? flash_part_bytes(arguments) : 0);
    return by_cudnn != nullptr ? std::max(ours, by_cudnn->workspace_bytes()) : ours;
  }
  int64_t parts_at() const {
    const AttentionArguments& a = arguments.forward;
    return workspace_aligned(documents.bytes() + a.batch * a.heads * a.queries * (is_f64 ? 8 : 4));
  }
  unsigned programs() const override {
    return documents.programs() | tile_programs(is_flash, is_tiled);
  }

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    const AttentionArguments& a = arguments.forward;
    const auto result = [&](Res r) { return pointer(buffers, num_inputs + r, wanted[r]); };
    void* workspace = buffers[num_inputs + num_outputs];
    void* deltas = static_cast<std::byte*>(workspace) + documents.bytes();
    void* bias = pointer(buffers, kBias, a.has_bias != 0);
    const AttentionGradients given{buffers[kGrad],
                                   buffers[kQ],
                                   buffers[kK],
                                   buffers[kV],
                                   bias,
                                   buffers[kOut],
                                   buffers[kLse],
                                   result(kDq),
                                   result(kDk),
                                   result(kDv),
                                   result(kDbias),
                                   deltas,
                                   static_cast<std::byte*>(workspace) + parts_at(),
                                   pointer(buffers, kAttentionDrawnSeed, has_dropout)};
    if (by_cudnn != nullptr && fits_flash(given)) return by_cudnn->run(stream, given, workspace);
    if (is_flash && fits_flash(given)) return launch_flash(stream, arguments, given);
    SHW_ASSIGN_OR_RETURN(const KeySpan* spans,
                         documents.run(stream, buffers, workspace, origin.node));
    if (is_tiled) return launch_tiled(stream, arguments, given, spans);
    SHW_RETURN_IF_ERROR(launch_blocks(
        stream, is_f64 ? DeviceKernel::shw_attention_dq_f64 : DeviceKernel::shw_attention_dq_f32,
        a.batch * a.heads * a.queries, result(kDq), result(kDbias), deltas, buffers[kGrad],
        buffers[kQ], buffers[kK], buffers[kV], bias, buffers[kOut], buffers[kLse], spans,
        given.seed, arguments));
    if (!wanted[kDk] && !wanted[kDv]) return {};
    return launch_blocks(
        stream, is_f64 ? DeviceKernel::shw_attention_dkv_f64 : DeviceKernel::shw_attention_dkv_f32,
        a.batch * a.key_heads * a.keys, result(kDk), result(kDv), deltas, buffers[kGrad],
        buffers[kQ], buffers[kK], buffers[kV], bias, buffers[kOut], buffers[kLse], spans,
        given.seed, arguments);
  }
};

Status prepare_results(const KernelArgs& args, const AttentionShape& s, SdpaBackward& kernel) {
  HeadWindow* const windows[] = {&kernel.arguments.dq, &kernel.arguments.dk, &kernel.arguments.dv};
  for (size_t r = kDq; r <= kDv; ++r) {
    kernel.wanted[r] = is_there(args.outputs, r);
    if (!kernel.wanted[r]) continue;
    const TensorType& of = *args.inputs[kQ + r];
    SHW_ASSIGN_OR_RETURN(const TensorType type, as_heads(args, *args.outputs[r]));
    if (type.shape != of.shape)
      return bad_types(to_string(type) + " is not the gradient of " + to_string(of));
    *windows[r] = window(type);
  }
  kernel.wanted[kDbias] = is_there(args.outputs, kDbias);
  if (!kernel.wanted[kDbias]) return {};
  const TensorType& type = *args.outputs[kDbias];
  if (type.shape != Dims{s.batch, s.heads, s.queries, s.keys} || !is_floating(type.dtype))
    return unimplemented("the gradient of an attention bias that is broadcast, " + to_string(type));
  kernel.arguments.dbias = window(type);
  return {};
}

}  // namespace

Prepared prepare_sdpa(const Context& context, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 3, 0));
  const TensorType &q = *args.inputs[0], &v = *args.inputs[2];
  SHW_ASSIGN_OR_RETURN(const AttentionShape shape, attention_shape(args, q, *args.inputs[1], v));
  auto kernel = std::make_unique<Sdpa>();
  SHW_ASSIGN_OR_RETURN(kernel->arguments, read_forward(args, 0, shape));
  kernel->is_f64 = q.dtype == Dtype::kF64;
  kernel->output = args.inputs.size();
  kernel->num_outputs = args.outputs.size();
  SHW_ASSIGN_OR_RETURN(kernel->documents, Documents::of(args, kDocuments, shape, "sdpa"));
  kernel->has_out = is_there(args.outputs, 0);
  if (kernel->has_out) {
    SHW_ASSIGN_OR_RETURN(const TensorType out, as_heads(args, *args.outputs[0]));
    if (out.shape != Dims{q.shape[0], q.shape[1], q.shape[2], v.shape[3]})
      return bad_types(to_string(out) + " is not the result of this attention");
    kernel->arguments.out = window(out);
  }
  SHW_ASSIGN_OR_RETURN(const AttentionDropout dropout, attention_dropout(args, shape));
  SHW_ASSIGN_OR_RETURN(kernel->seed, attention_seed(args));
  kernel->has_dropout = dropout.is_there();
  kernel->returns_seed = dropout.is_there() && is_there(args.outputs, kAttentionSeedResult);
  set_dropout(dropout, kernel->arguments);
  if (kernel->returns_seed)
    SHW_RETURN_IF_ERROR(check_drawn_seed(*args.outputs[kAttentionSeedResult]));
  kernel->has_lse = is_there(args.outputs, 1) && args.outputs[1]->numel() > 0;
  if (kernel->has_lse) {
    SHW_ASSIGN_OR_RETURN(const LogSumExp lse,
                         LogSumExp::create(*args.outputs[1], shape, compute_dtype(q)));
    set_lse(lse, kernel->arguments);
  }
  for (size_t i = 2; i < args.outputs.size(); ++i) {
    if (!is_there(args.outputs, i)) continue;
    if (!args.outputs[i]->contiguous())
      return bad_types("the random state " + to_string(*args.outputs[i]) + " has gaps");
    kernel->zeros.emplace_back(kernel->output + i, args.outputs[i]->bytes());
  }
  // Neither cuDNN nor tensor cores are used for documents or dropout.
  const bool is_plain = !kernel->documents.are_there() && !kernel->has_dropout;
  if (is_plain && kernel->has_out)
    kernel->by_cudnn = AttentionByCudnn::create(context, kernel->arguments, kernel->has_lse);
  // A step that cuDNN computes does not need the large programs, which take seconds to compile. A
  // kernel of this library is then used only for addresses that cuDNN does not support.
  const bool by_tiles = kernel->by_cudnn == nullptr;
  kernel->is_flash = by_tiles && is_plain && fits_flash(kernel->arguments);
  kernel->is_tiled = by_tiles && fits_tiled(kernel->arguments);
  return std::unique_ptr<PreparedKernel>(std::move(kernel));
}

Prepared prepare_sdpa_backward(const Context& context, const KernelArgs& args) {
  for (size_t i : {kGrad, kQ, kK, kV, kOut, kLse})
    if (!is_there(args.inputs, i))
      return invalid_argument("sdpa_backward lacks operand " + std::to_string(i) +
                              " of (grad, q, k, v, bias, out, lse)");
  const TensorType &grad = *args.inputs[kGrad], &q = *args.inputs[kQ], &out = *args.inputs[kOut];
  SHW_ASSIGN_OR_RETURN(const AttentionShape s,
                       attention_shape(args, q, *args.inputs[kK], *args.inputs[kV]));
  const Dims result{s.batch, s.heads, s.queries, s.value_width};
  if (grad.shape != result || out.shape != result)
    return bad_types("the gradient " + to_string(grad) + " and the result " + to_string(out) +
                     " are not those of this attention");
  auto kernel = std::make_unique<SdpaBackward>();
  SHW_ASSIGN_OR_RETURN(kernel->arguments.forward, read_forward(args, kQ, s));
  SHW_ASSIGN_OR_RETURN(const LogSumExp lse,
                       LogSumExp::create(*args.inputs[kLse], s, compute_dtype(q)));
  if (lse.length == 0 && s.queries > 0) return bad_types("the softmax denominators are missing");
  set_lse(lse, kernel->arguments.forward);
  kernel->arguments.forward.out = window(out);
  kernel->arguments.grad = window(grad);
  kernel->is_f64 = q.dtype == Dtype::kF64;
  kernel->num_inputs = args.inputs.size();
  kernel->num_outputs = args.outputs.size();
  SHW_ASSIGN_OR_RETURN(kernel->documents,
                       Documents::of(args, kDocumentsOfBackward, s, "sdpa_backward"));
  SHW_RETURN_IF_ERROR(prepare_results(args, s, *kernel));
  SHW_ASSIGN_OR_RETURN(const AttentionDropout dropout, attention_dropout(args, s));
  kernel->has_dropout = dropout.is_there();
  if (kernel->has_dropout) SHW_RETURN_IF_ERROR(check_drawn_seed(args));
  set_dropout(dropout, kernel->arguments.forward);
  kernel->arguments.parts = flash_parts(kernel->arguments.forward);
  const bool is_plain = !kernel->documents.are_there() && !kernel->has_dropout;  // as above
  if (is_plain && kernel->wanted[kDq] && kernel->wanted[kDk] && kernel->wanted[kDv])
    kernel->by_cudnn = AttentionByCudnn::create(context, kernel->arguments);
  const bool by_tiles = kernel->by_cudnn == nullptr;  // as above
  kernel->is_flash = by_tiles && is_plain && fits_flash(kernel->arguments);
  kernel->is_tiled = by_tiles && fits_tiled(kernel->arguments.forward);
  return std::unique_ptr<PreparedKernel>(std::move(kernel));
}

}  // namespace shw::runtime::cuda
