/* Builds graphs call by call. */

#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "mlp.h"
#include "testing.h"

static const int64_t kDims[2] = {4, 8};

static size_t input(shw_builder* builder, const char* name, size_t position) {
  size_t node = SHW_NONE;
  EXPECT_OK(
      add_input(builder, SHW_ROLE_INPUT, name, position, SHW_DTYPE_F32, kDims, 2, NULL, &node));
  return node;
}

static void same_calls_give_same_bytes(shw_context* context) {
  shw_blob *a = mlp_graph(context), *b = mlp_graph(context);
  EXPECT(shw_blob_size(a) > 0 && shw_blob_size(a) == shw_blob_size(b));
  EXPECT(memcmp(shw_blob_data(a), shw_blob_data(b), shw_blob_size(a)) == 0);
  EXPECT(memcmp((const char*)shw_blob_data(a) + 4, "SWGR", 4) == 0);
  EXPECT((uintptr_t)shw_blob_data(a) % 64 == 0);
  EXPECT(((const char*)shw_blob_data(a))[shw_blob_size(a)] == 0);
  shw_blob_destroy(a);
  shw_blob_destroy(b);
}

static void infers_types(shw_context* context) {
  const int64_t heads[4] = {2, 4, 16, 8};
  const shw_attr second = SHW_ATTR_INT("index", 1), outside = SHW_ATTR_INT("index", 9);
  shw_builder* b = NULL;
  shw_result_type type = SHW_RESULT_TYPE_INIT;
  size_t q = SHW_NONE, attention = SHW_NONE, lse = SHW_NONE, node = SHW_NONE;
  size_t operands[4];
  EXPECT_OK(shw_builder_create(context, &b));
  EXPECT_OK(add_input(b, SHW_ROLE_INPUT, "q", 0, SHW_DTYPE_BF16, heads, 4, NULL, &q));
  operands[0] = operands[1] = operands[2] = q;
  operands[3] = SHW_NONE; /* no bias */
  EXPECT_OK(shw_builder_add_node(b, "sdpa", operands, 4, NULL, 0, NULL, &attention));
  EXPECT_OK(shw_builder_get_type(b, attention, 0, &type));
  EXPECT(type.num_results == 4 && type.present && type.dtype == SHW_DTYPE_BF16);
  EXPECT(type.rank == 4 && memcmp(type.dims, heads, sizeof heads) == 0 && type.dims[4] == 0);
  EXPECT_OK(shw_builder_add_node(b, "get_item", &attention, 1, &second, 1, NULL, &lse));
  EXPECT_OK(shw_builder_get_type(b, lse, 0, &type));
  EXPECT(type.num_results == 1 && type.dtype == SHW_DTYPE_F32 && type.dims[0] == 2);
  EXPECT_REFUSED(shw_builder_add_node(b, "get_item", &attention, 1, &outside, 1, NULL, &node),
                 SHW_INVALID_ARGUMENT, "place 9");
  EXPECT_REFUSED(shw_builder_add_node(b, "relu", &attention, 1, NULL, 0, NULL, &node),
                 SHW_INVALID_ARGUMENT, "tuple");
  EXPECT_REFUSED(shw_builder_get_type(b, attention, 4, &type), SHW_OUT_OF_RANGE, "expected 0 to 3");
  EXPECT(type.rank == 0 && type.struct_size == sizeof type);
  EXPECT_REFUSED(shw_builder_get_type(b, 99, 0, &type), SHW_OUT_OF_RANGE, "node 99");
  EXPECT_CODE(shw_builder_get_type(b, SHW_NONE, 0, &type), SHW_OUT_OF_RANGE);
  shw_builder_destroy(b);
}

static void expect_input_refused(shw_builder* b, shw_role role, const char* name, size_t position,
                                 shw_dtype dtype, const int64_t* dims, int32_t rank,
                                 const char* text) {
  size_t node = 0;
  EXPECT_REFUSED(add_input(b, role, name, position, dtype, dims, rank, NULL, &node),
                 SHW_INVALID_ARGUMENT, text);
  EXPECT(node == SHW_NONE);
}

