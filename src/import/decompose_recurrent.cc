// Cells of recurrent networks. The workspaces that the forward step passes to the backward step
// have the layout of ATen's CUDA kernels.
#include "import/decompose.h"

namespace shw::import::decompose {
namespace {

void zeros_if_absent(Expansion& e, std::string_view name, NodeId like) {
  if (e.has(name)) return;
  e.bind("like", like);
  e.run("full_like(like, 0)");
  e.bind(name, e.at("it"));
}

}  // namespace

std::string_view lstm_cell(Expansion& e) {
  e.run("g = add(input_gates, hidden_gates); g");
  if (e.has("input_bias")) e.run("g = add(add(g, input_bias), hidden_bias); g");
  return "s = split(g, size(cx, -1), 1); i = sigmoid(s.0); f = sigmoid(s.1); c = tanh(s.2); "
         "o = sigmoid(s.3); y = add(mul(f, cx), mul(i, c)); "
         "(mul(o, tanh(y)), y, cat([i, f, c, o], 1))";
}

std::string_view lstm_cell_backward(Expansion& e) {
  zeros_if_absent(e, "grad_hy", e.node("cy"));
  zeros_if_absent(e, "grad_cy", e.node("cy"));
  return "s = split(workspace, size(cx, -1), 1); i = s.0; f = s.1; c = s.2; o = s.3; t = tanh(cy); "
         "y = add(grad_cy, tanh_backward(mul(grad_hy, o), t)); "
         "g = cat([sigmoid_backward(mul(y, c), i), sigmoid_backward(mul(y, cx), f), "
         "tanh_backward(mul(y, i), c), sigmoid_backward(mul(grad_hy, t), o)], 1); "
         "(g, mul(y, f), sum(g, [0]))";
}

std::string_view gru_cell(Expansion& e) {
  if (e.has("input_bias"))
    e.run(
        "input_gates = add(input_gates, input_bias); "
        "hidden_gates = add(hidden_gates, hidden_bias); hidden_gates");
  return "a = split(input_gates, size(hx, -1), 1); b = split(hidden_gates, size(hx, -1), 1); "
         "r = sigmoid(add(a.0, b.0)); z = sigmoid(add(a.1, b.1)); h = b.2; "
         "n = tanh(add(a.2, mul(r, h))); (add(n, mul(z, sub(hx, n))), cat([r, z, n, hx, h], 1))";
}

std::string_view gru_cell_backward(Expansion&) {
  return "s = split(workspace, size(grad_hy, -1), 1); r = s.0; z = s.1; n = s.2; "
         "m = tanh_backward(mul(grad_hy, sub(1, z)), n); "
         "gz = sigmoid_backward(mul(grad_hy, sub(s.3, n)), z); "
         "gr = sigmoid_backward(mul(m, s.4), r); "
         "a = cat([gr, gz, m], 1); b = cat([gr, gz, mul(m, r)], 1); "
         "(a, b, mul(grad_hy, z), sum(a, [0]), sum(b, [0]))";
}

}  // namespace shw::import::decompose
