// Casts to 8-bit floats and quantisation with them, as ONNX defines both. The models have one node
// each. ONNX's own tests of these ops are newer than those that tests/onnx/node_tests.cc runs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "float8.h"
#include "import/onnx/tensor.h"
#include "run_case.h"

namespace shw::testing {
namespace {

using import::StoredTensor;
using shardwise::onnx::AttributeProto;
using shardwise::onnx::GraphProto;
using shardwise::onnx::ModelProto;
using shardwise::onnx::NodeProto;
using shardwise::onnx::TensorProto;
using shardwise::onnx::ValueInfoProto;

constexpr int kFloat = 1, kE4M3FN = 17, kE4M3FNUZ = 18, kE5M2 = 19, kE5M2FNUZ = 20;

int onnx_type(Dtype dtype) { return dtype == Dtype::kF8E4M3 ? kE4M3FN : kE5M2; }

// Values beyond the limits, at them, and between representable numbers, and NaN and infinity.
const std::vector<float> kValues = {0,    -0.0F,    1,     0.3F,  448,       464,   465,
                                    -500, 57344,    61439, 61440, -1e30F,    1e-9F, 17,
                                    -18,  INFINITY, NAN,   3.25F, -INFINITY, 449};

StoredTensor floats(const std::vector<float>& values) {
  StoredTensor t{row_major(Dtype::kF32, {static_cast<int64_t>(values.size())}), {}};
  t.bytes.resize(values.size() * sizeof(float));
  std::memcpy(t.bytes.data(), values.data(), t.bytes.size());
  return t;
}

template <class F>
StoredTensor float8s(Dtype dtype, const std::vector<float>& values, F f) {
  StoredTensor t{row_major(dtype, {static_cast<int64_t>(values.size())}), {}};
  for (float x : values) t.bytes.push_back(nearest_float8(dtype, f(static_cast<double>(x))));
  return t;
}

double saturated(Dtype dtype, double x) {
  const double most = dtype == Dtype::kF8E4M3 ? 448 : 57344;
  return std::isnan(x) ? x : std::fmin(std::fmax(x, -most), most);
}

void add_input(GraphProto& graph, const std::string& name, int type, int64_t size) {
  ValueInfoProto& info = *graph.add_input();
  info.set_name(name);
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape()->add_dim()->set_dim_value(size);
}

void set_int(NodeProto& node, const char* name, int64_t value) {
  AttributeProto& a = *node.add_attribute();
  a.set_name(name);
  a.set_type(AttributeProto::INT);
  a.set_i(value);
}

// The model y = op(x, …), where x has this type.
struct OneNode {
  ModelProto model;
  GraphProto& graph = *model.mutable_graph();
  NodeProto& node = *graph.add_node();

  OneNode(const char* op, int type, int64_t size) {
    auto& opset = *model.add_opset_import();
    opset.set_version(19);
    node.set_op_type(op);
    node.set_name("n");
    node.add_input("x");
    node.add_output("y");
    add_input(graph, "x", type, size);
    graph.add_output()->set_name("y");
  }
  // Adds a scalar: a number, or a bit pattern of an 8-bit float.
  void add_scalar(const std::string& name, int type, float number, int pattern = 0) {
    TensorProto& t = *graph.add_initializer();
    t.set_name(name);
    t.set_data_type(type);
    if (type == kFloat)
      t.add_float_data(number);
    else
      t.add_int32_data(pattern);
    node.add_input(name);
  }
  Outcome run(const StoredTensor& x, const StoredTensor& y) const {
    const std::string bytes = model.SerializeAsString();
    NodeCase c;
    c.model.assign(bytes.begin(), bytes.end());
    c.inputs = {"x"};
    c.outputs = {"y"};
    c.data.push_back({{{"x", x}}, {{"y", y}}});
    return run_case(c);
  }
};

TEST(OnnxFloat8, CastsSaturateUnlessTheyMustNot) {
  for (Dtype dtype : kFloat8)
    for (bool saturates : {true, false}) {
      OneNode cast("Cast", kFloat, static_cast<int64_t>(kValues.size()));
      set_int(cast.node, "to", onnx_type(dtype));
      if (!saturates) set_int(cast.node, "saturate", 0);
      const Outcome outcome = cast.run(floats(kValues), float8s(dtype, kValues, [&](double x) {
                                         return saturates ? saturated(dtype, x) : x;
                                       }));
      EXPECT_EQ(outcome.verdict, Verdict::kPassed) << dtype_name(dtype) << ": " << outcome.why;
    }
}

TEST(OnnxFloat8, QuantisesWithAScaleAndBack) {
  for (Dtype dtype : kFloat8) {
    OneNode quantize("QuantizeLinear", kFloat, static_cast<int64_t>(kValues.size()));
    quantize.add_scalar("scale", kFloat, 0.5F);
    quantize.add_scalar("zero", onnx_type(dtype), 0);
    const StoredTensor q =
        float8s(dtype, kValues, [&](double x) { return saturated(dtype, x / 0.5); });
    const Outcome there = quantize.run(floats(kValues), q);
    EXPECT_EQ(there.verdict, Verdict::kPassed) << dtype_name(dtype) << ": " << there.why;

    OneNode dequantize("DequantizeLinear", onnx_type(dtype), static_cast<int64_t>(q.bytes.size()));
    dequantize.add_scalar("scale", kFloat, 0.5F);
    dequantize.add_scalar("zero", onnx_type(dtype), 0);
    std::vector<float> wide;
    for (uint8_t bits : q.bytes) wide.push_back(static_cast<float>(float8_value(dtype, bits) / 2));
    const Outcome back = dequantize.run(q, floats(wide));
    EXPECT_EQ(back.verdict, Verdict::kPassed) << dtype_name(dtype) << ": " << back.why;
  }
}

TEST(OnnxFloat8, RefusesOtherKindsAndOtherZeroPoints) {
  for (int type : {kE4M3FNUZ, kE5M2FNUZ}) {
    OneNode cast("Cast", kFloat, 2);
    set_int(cast.node, "to", type);
    const Outcome outcome = cast.run(floats({1, 2}), floats({1, 2}));
    EXPECT_EQ(outcome.verdict, Verdict::kRefused);
    EXPECT_NE(outcome.why.find("fnuz) is not supported"), std::string::npos) << outcome.why;
  }
  OneNode quantize("QuantizeLinear", kFloat, 2);
  quantize.add_scalar("scale", kFloat, 1);
  quantize.add_scalar("zero", kE4M3FN, 0, 0x38);
  const Outcome outcome = quantize.run(floats({1, 2}), floats({1, 2}));
  EXPECT_EQ(outcome.verdict, Verdict::kRefused);
  EXPECT_NE(outcome.why.find("zero point other than 0"), std::string::npos) << outcome.why;
}

}  // namespace
}  // namespace shw::testing