static void refuses_senseless_inputs(shw_context* context) {
  const int64_t negative[2] = {4, -1}, huge[2] = {(int64_t)1 << 40, (int64_t)1 << 40};
  shw_builder* b = NULL;
  EXPECT_OK(shw_builder_create(context, &b));
  expect_input_refused(b, SHW_ROLE_RESULT, "x", 0, SHW_DTYPE_F32, kDims, 2, "role 11");
  expect_input_refused(b, 0, "x", 0, SHW_DTYPE_F32, kDims, 2,
                       "shw_builder_input::role is not set (node 0, 'x')");
  expect_input_refused(b, SHW_ROLE_INPUT, "x", 0, 0, kDims, 2,
                       "shw_builder_input::dtype is not set (node 0, 'x')");
  expect_input_refused(b, SHW_ROLE_CONSTANT, "x", 0, SHW_DTYPE_F32, kDims, 2, "role 7");
  expect_input_refused(b, SHW_ROLE_INPUT, "x", SHW_NONE, SHW_DTYPE_F32, kDims, 2, "position is");
  expect_input_refused(b, SHW_ROLE_PARAMETER, NULL, 0, SHW_DTYPE_F32, kDims, 2, "needs a name");
  expect_input_refused(b, SHW_ROLE_INPUT, "x", 0, 14, kDims, 2, "dtype 14");
  expect_input_refused(b, SHW_ROLE_INPUT, "x", 0, SHW_DTYPE_F32, kDims, 9, "rank is 9");
  expect_input_refused(b, SHW_ROLE_INPUT, "x", 0, SHW_DTYPE_F32, kDims, -1, "rank is -1");
  expect_input_refused(b, SHW_ROLE_INPUT, "x", 0, SHW_DTYPE_F32, negative, 2, "negative");
  expect_input_refused(b, SHW_ROLE_INPUT, "x", 0, SHW_DTYPE_F32, huge, 2, "2^60");
  input(b, "x", 0);
  expect_input_refused(b, SHW_ROLE_INPUT, "x", 1, SHW_DTYPE_F32, kDims, 2, "input.x");
  shw_builder_destroy(b);
}

static void expect_node_refused(shw_builder* b, const char* op, size_t operand,
                                const shw_attr* attrs, size_t num_attrs, shw_code code,
                                const char* text) {
  size_t node = 0;
  EXPECT_REFUSED(shw_builder_add_node(b, op, &operand, 1, attrs, num_attrs, NULL, &node), code,
                 text);
  EXPECT(node == SHW_NONE);
}

static void refuses_senseless_nodes(shw_context* context) {
  const shw_attr unknown = SHW_ATTR_INT("colour", 1), misplaced = SHW_ATTR_INT("index", 1),
                 half = SHW_ATTR_BOOL("keepdim", 2), dtype = SHW_ATTR_DTYPE("dtype", 0),
                 kind = {"dim", 8, 0, 0, 0.0, NULL, 0, NULL},
                 twice[2] = {SHW_ATTR_INT("dim", 0), SHW_ATTR_INT("dim", 0)};
  const shw_code invalid = SHW_INVALID_ARGUMENT;
  shw_node_options options = SHW_NODE_OPTIONS_INIT;
  shw_builder* b = NULL;
  size_t x, node = 0;
  EXPECT_OK(shw_builder_create(context, &b));
  x = input(b, "x", 0);
  expect_node_refused(b, "multiply", x, NULL, 0, SHW_NOT_FOUND, "'multiply'; use mul");
  expect_node_refused(b, "tanh_backwards", x, NULL, 0, SHW_NOT_FOUND, "did you mean tanh_backward");
  expect_node_refused(b, "input", x, NULL, 0, invalid, "shw_builder_add_input");
  expect_node_refused(b, "relu", 1, NULL, 0, invalid, "node 1: the graph has 1");
  expect_node_refused(b, "relu", SHW_NONE, NULL, 0, invalid, "absent");
  expect_node_refused(b, "relu", x, &unknown, 1, invalid,
                      "relu has no attribute 'colour'; it has none");
  expect_node_refused(b, "relu", x, &misplaced, 1, invalid, "'index'");
  expect_node_refused(b, "sum", x, &half, 1, invalid, "0 or 1, not 2");
  expect_node_refused(b, "sum", x, &dtype, 1, invalid, "dtype 0");
  expect_node_refused(b, "sum", x, &kind, 1, invalid, "kind 8");
  expect_node_refused(b, "sum", x, twice, 2, invalid, "twice");
  options.sequence_nr = 3;
  EXPECT_REFUSED(shw_builder_add_node(b, "relu", &x, 1, NULL, 0, &options, &node), invalid,
                 "SHW_NODE_HAS_");
  options.flags = SHW_NODE_HAS_SEQUENCE_NR;
  EXPECT_OK(shw_builder_add_node(b, "relu", &x, 1, NULL, 0, &options, &node));
  EXPECT(node == 1); /* refused nodes leave no trace */
  options.phase = 3;
  EXPECT_REFUSED(shw_builder_add_node(b, "relu", &x, 1, NULL, 0, &options, &node), invalid,
                 "phase 3");
  shw_builder_destroy(b);
}

