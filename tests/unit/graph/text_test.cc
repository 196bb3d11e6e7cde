#include "graph/text.h"

#include <gtest/gtest.h>

#include <limits>

#include "graph/diff.h"
#include "graph/reader.h"
#include "graph/writer.h"

namespace shw {
namespace {

constexpr char kProgram[] = R"(input param.w: %w : f32[64,32] {source="model.py:3"}
input input.0: %x : f32[8,64] {position=0}
input tangent.0: %t : f32[8,32] {position=0, phase=backward}
%mm = mm(%x, %w) : f32[8,32] {seq=7, recompute=must_save, ac=3, module="proj"}
%p = permute(%w, dims=[1,0]) : f32[32,64]{1,32}
%r = sum(%mm, dims=[], keepdim=true) : f32[1,1] {phase=backward, seq=7}
%s = sub(none, %mm, self=1) : f32[8,32]
%m = mul(%s, none, other=-0.5) : f32[8,32]
%c = convert_element_type(%m, dtype=bf16) : bf16[8,32]
%q = sdpa_backward(%t, none, kernel="efficient", is_causal=true) : (f32[8,32], none)
%g = get_item(%q, index=0) : f32[8,32]
return output.0 = %c, output = %mm, grad.w = none, update.input.0 = %x
)";

Graph parsed(std::string_view text) {
  Result<Graph> g = parse_graph(text);
  EXPECT_TRUE(g.ok()) << g.status().message();
  return g.ok() ? std::move(*g) : Graph();
}

std::string refusal(std::string_view text) {
  const Result<Graph> g = parse_graph(text);
  EXPECT_FALSE(g.ok()) << text;
  if (g.ok()) return "";
  EXPECT_EQ(g.status().code(), Code::kInvalidArgument);
  return g.status().message();
}

TEST(GraphText, PrintsWhatItParsed) { EXPECT_EQ(print_graph(parsed(kProgram)), kProgram); }

// 8-bit floats appear as types and as attributes, in text and in bytes.
TEST(GraphText, Float8SurvivesTextAndBytes) {
  constexpr char kText[] = R"(input input.0: %x : f8e4m3fn[8,64]
%y = convert_element_type(%x, dtype=f8e5m2) : f8e5m2[8,64]
return output.0 = %y
)";
  const Graph g = parsed(kText);
  EXPECT_EQ(g.type(NodeId{0}).dtype, Dtype::kF8E4M3);
  EXPECT_EQ(print_graph(g), kText);
  const Result<Graph> read = read_graph(write_graph(g));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(print_graph(*read), kText);
}

TEST(GraphText, KeepsMetadataRolesAndAttributes) {
  const Graph g = parsed(kProgram);
  ASSERT_EQ(g.num_nodes(), 11u);
  const NodeMeta mm{Phase::kForward, Recompute::kMustSave, 3, 7, "proj", ""};
  EXPECT_EQ(g.meta(NodeId{3}), mm);
  EXPECT_EQ(g.inputs()[0], (InputInfo{NodeId{0}, InputRole::kParameter, "w", -1}));
  EXPECT_EQ(g.inputs()[2], (InputInfo{NodeId{2}, InputRole::kTangent, "0", 0}));
  EXPECT_EQ(g.meta(NodeId{2}).phase, Phase::kBackward);
  EXPECT_EQ(g.type(NodeId{4}).strides, (Dims{1, 32}));
  EXPECT_EQ(*g.attrs(NodeId{6}).find(AttrKey::kSelf), AttrValue(int64_t{1}));
  EXPECT_EQ(*g.attrs(NodeId{7}).find(AttrKey::kOther), AttrValue(-0.5));
  EXPECT_FALSE(g.results(NodeId{9})[1].has_value());
  EXPECT_EQ(g.outputs()[2], (OutputInfo{kNoNode, OutputRole::kGradient, "", 0}));
  EXPECT_EQ(g.outputs()[3], (OutputInfo{NodeId{1}, OutputRole::kUpdate, "", 1}));
}

