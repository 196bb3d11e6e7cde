// Bytes that must be refused with exact messages. tests/data/bad_graphs/messages.txt has one line
// for each case: "case | CODE | node index and name, or - | message".
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "rewrite/verify.h"
#include "unit/graph/graph_file.h"

namespace shw {
namespace {

using testing::AttrSpec;
using testing::GraphFile;

using Bytes = std::vector<uint8_t>;

Bytes changed(const std::function<void(GraphFile&)>& change) {
  GraphFile f = testing::small_graph();
  change(f);
  return f.bytes();
}

std::map<std::string, Bytes> cases_of_bytes() {
  const Bytes good = testing::small_graph().bytes();
  std::map<std::string, Bytes> c;
  c["empty"] = {};
  c["seven_bytes"] = Bytes(good.begin(), good.begin() + 7);
  c["only_header"] = Bytes(good.begin(), good.begin() + 8);
  c["truncated"] = Bytes(good.begin(), good.begin() + static_cast<ptrdiff_t>(good.size() / 2));
  c["wrong_identifier"] = good;
  c["wrong_identifier"][4] = 'X';
  c["root_out_of_range"] = good;
  c["root_out_of_range"][1] ^= 0x40;
  return c;
}

std::map<std::string, Bytes> cases_of_structure() {
  std::map<std::string, Bytes> c;
  c["format_version_2"] = changed([](GraphFile& f) { f.format_version = 2; });
  c["no_entry_point"] = changed([](GraphFile& f) { f.num_entry_points = 0; });
  c["two_entry_points"] = changed([](GraphFile& f) { f.num_entry_points = 2; });
  c["unknown_ops"] = changed([](GraphFile& f) {
    f.nodes[2].op = "conv3d";
    f.nodes.push_back({"fft", "a", {2}, {2}});
    f.nodes.push_back({"conv3d", "b", {2}, {2}});
  });
  c["operand_is_itself"] = changed([](GraphFile& f) { f.nodes[2].operands[0] = 2; });
  c["cycle"] = changed([](GraphFile& f) {
    f.nodes[2] = {"add", "y", {0, 3}, {0}};
    f.nodes.push_back({"add", "z", {2, 2}, {0}});
  });
  c["operand_out_of_range"] = changed([](GraphFile& f) { f.nodes[2].operands[1] = 99; });
  c["operand_below_minus_one"] = changed([](GraphFile& f) { f.nodes[2].operands[1] = -2; });
  c["type_out_of_range"] = changed([](GraphFile& f) { f.nodes[2].results[0] = 3; });
  c["no_result"] = changed([](GraphFile& f) { f.nodes[2].results.clear(); });
  c["absent_result"] = changed([](GraphFile& f) { f.nodes[2].results[0] = -1; });
  c["input_with_operand"] = changed([](GraphFile& f) { f.nodes[1].operands = {0}; });
  c["input_without_entry"] = changed([](GraphFile& f) { f.inputs.pop_back(); });
  c["inputs_out_of_order"] = changed([](GraphFile& f) { std::swap(f.inputs[0], f.inputs[1]); });
  c["input_entry_of_mm"] = changed([](GraphFile& f) { f.inputs.push_back({2, 3, "1"}); });
  c["input_entry_out_of_range"] = changed([](GraphFile& f) { f.inputs[1].node = 77; });
  c["input_role_unset"] = changed([](GraphFile& f) { f.inputs[1].role = 0; });
  c["output_out_of_range"] = changed([](GraphFile& f) { f.outputs[0].node = 3; });
  c["output_role_unknown"] = changed([](GraphFile& f) { f.outputs[0].role = 9; });
  c["output_of_input_out_of_range"] = changed([](GraphFile& f) { f.outputs[1].of_input = 2; });
  c["result_of_input"] = changed([](GraphFile& f) { f.outputs[0].of_input = 0; });
  c["unknown_phase"] = changed([](GraphFile& f) { f.nodes[2].phase = 7; });
  c["unknown_recompute_tag"] = changed([](GraphFile& f) { f.nodes[2].recompute = 200; });
  c["long_name"] = changed([](GraphFile& f) { f.nodes[2].name.assign(5000, 'y'); });
  return c;
}

// The inputs are x and w. The outputs are y and no gradient of w.
std::map<std::string, Bytes> cases_of_entries() {
  std::map<std::string, Bytes> c;
  const auto with = [](std::vector<testing::EntrySpec> entries) {
    return changed([&](GraphFile& f) { f.entries = std::move(entries); });
  };
  c["entry_without_a_name"] = with({{"", 1, {0, 1}, {0, 1}}});
  c["entry_weight_zero"] = with({{"step", 0, {0, 1}, {0, 1}}});
  c["entry_inputs_out_of_order"] = with({{"step", 1, {1, 0}, {0, 1}}});
  c["entry_input_out_of_range"] = with({{"step", 1, {0, 1, 2}, {0, 1}}});
  c["entry_output_out_of_range"] = with({{"step", 1, {0, 1}, {0, 7}}});
  c["entry_after_itself"] = with({{"step", 1, {0, 1}, {0, 1}, {0}}});
  c["entry_lacks_an_input"] = with({{"step", 1, {0}, {0, 1}}});
  c["output_of_no_entry"] = with({{"step", 1, {0, 1}, {0}}});
  c["state_is_listed"] = changed([](GraphFile& f) {
    f.inputs[1].storage = 1;
    f.entries = {{"step", 1, {0, 1}, {0, 1}}};
  });
  c["input_storage_unknown"] = changed([](GraphFile& f) { f.inputs[1].storage = 5; });
  c["data_of_a_parameter"] = changed([](GraphFile& f) { f.inputs[1].data = {1, 2}; });
  c["constant_without_data"] = changed([](GraphFile& f) { f.inputs[1].role = 7; });
  c["constant_too_large"] = changed([](GraphFile& f) {
    f.inputs[1].role = 7;
    f.inputs[1].data.resize((1u << 20) + 1);
  });
  c["result_in_place"] = changed([](GraphFile& f) { f.outputs[0].in_place = true; });
  c["update_of_state_elsewhere"] = changed([](GraphFile& f) {
    f.inputs[0].storage = 1;
    f.outputs.push_back({0, 3, "", 0, false});
  });
  c["updated_twice"] = changed([](GraphFile& f) {
    f.outputs.push_back({0, 3, "", 0, true});
    f.outputs.push_back({0, 3, "", 0, true});
  });
  return c;
}

std::map<std::string, Bytes> cases_of_types() {
  std::map<std::string, Bytes> c;
  c["negative_dim"] = changed([](GraphFile& f) { f.types[1].dims[0] = -8; });
  c["negative_stride"] = changed([](GraphFile& f) { f.types[1].strides = {2, -1}; });
  c["overflowing_size"] = changed([](GraphFile& f) {
    f.types[1].dims = {int64_t{1} << 40, int64_t{1} << 40};
  });
  c["overflowing_stride"] = changed([](GraphFile& f) { f.types[1].strides = {INT64_MAX, 1}; });
  c["nine_dims"] = changed([](GraphFile& f) { f.types[2].dims.assign(9, 1); });
  c["one_stride_missing"] = changed([](GraphFile& f) { f.types[0].strides = {1}; });
  c["dtype_unset"] = changed([](GraphFile& f) { f.types[0].dtype = 0; });
  c["dtype_unknown"] = changed([](GraphFile& f) { f.types[0].dtype = 99; });
  c["unused_bad_type"] = changed([](GraphFile& f) { f.types.push_back({{-1}}); });
  return c;
}

std::map<std::string, Bytes> cases_of_ops() {
  using Kind = wire::AttrValue;
  const auto permute = [](std::vector<AttrSpec> attrs) {
    return changed([&attrs](GraphFile& f) {
      f.types.push_back({{8, 4}});
      f.nodes.push_back({"permute", "p", {0}, {3}, attrs});
    });
  };
  std::map<std::string, Bytes> c;
  c["wrong_operand_count"] = changed([](GraphFile& f) { f.nodes[2].operands.push_back(0); });
  c["missing_operand"] = changed([](GraphFile& f) { f.nodes[2].operands.pop_back(); });
  c["absent_operand"] = changed([](GraphFile& f) { f.nodes[2].operands[1] = -1; });
  c["shapes_do_not_fit"] = changed([](GraphFile& f) { f.nodes[2].operands = {1, 0}; });
  c["recorded_shape_is_wrong"] = changed([](GraphFile& f) { f.types[2].dims = {2, 4}; });
  c["recorded_dtype_is_wrong"] = changed([](GraphFile& f) { f.types[2].dtype = 2; });
  c["tuple_of_mm"] = changed([](GraphFile& f) {
    f.nodes[2].is_tuple = true;
    f.nodes[2].results = {2, 2};
    f.outputs[0].node = 1;
  });
  c["output_is_a_tuple"] = changed([](GraphFile& f) { f.nodes[2].is_tuple = true; });
  c["get_item_of_a_tensor"] = changed([](GraphFile& f) {
    f.nodes.push_back({"get_item", "i", {0}, {0}, {{"index"}}});
  });
  c["gradient_of_nothing"] = changed([](GraphFile& f) { f.outputs[1] = {0, 2, "", -1}; });
  c["gradient_of_other_shape"] = changed([](GraphFile& f) { f.outputs[1].node = 2; });
  c["unknown_attribute"] = permute({{"colour"}});
  c["attribute_twice"] =
      permute({{"dims", Kind::IntsValue, 0, {1, 0}}, {"dims", Kind::IntsValue, 0, {1, 0}}});
  c["attribute_of_another_op"] = permute({{"dims", Kind::IntsValue, 0, {1, 0}}, {"exponent"}});
  c["attribute_of_wrong_kind"] = permute({{"dims"}});
  c["attribute_missing"] = permute({});
  c["attribute_value_wrong"] = permute({{"dims", Kind::IntsValue, 0, {1, 1}}});
  c["attribute_kind_unknown"] = permute({{"dims", static_cast<Kind>(77)}});
  c["attribute_dtype_unknown"] = permute({{"dims", Kind::DtypeValue, 44}});
  return c;
}

// x is [n,8].
std::map<std::string, Bytes> cases_of_symbols() {
  using Kind = wire::AttrValue;
  const auto symbolic = [](const std::function<void(GraphFile&)>& change) {
    return changed([&](GraphFile& f) {
      f.symbols = {{"n", 1, 64, 1, 4}};
      f.types[0].sizes = {{0, {0}, {1}}, {8}};
      change(f);
    });
  };
  std::map<std::string, Bytes> c;
  c["no_symbols"] = symbolic([](GraphFile& f) { f.symbols.clear(); });
  c["symbol_named_as_a_dtype"] = symbolic([](GraphFile& f) { f.symbols[0].name = "f32"; });
  c["symbol_name_is_no_word"] = symbolic([](GraphFile& f) { f.symbols[0].name = "a b"; });
  c["symbol_twice"] = symbolic([](GraphFile& f) { f.symbols.push_back(f.symbols[0]); });
  c["symbol_limits_contradict"] = symbolic([](GraphFile& f) { f.symbols[0].max = 0; });
  c["symbol_divisor_zero"] = symbolic([](GraphFile& f) { f.symbols[0].divisor = 0; });
  c["symbol_hint_too_large"] = symbolic([](GraphFile& f) { f.symbols[0].hint = 65; });
  c["symbol_hint_not_divided"] = symbolic([](GraphFile& f) { f.symbols[0].divisor = 3; });
  c["too_many_symbols"] = symbolic([](GraphFile& f) { f.symbols.resize(65, f.symbols[0]); });
  c["size_is_not_that_at_the_hint"] = symbolic([](GraphFile& f) { f.symbols[0].hint = 5; });
  c["size_of_another_symbol"] = symbolic([](GraphFile& f) { f.types[0].sizes[0].symbols = {1}; });
  c["size_with_factor_zero"] = symbolic([](GraphFile& f) { f.types[0].sizes[0].factors = {0}; });
  c["size_without_factor"] = symbolic([](GraphFile& f) { f.types[0].sizes[0].factors = {}; });
  c["size_overflows"] = symbolic([](GraphFile& f) { f.types[0].sizes[0].factors = {INT64_MAX}; });
  c["size_missing"] = symbolic([](GraphFile& f) { f.types[0].sizes.pop_back(); });
  const auto permute = [&](const AttrSpec& attr) {
    return symbolic([&](GraphFile& f) {
      f.types.push_back({{8, 4}});
      f.nodes.push_back({"permute", "p", {0}, {3}, {attr}});
    });
  };
  c["attribute_of_another_symbol"] =
      permute({"dims", Kind::ExprsValue, 1, {}, {{0, {7}, {1}}, {0}}});
  c["attribute_of_one_expression"] = permute({"dims", Kind::ExprsValue, 0, {}, {{0, {0}, {1}}}});
  c["attribute_of_no_expression"] = permute({"dims", Kind::ExprsValue, 0, {}, {}});
  c["attribute_value_wrong_at_the_hints"] =
      permute({"dims", Kind::ExprsValue, 1, {}, {{0, {0}, {1}}, {0}}});
  return c;
}

std::map<std::string, Bytes> all_cases() {
  std::map<std::string, Bytes> all;
  for (auto cases : {cases_of_bytes(), cases_of_structure(), cases_of_entries(), cases_of_types(),
                     cases_of_symbols(), cases_of_ops()})
    all.merge(cases);
  return all;
}

std::string verdict(const Bytes& bytes) {
  const Result<Graph> g = load_graph(bytes);
  if (g.ok()) return "accepted";
  const Status& s = g.status();
  std::ostringstream line;
  line << (s.code() == Code::kInvalidArgument ? "INVALID_ARGUMENT"
           : s.code() == Code::kUnimplemented ? "UNIMPLEMENTED"
                                              : "some other code");
  line << " | ";
  if (s.node_index() < 0)
    line << "-";
  else
    line << s.node_index() << " " << s.node_name().substr(0, 20);
  line << " | " << s.message();
  return line.str();
}

TEST(BadGraphs, AreRefusedInTheseWords) {
  std::ifstream file(SHW_TEST_DATA "/bad_graphs/messages.txt");
  std::map<std::string, std::string> expected;
  for (std::string line; std::getline(file, line);)
    if (const size_t bar = line.find(" | "); bar != std::string::npos)
      expected[line.substr(0, bar)] = line.substr(bar + 3);
  const auto cases = all_cases();
  for (const auto& [name, bytes] : cases) EXPECT_EQ(verdict(bytes), expected[name]) << name;
  for (const auto& [name, words] : expected)
    EXPECT_TRUE(cases.contains(name)) << name << " is no case any more";
}

TEST(BadGraphs, SmallGraphThatTheyStartFromIsGood) {
  EXPECT_EQ(verdict(testing::small_graph().bytes()), "accepted");
}

}  // namespace
}  // namespace shw