/* A missing required attribute is refused by its name, and the description of the operation says
 * that it is required. */
static void wants_required_attributes(shw_context* context) {
  static const struct {
    const char *op, *attribute;
  } kRequired[] = {{"softmax", "dim"},
                   {"view", "size"},
                   {"transpose", "dim0"},
                   {"permute", "dims"},
                   {"unsqueeze", "dim"},
                   {"topk", "k"},
                   {"pow", "exponent"},
                   {"full_like", "fill_value"},
                   {"cumsum", "dim"},
                   {"select", "dim"},
                   {"convert_element_type", "dtype"}};
  shw_op_param param = SHW_OP_PARAM_INIT;
  shw_builder* b = NULL;
  size_t x, i, k, op = 0, node = 0;
  EXPECT_OK(shw_builder_create(context, &b));
  x = input(b, "x", 0);
  for (i = 0; i < sizeof kRequired / sizeof kRequired[0]; ++i) {
    char text[96];
    int told = 0;
    sprintf(text, "%s: attribute '%s' is missing (node 1, '%s')", kRequired[i].op,
            kRequired[i].attribute, kRequired[i].op);
    expect_node_refused(b, kRequired[i].op, x, NULL, 0, SHW_INVALID_ARGUMENT, text);
    EXPECT_OK(shw_op_find(kRequired[i].op, &op));
    for (k = 0; k < shw_op_num_params(op); ++k) {
      EXPECT_OK(shw_op_get_param(op, k, &param));
      if (strcmp(param.name, kRequired[i].attribute) == 0)
        told = param.required == 1 && param.default_value == NULL;
    }
    EXPECT(told);
  }
  EXPECT_REFUSED(shw_builder_add_node(b, "iota", NULL, 0, NULL, 0, NULL, &node),
                 SHW_INVALID_ARGUMENT, "iota: attribute 'length' is missing");
  EXPECT_OK(shw_op_find("slice", &op)); /* self, dim, start, end, step */
  EXPECT_OK(shw_op_get_param(op, 0, &param));
  EXPECT(param.required == 1 && param.default_value == NULL);
  EXPECT_OK(shw_op_get_param(op, 1, &param));
  EXPECT(param.required == 0 && strcmp(param.default_value, "0") == 0);
  EXPECT_OK(shw_op_get_param(op, 3, &param));
  EXPECT(param.required == 0 && param.default_value == NULL);
  shw_builder_destroy(b);
}

