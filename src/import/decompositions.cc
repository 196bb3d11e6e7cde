#include "import/decompositions.h"

#include "import/name_lines.h"

namespace shw::import {
namespace {

// Each line has one overload, or several with the same text: names, arguments with their defaults,
// and the expansion of the call (expansion.h). A name stands for aten.<name>.default. After '@'
// follows a function of decompose.h, which chooses the text. Signatures: native_functions.yaml of
// PyTorch.
constexpr std::string_view kDecompositions = R"(
_adaptive_avg_pool2d|_adaptive_avg_pool3d|adaptive_avg_pool1d(self output_size): @even_pool
_adaptive_avg_pool2d_backward|_adaptive_avg_pool3d_backward(grad_output self): @even_pool_backward
_embedding_bag|_embedding_bag_forward_only(weight indices offsets scale_grad_by_freq=false mode=0 sparse=false per_sample_weights include_last_offset=false padding_idx=-1): @embedding_bag
_embedding_bag_backward(grad indices offsets offset2bag bag_size maximum_indices num_weights scale_grad_by_freq mode sparse per_sample_weights padding_idx=-1): @embedding_bag_backward
_fft_c2c(self dim normalization forward): @fft_c2c
_fft_c2r(self dim normalization last_dim_size): @fft_c2r
_fft_r2c(self dim normalization onesided): @fft_r2c
_prelu_kernel(self weight): where(gt(self, 0), self, mul(self, weight))
_prelu_kernel_backward(grad_output self weight): c = gt(self, 0); z = full_like(grad_output, 0); (where(c, grad_output, mul(weight, grad_output)), where(c, z, mul(self, grad_output)))
_thnn_fused_gru_cell(input_gates hidden_gates hx input_bias hidden_bias): @gru_cell
_thnn_fused_gru_cell_backward(grad_hy workspace has_bias): @gru_cell_backward
_thnn_fused_lstm_cell(input_gates hidden_gates cx input_bias hidden_bias): @lstm_cell
_thnn_fused_lstm_cell_backward_impl(grad_hy grad_cy cx cy workspace has_bias): @lstm_cell_backward
_weight_norm_interface(v g dim=0): @weight_norm
_weight_norm_interface_backward(grad_w saved_v saved_g saved_norms dim): @weight_norm_backward
acos(self): atan2(sqrt(mul(sub(1, self), add(self, 1))), self)
acosh(self): t = sub(self, 1); log1p(add(t, sqrt(mul(t, add(self, 1)))))
addcdiv(self tensor1 tensor2 value=1): add(self, div(tensor1, tensor2), alpha=value)
addcmul(self tensor1 tensor2 value=1): add(self, mul(tensor1, tensor2), alpha=value)
arange(end dtype): @arange
arange.start|arange.start_step(start end step=1 dtype): @arange
argsort(self dim=-1 descending=false): sort(self, dim, descending).1
argsort.stable(self stable dim=-1 descending=false): sort(self, dim, descending, stable=true).1
as_strided|as_strided_copy(self size stride storage_offset=0): @as_strided
as_strided_scatter(self src size stride storage_offset=0): @as_strided_scatter
asin(self): atan2(self, sqrt(mul(sub(1, self), add(self, 1))))
asinh(self): a = abs(self); s = mul(a, a); u = log1p(add(a, div(s, add(sqrt(add(s, 1)), 1)))); mul(sign(self), where(gt(a, 1.0e9), add(log(a), 0.6931471805599453), u))
atan(self): atan2(self, 1)
atanh(self): mul(sub(log1p(self), log1p(neg(self))), 0.5)
avg_pool1d|avg_pool2d|avg_pool3d(self kernel_size stride=[] padding=0 ceil_mode=false count_include_pad=true divisor_override): @avg_pool
avg_pool2d_backward|avg_pool3d_backward(grad_output self kernel_size stride padding ceil_mode count_include_pad divisor_override): @avg_pool_backward
bernoulli|bernoulli.p(self p): @bernoulli
bitwise_xor.Tensor|bitwise_xor.Scalar(self other): bitwise_and(bitwise_or(self, other), bitwise_not(bitwise_and(self, other)))
bucketize.Tensor(self boundaries out_int32=false right=false): @bucketize
clamp.Tensor|clamp_min.Tensor(self min max): @clamp
clamp_max.Tensor(self max): minimum(self, max)
complex(real imag): view_as_complex(stack([real, imag], -1))
convolution(input weight bias stride padding dilation transposed output_padding groups): @convolution
convolution_backward(grad_output input weight bias_sizes stride padding dilation transposed output_padding groups output_mask): @convolution_backward
copy(self src non_blocking=false): @copy
cosh(self): mul(add(exp(self), exp(neg(self))), 0.5)
diagonal|diagonal_copy(self offset=0 dim1=0 dim2=1): @diagonal
div.Tensor_mode|div.Scalar_mode(self other rounding_mode): @div
dot(self tensor): sum(mul(self, tensor))
elu(self alpha=1 scale=1 input_scale=1): where(gt(self, 0), mul(self, scale), mul(mul(expm1(mul(self, input_scale)), alpha), scale))
elu_backward(grad_output alpha scale input_scale is_result self_or_result): @elu_backward
empty_permuted(size physical_layout dtype): full(size, 0, dtype=dtype)
empty_strided(size stride dtype): full(size, 0, dtype=dtype)
exp2(self): pow_tensor(2, self)
fill.Scalar(self value): full_like(self, value)
fill.Tensor(self value): clone(expand(value, sizes(self)))
fmod.Tensor(self other): r = remainder(abs(self), abs(other)); where(lt(self, 0), neg(r), r)
fmod.Scalar(self other): @fmod
frac(self): sub(self, where(lt(self, 0), ceil(self), floor(self)))
glu(self dim=-1): s = split(self, half(self, dim), dim); mul(s.0, sigmoid(s.1))
glu_backward(grad_output self dim): s = split(self, half(self, dim), dim); y = sigmoid(s.1); cat([mul(grad_output, y), sigmoid_backward(mul(grad_output, s.0), y)], dim)
hardsigmoid(self): div(clamp(add(self, 3), 0, 6), 6)
hardsigmoid_backward(grad_output self): masked_fill(div(grad_output, 6), ge(abs(self), 3), 0)
hardswish(self): div(mul(self, clamp(add(self, 3), 0, 6)), 6)
hardswish_backward(grad_output self): g = masked_fill(mul(grad_output, add(div(self, 3), 0.5)), lt(self, -3), 0); where(gt(self, 3), grad_output, g)
hardtanh(self min_val=-1 max_val=1): clamp(self, min_val, max_val)
hardtanh_backward(grad_output self min_val max_val): masked_fill(grad_output, logical_or(le(self, min_val), ge(self, max_val)), 0)
histc(self bins=100 min=0 max=0): @histc
hypot(self other): sqrt(add(mul(self, self), mul(other, other)))
imag(self): select(view_as_real(self), -1, 1)
index_add(self dim index source alpha=1): index_put(self, mul(source, alpha), [index], dims=dim, accumulate=true)
index_copy(self dim index source): index_put(self, source, [index], dims=dim)
index_fill.int_Scalar(self dim index value): index_put(self, scalar_tensor(value, dtype(self)), [index], dims=dim)
index_fill.int_Tensor(self dim index value): index_put(self, value, [index], dims=dim)
isfinite(self): lt(abs(self), inf)
isinf(self): eq(abs(self), inf)
isnan(self): ne(self, self)
leaky_relu(self negative_slope=0.01): where(gt(self, 0), self, mul(self, negative_slope))
leaky_relu_backward(grad_output self negative_slope self_is_result): where(gt(self, 0), grad_output, mul(grad_output, negative_slope))
lerp.Scalar(self end weight): add(self, sub(end, self), alpha=weight)
lerp.Tensor(self end weight): add(self, mul(sub(end, self), weight))
lift_fresh|lift_fresh_copy|prims.device_put(self device non_blocking): alias(self)
linalg_vector_norm(self ord=2 dim=[] keepdim=false dtype): @vector_norm
linspace(start end steps dtype): @linspace
log10(self): mul(log(self), 0.4342944819032518)
log2(self): mul(log(self), 1.4426950408889634)
log_sigmoid_backward(grad_output self buffer): mul(grad_output, sigmoid(neg(self)))
log_sigmoid_forward(self): z = log1p(exp(neg(abs(self)))); (sub(clamp(self, max=0), z), none)
logaddexp(self other): add(maximum(self, other), log1p(exp(neg(abs(sub(self, other))))))
logical_xor(self other): ne(logical_not(self), logical_not(other))
logit(self eps): @logit
logsumexp(self dim keepdim=false): m = amax(self, dim, true); z = masked_fill(m, eq(abs(m), inf), 0); k = amax(self, dim, keepdim); add(log(sum(exp(sub(self, z)), dim, keepdim)), masked_fill(k, eq(abs(k), inf), 0))
max_pool2d_with_indices|max_pool3d_with_indices(self kernel_size stride=[] padding=0 dilation=1 ceil_mode=false): @max_pool
max_pool2d_with_indices_backward|max_pool3d_with_indices_backward(grad_output self kernel_size stride padding dilation ceil_mode indices): @max_pool_backward
mish(self): mul(self, tanh(add(clamp(self, 0), log1p(exp(neg(abs(self)))))))
mv(self vec): squeeze(mm(self, unsqueeze(vec, 1)), 1)
nan_to_num(self nan=0 posinf neginf): @nan_to_num
native_group_norm(input weight bias N C HxW group eps): @group_norm
native_group_norm_backward(grad_out input mean rstd weight N C HxW group output_mask): @group_norm_backward
native_layer_norm(input normalized_shape weight bias eps): @layer_norm
native_layer_norm_backward(grad_out input normalized_shape mean rstd weight bias output_mask): @layer_norm_backward
new_empty_strided(self size stride dtype): new_full(self, size, 0, dtype=dtype)
outer(self vec2): mul(unsqueeze(self, 1), vec2)
polar(abs angle): view_as_complex(stack([mul(abs, cos(angle)), mul(abs, sin(angle))], -1))
pow.Scalar(self exponent): pow_tensor(self, exponent)
pow.Tensor_Tensor(self exponent): pow_tensor(self, exponent)
prims._low_memory_max_pool_offsets_to_indices(offsets kernel_size input_size stride padding dilation): @max_pool_indices
prims._low_memory_max_pool_with_offsets(self kernel_size stride padding dilation ceil_mode): @max_pool_offsets
prims.rev(self dims): flip(self, dims)
randint(high size dtype): @randint
randint.low(low high size dtype): @randint
randperm(n dtype): @randperm
real(self): select(view_as_real(self), -1, 0)
reflection_pad1d|reflection_pad2d|reflection_pad3d(self padding): @reflection_pad
reflection_pad1d_backward|reflection_pad2d_backward|reflection_pad3d_backward(grad_output self padding): @reflection_pad_backward
replication_pad1d|replication_pad2d|replication_pad3d(self padding): @replication_pad
replication_pad1d_backward|replication_pad2d_backward|replication_pad3d_backward(grad_output self padding): @replication_pad_backward
roll(self shifts dims=[]): @roll
rsub.Scalar|rsub.Tensor(self other alpha=1): sub(other, self, alpha=alpha)
scatter_reduce.two(self dim index src reduce include_self=true): @scatter_reduce
sgn(self): sign(self)
sinh(self): u = expm1(self); mul(add(u, div(u, add(u, 1))), 0.5)
softplus(self beta=1 threshold=20): b = mul(self, beta); s = add(clamp(b, 0), log1p(exp(neg(abs(b))))); where(gt(b, threshold), self, div(s, beta))
softplus_backward(grad_output self beta threshold): b = mul(self, beta); where(gt(b, threshold), grad_output, mul(grad_output, sigmoid(b)))
square(self): mul(self, self)
std.correction(self dim=[] correction=1 keepdim=false): sqrt(var(self, dims=dim, correction=correction, keepdim=keepdim))
std_mean.correction(self dim=[] correction=1 keepdim=false): (sqrt(var(self, dims=dim, correction=correction, keepdim=keepdim)), mean(self, dims=dim, keepdim=keepdim))
take(self index): index(view(self, [-1]), [index])
tan(self): div(sin(self), cos(self))
threshold(self threshold value): masked_fill(self, le(self, threshold), value)
transformers.grouped_mm_fallback(input weight offs): grouped_mm(input, weight, offs)
transformers.grouped_mm_fallback_backward(input weight offs grad_output): (grouped_mm(grad_output, transpose(weight, 1, 2), offs), grouped_mm(t(input), grad_output, offs))
trunc|fix(self): where(lt(self, 0), ceil(self), floor(self))
unfold|unfold_copy(self dimension size step): @unfold
unfold_backward(grad_in input_sizes dim size step): @unfold_backward
var_mean.correction(self dim=[] correction=1 keepdim=false): (var(self, dims=dim, correction=correction, keepdim=keepdim), mean(self, dims=dim, keepdim=keepdim))
where.ScalarOther(condition self other): where(condition, self, scalar_tensor(other))
where.ScalarSelf(condition self other): where(condition, scalar_tensor(self), other)
where.Scalar(condition self other): where(condition, scalar_tensor(self), scalar_tensor(other))
xlogy.Tensor(self other): masked_fill(mul(self, log(other)), eq(self, 0), 0)
zero(self): full_like(self, 0)
)";

// Operations whose results no plan can express, with the reason.
constexpr std::string_view kRefused = R"(
_local_scalar_dense|item|masked_select|nonzero|unique_consecutive|_unique2|unique_dim|repeat_interleave.Tensor|bincount: its result depends on the values of a tensor, and so does the rest of the graph; a plan is made before they are known
_scaled_dot_product_attention_math|_scaled_dot_product_fused_attention_overrideable: this kernel of attention is not known; trace with flash, efficient or cuDNN attention, or on a CPU
_native_batch_norm_legit|native_batch_norm|cudnn_batch_norm|miopen_batch_norm: it changes its buffers in place; functionalize the graph and decompose it (_native_batch_norm_legit_functional)
)";

std::string_view short_name(std::string_view target) {
  if (target.starts_with("aten.")) target.remove_prefix(5);
  if (target.ends_with(".default")) target.remove_suffix(8);
  return target;
}

}  // namespace

std::optional<Decomposition> find_decomposition(std::string_view target) {
  const std::string_view line = behind_name(kDecompositions, short_name(target));
  if (line.empty()) return std::nullopt;
  const size_t close = line.find("): ");
  return Decomposition{line.substr(1, close - 1), line.substr(close + 3)};
}

std::string_view why_refused(std::string_view target) {
  const std::string_view line = behind_name(kRefused, short_name(target));
  return line.empty() ? line : line.substr(2);
}

std::vector<std::string_view> decomposed_targets() {
  std::vector<std::string_view> names;
  for_each_name(kDecompositions,
                [&names](std::string_view name, std::string_view) { names.push_back(name); });
  return names;
}

}  // namespace shw::import
