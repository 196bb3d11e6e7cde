// A plain description of a graph that a test can change before it is written to bytes. It can
// describe invalid graphs, which write_graph cannot write.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "graph_generated.h"

namespace shw::testing {

struct SymbolSpec {
  std::string name;
  int64_t min = 1, max = 64, divisor = 1, hint = 0;
};
struct ExprSpec {
  int64_t constant = 0;
  std::vector<uint32_t> symbols = {};
  std::vector<int64_t> factors = {};
};
struct TypeSpec {
  std::vector<int64_t> dims;
  std::vector<int64_t> strides = {};  // empty: absent
  uint8_t dtype = 1;
  std::vector<ExprSpec> sizes = {};  // empty: absent
};
struct AttrSpec {
  std::string name;
  wire::AttrValue kind = wire::AttrValue::IntValue;
  int64_t value = 0;  // for attribute kinds that are a single number
  std::vector<int64_t> list = {};
  std::vector<ExprSpec> exprs = {};
};
struct NodeSpec {
  std::string op, name;
  std::vector<int32_t> operands = {}, results = {};
  std::vector<AttrSpec> attrs = {};
  bool is_tuple = false;
  uint8_t phase = 0, recompute = 0;
};
struct InputSpec {
  uint32_t node;
  uint8_t role;
  std::string name;
  uint8_t storage = 0;
  std::vector<uint8_t> data = {};
};
struct OutputSpec {
  int32_t node;
  uint8_t role;
  std::string name;
  int32_t of_input;
  bool in_place = false;
};

struct EntrySpec {
  std::string name;
  double weight = 1;
  std::vector<uint32_t> inputs = {}, outputs = {}, after = {};
};

struct GraphFile {
  uint32_t format_version = 1;
  size_t num_entry_points = 1;
  std::vector<TypeSpec> types;
  std::vector<NodeSpec> nodes;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::vector<SymbolSpec> symbols = {};
  std::vector<EntrySpec> entries = {};  // empty: num_entry_points entries with everything

  std::vector<uint8_t> bytes() const;
};

// input x [4,8], parameter w [8,2]; y = mm(x, w); returns y and no gradient of w.
GraphFile small_graph();

}  // namespace shw::testing