TEST(GraphText, RoundTripsNamesThatAreNoWordsOrNotUnique) {
  Graph g;
  const TensorType t = row_major(Dtype::kF32, {2});
  g.add_input("a \"b\"\n\x01\\", t, {.role = InputRole::kParameter, .name = "L['x'].w"});
  g.add_input("same", t, {.role = InputRole::kParameter, .name = "dup"});
  g.add_input("same", t, {.role = InputRole::kParameter, .name = "dup"});
  g.add_node(OpKind::kAdd, "", {NodeId{1}, NodeId{2}}, {}, t);
  g.add_node(OpKind::kAdd, "4", {NodeId{3}, NodeId{0}}, {}, t);  // a word, but that of node 4
  g.add_node(OpKind::kNeg, "%9", {NodeId{4}}, {}, t);
  g.add_output({NodeId{5}, OutputRole::kResult, "first result", -1});
  g.add_output({NodeId{4}, OutputRole::kGradient, "", 0});
  g.add_output({NodeId{4}, OutputRole::kGradient, "", 2});
  const std::string text = print_graph(g);
  EXPECT_EQ(first_difference(parsed(text), g), "") << text;
}

TEST(GraphText, RoundTripsEveryFloat) {
  Graph g;
  const TensorType t = row_major(Dtype::kF64, {});
  g.add_input("x", t, {});
  for (double v :
       {0.0, -0.0, 1e-300, 1e300, 0.1, 3.0, std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    Attrs attrs;
    attrs.set(AttrKey::kOther, v);
    g.add_node(OpKind::kMul, "", {NodeId{0}, kNoNode}, std::move(attrs), t);
  }
  EXPECT_EQ(first_difference(parsed(print_graph(g)), g), "");
}

constexpr char kSymbolic[] = R"(symbol batch min=1 max=64 divisor=4 hint=8
symbol n min=0 max=4096 hint=16
input input.0: %x : f32[batch,n]
%p = permute(%x, dims=[1,0]) : f32[n,batch]{1,16}
%v = view(%p, size=[batch*n,1]) : f32[2*batch+-1*n+128,1]
%s = slice(%x, dim=1, start=0, end=n+-1, step=1) : f32[batch,n+-1]{16,1}
return output.0 = %p
)";

TEST(GraphText, KeepsSymbolsAndTheirExpressions) {
  const std::string text = std::string(kSymbolic).replace(
      std::string(kSymbolic).find("batch*n"), 7, "8*n");  // products of symbols are not affine
  EXPECT_NE(refusal(kSymbolic), "");
  const Graph g = parsed(text);
  EXPECT_EQ(print_graph(g), text);
  ASSERT_EQ(g.symbols().table.size(), 2u);
  EXPECT_EQ(g.symbols().table[0], (Symbol{"batch", 1, 64, 4, 8}));
  EXPECT_EQ(g.type(NodeId{0}).shape, (Dims{8, 16}));
  EXPECT_EQ(g.type(NodeId{2}).shape, (Dims{128, 1}));
  EXPECT_EQ(g.attrs(NodeId{3}).get_int(AttrKey::kEnd, 0), 15);
  EXPECT_EQ(g.symbols().attributes.at({3, AttrKey::kEnd}), (AttrExprs{{{-1, {{1, 1}}}}, false}));
  EXPECT_EQ(first_difference(*read_graph(write_graph(g)), g), "");
}

