// The text form of a graph (.swt), for tests, diffs and human readers. It is complete:
// parse_graph(print_graph(g)) gives g again, including metadata.
//
//   // a comment
//   input param.w: %w : f32[64,32] {module="proj"}
//   input input.0: %x : f32[8,64] {position=0}
//   %mm = mm(%x, %w) : f32[8,32] {seq=7, module="proj", recompute=must_save, ac=3}
//   %r = sum(%mm, dims=[0], keepdim=true) : f32[1,32] {phase=backward, seq=7}
//   return output.0 = %mm, grad.w = none, update.buffer.cache = %c in_place
//   entry prefill inputs=[0,1] outputs=[0]
//   entry decode weight=100 inputs=[0,2] outputs=[1,2] after=[0]
//
// An input of state has {storage=state}, a constant {data="0000803f"}, its bytes. Entries name
// inputs, outputs and entries by their numbers; without any there is one, `step`, with all of them.
//
// A type is dtype[sizes], followed by {strides} where they are not row-major; a tuple is a list of
// types in parentheses, `none` for a place that holds nothing. `none` as an operand is an absent
// one. Input and output names: Graph::full_name. A name that is not a plain word or not unique is
// written as its node's number and, once, in quotes: `%#12 "odd name" = …`.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "graph/graph.h"
#include "support/status.h"

namespace shw {

std::string print_graph(const Graph& graph);

// Whether the bytes are the text form: after white space and comments, they begin like a line of
// it.
bool is_graph_text(std::span<const uint8_t> bytes);

// INVALID_ARGUMENT, with line and column: the text is not a graph. Checks names and structure, but
// not shapes: see rewrite/verify.h.
Result<Graph> parse_graph(std::string_view text);

}  // namespace shw