static void refuses_senseless_outputs(shw_context* context) {
  const shw_code invalid = SHW_INVALID_ARGUMENT;
  const size_t none = SHW_NONE;
  shw_builder* b = NULL;
  shw_blob* blob = NULL;
  size_t x, y = SHW_NONE, sum = SHW_NONE;
  EXPECT_OK(shw_builder_create(context, &b));
  EXPECT_REFUSED(shw_builder_finish(b, &blob), invalid, "no outputs");
  x = input(b, "x", 0);
  EXPECT_OK(shw_builder_add_node(b, "relu", &x, 1, NULL, 0, NULL, &y));
  EXPECT_OK(shw_builder_add_node(b, "sum", &x, 1, NULL, 0, NULL, &sum));
  EXPECT_REFUSED(add_output(b, SHW_ROLE_INPUT, y, NULL, none), invalid, "role 3");
  EXPECT_REFUSED(add_output(b, 0, y, NULL, none), invalid,
                 "shw_builder_output::role is not set (node 1, '%1')");
  EXPECT_REFUSED(add_output(b, SHW_ROLE_RESULT, 9, NULL, none), invalid, "node 9");
  EXPECT_REFUSED(add_output(b, SHW_ROLE_GRADIENT, y, NULL, none), invalid, "of_input");
  EXPECT_REFUSED(add_output(b, SHW_ROLE_GRADIENT, y, NULL, y), invalid, "of_input");
  EXPECT_REFUSED(add_output(b, SHW_ROLE_GRADIENT, y, "dx", x), invalid, "name");
  EXPECT_OK(add_output(b, SHW_ROLE_RESULT, y, "y", none));
  EXPECT_REFUSED(add_output(b, SHW_ROLE_RESULT, x, "y", none), invalid,
                 "there is an output 'output.y' already");
  EXPECT_OK(add_output(b, SHW_ROLE_GRADIENT, y, NULL, x));
  EXPECT_REFUSED(add_output(b, SHW_ROLE_GRADIENT, x, NULL, x), invalid,
                 "there is an output 'grad.input.x' already");
  EXPECT_OK(shw_builder_finish(b, &blob));
  shw_blob_destroy(blob);
  EXPECT_REFUSED(add_output(b, SHW_ROLE_GRADIENT, sum, NULL, x), invalid,
                 "the output of 'input.x' is f32[], but the input is f32[4,8]");
  EXPECT_REFUSED(add_output(b, SHW_ROLE_RESULT, none, NULL, none), invalid, "no node");
  shw_builder_destroy(b);
}

static void refuses_a_tangent_of_nothing(shw_context* context) {
  shw_builder* b = NULL;
  shw_blob* blob = (shw_blob*)&b;
  size_t x, tangent = SHW_NONE;
  EXPECT_OK(shw_builder_create(context, &b));
  x = input(b, "x", 0);
  EXPECT_OK(add_input(b, SHW_ROLE_TANGENT, NULL, 1, SHW_DTYPE_F32, kDims, 2, NULL, &tangent));
  EXPECT_OK(add_output(b, SHW_ROLE_RESULT, x, NULL, SHW_NONE));
  EXPECT_REFUSED(shw_builder_finish(b, &blob), SHW_INVALID_ARGUMENT,
                 "the tangent belongs to output 1; the graph has 1 (node 1, 'tangent.1')");
  EXPECT(blob == NULL);
  shw_builder_destroy(b);
}

