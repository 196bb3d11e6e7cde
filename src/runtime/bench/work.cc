#include "runtime/bench/work.h"

#include <algorithm>

#include "runtime/attention_shape.h"
#include "runtime/equation.h"
#include "tensor/key_window.h"

namespace shw::runtime {
namespace {

// Operands by number; null where one is absent.
struct Operands {
  const Program& program;
  const ProgramStep& step;
  const TensorType* in(size_t i) const { return type(step.inputs, i); }
  const TensorType* out(size_t i) const { return type(step.outputs, i); }
  const TensorType* type(std::span<const ValueId> ids, size_t i) const {
    return i < ids.size() && ids[i].valid() ? &program.values[ids[i]].type : nullptr;
  }
};

// Adds a product; the last two dims are those of the matrices.
void add_matrices(const TensorType& a, const TensorType& b, StepWork& work) {
  const size_t r = a.shape.size();
  if (r < 2 || b.shape.size() < 2) return;
  Product p{1, a.shape[r - 2], b.shape.back(), a.shape.back(), a.dtype};
  for (size_t d = 0; d + 2 < r; ++d) p.batch *= a.shape[d];
  work.products.push_back(p);
}

void add_einsum(const Operands& o, StepWork& work) {
  const auto e =
      parse_equation(o.step.attrs.get_string(AttrKey::kEquation), *o.in(0), *o.in(1), *o.out(0));
  if (e.ok())
    work.products.push_back(
        {extent(e->batch), extent(e->rows), extent(e->columns), extent(e->depth), o.in(0)->dtype});
}

// `first`: the number of q among the inputs. Forward: the scores, and the weighted sum of values.
// Backward: the scores again, and the gradients of weights, values, queries and keys.
void add_attention(const Operands& o, size_t first, bool backward, StepWork& work) {
  const TensorType *q = o.in(first), *k = o.in(first + 1), *v = o.in(first + 2);
  if (q == nullptr || k == nullptr || v == nullptr || q->shape.size() != 4) return;
  const auto window = key_window(o.step.attrs, q->shape[2], k->shape[2]);
  if (!window.ok()) return;
  const double seen = visible_pairs(*window, q->shape[2], k->shape[2]);
  const double heads = static_cast<double>(q->shape[0]) * static_cast<double>(q->shape[1]);
  const auto width = static_cast<double>(q->shape[3]), values = static_cast<double>(v->shape[3]);
  work.flops = 2 * heads * seen * (backward ? 3 * width + 2 * values : width + values);
}

bool count_products(const Operands& o, StepWork& work) {
  const std::string& kernel = o.step.kernel;
  const auto matrices = [&](size_t a, size_t b) {
    if (o.in(a) != nullptr && o.in(b) != nullptr) add_matrices(*o.in(a), *o.in(b), work);
  };
  if (kernel == "mm" || kernel == "bmm" || kernel == "scaled_mm")
    matrices(0, 1);
  else if (kernel == "addmm" || kernel == "baddbmm")
    matrices(1, 2);
  else if (kernel == "einsum" && o.in(0) != nullptr && o.in(1) != nullptr && o.out(0) != nullptr)
    add_einsum(o, work);
  else if (kernel == "sdpa" || kernel == "sdpa_backward")
    add_attention(o, kernel == "sdpa" ? 0 : 1, kernel != "sdpa", work);
  else
    return false;
  for (const Product& p : work.products) work.flops += p.flops();
  return true;
}

}  // namespace

double window_bytes(const TensorType& type) {
  double elements = 1;
  for (size_t d = 0; d < type.shape.size(); ++d)
    if (type.strides[d] != 0) elements *= static_cast<double>(type.shape[d]);
  return elements * static_cast<double>(dtype_size(type.dtype));
}

StepWork work_of(const Program& program, const ProgramStep& step) {
  StepWork work;
  const Operands o{program, step};
  if (runs_on_link(program, step)) return work;
  work.is_product = count_products(o, work);
  if (work.is_product) return work;
  for (size_t i = 0; i < step.outputs.size(); ++i)
    if (const TensorType* t = o.out(i); t != nullptr) work.flops += static_cast<double>(t->numel());
  return work;
}

}  // namespace shw::runtime