TEST(GraphText, RefusesSymbolsThatAreNone) {
  EXPECT_EQ(refusal("symbol n min=1 hint=2\nreturn"),
            "line 2, column 1: a symbol has a largest value, 'max'");
  EXPECT_EQ(refusal("symbol n max=4 hint=5\nreturn"),
            "line 2, column 1: the hint of symbol 'n': 5 is not from 1 to 4");
  EXPECT_EQ(refusal("input input.0: %x : f32[n]\nreturn"),
            "line 1, column 25: expected an integer");
  EXPECT_EQ(refusal("symbol n max=4\ninput input.0: %x : f32[n*n]\nreturn"),
            "line 2, column 25: expected an integer");
  EXPECT_EQ(refusal("symbol n max=4\ninput input.0: %x : f32[n-5]\nreturn"),
            "line 2, column 25: expected an integer");
  EXPECT_EQ(refusal("symbol n max=4\ninput input.0: %x : f32[n+-5]\nreturn"),
            "line 2, column 29: dim 0 is negative: -1");
}

TEST(GraphText, SkipsCommentsAndLineBreaks) {
  const Graph g = parsed("// head\ninput input.x : %x : f32[ 2 ] // tail\n  return\n output = %x");
  EXPECT_EQ(g.inputs()[0].name, "x");
  EXPECT_EQ(g.outputs().size(), 1u);
}

TEST(GraphText, NamesLineAndColumnOfAnError) {
  const std::string x = "input input.0: %x : f32[4]\n";
  EXPECT_EQ(refusal(""), "line 1, column 1: the graph does not end with 'return'");
  EXPECT_EQ(refusal(x + "%y = relu(%z) : f32[4]\nreturn"),
            "line 2, column 11: %z is not defined before its use");
  EXPECT_EQ(refusal(x + "%x = relu(%x) : f32[4]\nreturn"), "line 2, column 1: %x is defined twice");
  EXPECT_EQ(refusal(x + "%y = rilu(%x) : f32[4]\nreturn"), "line 2, column 6: unknown op 'rilu'");
  EXPECT_EQ(refusal(x + "%y = relu(%x, colour=1) : f32[4]\nreturn"),
            "line 2, column 15: unknown attribute 'colour'");
  EXPECT_EQ(refusal(x + "%y = relu(%x) : f31[4]\nreturn"),
            "line 2, column 17: unknown dtype 'f31'");
  EXPECT_EQ(refusal(x + "%y = relu(%x) : f32[-4]\nreturn"),
            "line 2, column 23: dim 0 is negative: -4");
  EXPECT_EQ(refusal(x + "%y = relu(%x) : f32[4] {sequence=1}\nreturn"),
            "line 2, column 25: unknown metadata 'sequence'");
  EXPECT_EQ(refusal(x + "%y = relu(%x) : f32[4] {position=1}\nreturn"),
            "line 2, column 25: unknown metadata 'position'");
  EXPECT_EQ(refusal(x + "return grad.y = %x"), "line 2, column 8: no input is called 'y'");
  EXPECT_EQ(refusal(x + "return output = %x\n%y"),
            "line 3, column 1: only entries may follow 'return'");
  EXPECT_EQ(refusal("input inputs.0: %x : f32[4]"), "line 1, column 7: unknown role 'inputs'");
  EXPECT_EQ(refusal(x + "%#7 \"y\" = relu(%x) : f32[4]\nreturn"),
            "line 2, column 1: this is node #1");
  EXPECT_EQ(refusal("input input.0: %x : f32[4] {module=\"abc"),
            "line 1, column 36: the quoted text does not end");
}

// Cutting the text or changing any byte must give a graph or a message, never anything else.
TEST(GraphText, SurvivesDamageAtEveryByte) {
  const std::string program = kProgram;
  for (size_t i = 0; i < program.size(); ++i) {
    SCOPED_TRACE(i);
    const Result<Graph> cut = parse_graph(std::string_view(program).substr(0, i));
    EXPECT_TRUE(cut.ok() || !cut.status().message().empty());
    for (char c : {'\0', '%', '"', '9', '{', '\xff'}) {
      std::string changed = program;
      changed[i] = c;
      const Result<Graph> g = parse_graph(changed);
      if (!g.ok()) continue;
      EXPECT_EQ(first_difference(parsed(print_graph(*g)), *g), "");
    }
  }
}

}  // namespace
}  // namespace shw