/* y = x * table, and w' = w + y in place. Tests which fields each struct may and may not set. */
static void describes_constants_updates_and_entries(shw_context* context) {
  const float values[32] = {1, 2, 3};
  const shw_code invalid = SHW_INVALID_ARGUMENT;
  shw_tensor table;
  shw_builder_input state = SHW_BUILDER_INPUT_INIT;
  shw_builder_output update = SHW_BUILDER_OUTPUT_INIT;
  shw_builder_entry entry = SHW_BUILDER_ENTRY_INIT;
  shw_builder* b = NULL;
  shw_blob* blob = NULL;
  size_t x, operands[2], w = SHW_NONE, c = SHW_NONE, y = SHW_NONE, sum = SHW_NONE, number = 9;
  const size_t both[2] = {0, 1}, twice[2] = {0, 0}, beyond[1] = {2};
  EXPECT_OK(shw_builder_create(context, &b));
  x = input(b, "x", 0);
  memset(&table, 0, sizeof table);
  table.data = (void*)values;
  table.dims = kDims;
  table.rank = 2;
  EXPECT_REFUSED(shw_builder_add_constant(b, "table", &table, NULL, &c), invalid,
                 "shw_tensor::dtype is not set (node 1, 'table')");
  table.dtype = SHW_DTYPE_F32;
  EXPECT_REFUSED(shw_builder_add_constant(b, NULL, &table, NULL, &c), invalid, "needs a name");
  EXPECT(c == SHW_NONE);
  EXPECT_OK(shw_builder_add_constant(b, "table", &table, NULL, &c));
  EXPECT_REFUSED(shw_builder_add_constant(b, "table", &table, NULL, &number), invalid, "already");
  state.role = SHW_ROLE_BUFFER;
  state.storage = 4;
  state.name = "total";
  state.dtype = SHW_DTYPE_F32;
  state.dims = kDims;
  state.rank = 2;
  EXPECT_REFUSED(shw_builder_add_input(b, &state, NULL, &w), invalid, "storage 4");
  state.storage = SHW_STORAGE_CONSTANT;
  EXPECT_REFUSED(shw_builder_add_input(b, &state, NULL, &w), invalid, "add_constant");
  state.storage = SHW_STORAGE_STATE;
  EXPECT_OK(shw_builder_add_input(b, &state, NULL, &w));
  operands[0] = x, operands[1] = c;
  EXPECT_OK(shw_builder_add_node(b, "mul", operands, 2, NULL, 0, NULL, &y));
  operands[0] = w, operands[1] = y;
  EXPECT_OK(shw_builder_add_node(b, "add", operands, 2, NULL, 0, NULL, &sum));
  EXPECT_OK(add_output(b, SHW_ROLE_RESULT, y, NULL, SHW_NONE));
  update.role = SHW_ROLE_UPDATE;
  update.node = sum;
  update.of_input = w;
  update.in_place = 2;
  EXPECT_REFUSED(shw_builder_add_output(b, &update, &number), invalid, "in_place");
  update.in_place = 0; /* an update of state is in place all the same */
  EXPECT_OK(shw_builder_add_output(b, &update, &number));
  EXPECT(number == 1);
  EXPECT_REFUSED(shw_builder_add_entry(b, &entry, &number), invalid, "needs a name");
  EXPECT(number == SHW_NONE);
  entry.name = "accumulate";
  entry.outputs = twice;
  entry.num_outputs = 2;
  EXPECT_REFUSED(shw_builder_add_entry(b, &entry, &number), invalid, "outputs[1] is 0");
  entry.outputs = beyond;
  entry.num_outputs = 1;
  EXPECT_REFUSED(shw_builder_add_entry(b, &entry, &number), invalid, "below 2");
  entry.outputs = both;
  entry.num_outputs = 2;
  entry.weight = -1;
  EXPECT_REFUSED(shw_builder_add_entry(b, &entry, &number), invalid, "weight");
  entry.weight = 0;
  entry.after = both;
  entry.num_after = 1;
  EXPECT_REFUSED(shw_builder_add_entry(b, &entry, &number), invalid, "after[0] is 0");
  entry.num_after = 0;
  EXPECT_OK(shw_builder_add_entry(b, &entry, &number));
  EXPECT(number == 0);
  EXPECT_REFUSED(shw_builder_add_entry(b, &entry, &number), invalid, "already");
  EXPECT_OK(shw_builder_finish(b, &blob));
  shw_blob_destroy(blob);
  shw_builder_destroy(b);
}

/* Every operation can be found by its name and lists its parameters, operands before attributes. */
static void knows_the_operations(void) {
  shw_op_param param = SHW_OP_PARAM_INIT;
  size_t op, found = 0, i, mul = 0;
  for (op = 0; op < shw_op_count(); ++op) {
    int seen_attribute = 0;
    EXPECT_OK(shw_op_find(shw_op_name(op), &found));
    EXPECT(found == op);
    for (i = 0; i < shw_op_num_params(op); ++i) {
      EXPECT_OK(shw_op_get_param(op, i, &param));
      EXPECT(param.name[0] != 0 && param.kind >= 1 && param.kind <= SHW_PARAM_STRING);
      EXPECT(!seen_attribute || param.kind >= SHW_PARAM_INT);
      seen_attribute |= param.kind >= SHW_PARAM_INT;
    }
    EXPECT_CODE(shw_op_get_param(op, i, &param), SHW_OUT_OF_RANGE);
  }
  EXPECT_CODE(shw_op_get_param(op, 0, &param), SHW_OUT_OF_RANGE);
  EXPECT_REFUSED(shw_op_find("multiply", &found), SHW_NOT_FOUND, "'multiply'");
  EXPECT(found == SHW_NONE);
  EXPECT_OK(shw_op_find("mul", &mul));
  EXPECT_OK(shw_op_get_param(mul, 1, &param));
  EXPECT(strcmp(param.name, "other") == 0 && param.kind == SHW_PARAM_TENSOR_OR_NUMBER);
}

int main(void) {
  shw_context* context = new_context();
  knows_the_operations();
  same_calls_give_same_bytes(context);
  infers_types(context);
  refuses_senseless_inputs(context);
  refuses_senseless_nodes(context);
  wants_required_attributes(context);
  refuses_senseless_outputs(context);
  refuses_a_tangent_of_nothing(context);
  describes_constants_updates_and_entries(context);
  shw_context_destroy(context);
  return test_result();
}
