/* The information in a status. */
#include <string.h>

#include "calls.h"
#include "testing.h"

static void null_is_success(void) {
  EXPECT(shw_status_code(NULL) == SHW_OK);
  EXPECT(strcmp(shw_status_message(NULL), "") == 0);
  EXPECT(shw_status_node_index(NULL) == SHW_NONE);
  EXPECT(strcmp(shw_status_node_name(NULL), "") == 0);
  EXPECT(strcmp(shw_status_source_file(NULL), "") == 0);
  EXPECT(shw_status_source_line(NULL) == 0);
  shw_status_destroy(NULL);
}

static void says_who_refused(void) {
  shw_status* status = shw_cancel_create(NULL);
  EXPECT(shw_status_code(status) == SHW_INVALID_ARGUMENT);
  EXPECT(strcmp(shw_status_message(status), "out_cancel is NULL") == 0);
  EXPECT(strncmp(shw_status_source_file(status), "capi/src/", 9) == 0);
  EXPECT(shw_status_source_line(status) > 0);
  EXPECT(shw_status_node_index(status) == SHW_NONE);
  shw_status_destroy(status);
}

static void says_which_node(void) {
  shw_context* context = new_context();
  shw_builder* builder = NULL;
  shw_node_options options = SHW_NODE_OPTIONS_INIT;
  const int64_t dims[2] = {4, 8};
  size_t operands[2] = {0, 0}, node = 7;
  shw_status* status;
  EXPECT_OK(shw_builder_create(context, &builder));
  EXPECT_OK(add_input(builder, SHW_ROLE_INPUT, "x", 0, SHW_DTYPE_F32, dims, 2, NULL, &operands[0]));
  options.name = "product";
  status = shw_builder_add_node(builder, "mm", operands, 2, NULL, 0, &options, &node);
  EXPECT(shw_status_code(status) == SHW_INVALID_ARGUMENT);
  EXPECT(shw_status_node_index(status) == 1);
  EXPECT(strcmp(shw_status_node_name(status), "product") == 0);
  EXPECT(strstr(shw_status_message(status), "(node 1, 'product')") != NULL);
  EXPECT(strstr(shw_status_message(status), "[4,8]") != NULL);
  EXPECT(node == SHW_NONE);
  shw_status_destroy(status);
  shw_builder_destroy(builder);
  shw_context_destroy(context);
}

/* x → copy → r. The copy changes nothing, so the planned graph does not contain it. */
static shw_blob* graph_with_a_copy(shw_context* context) {
  shw_builder* builder = NULL;
  shw_blob* graph = NULL;
  shw_node_options options = SHW_NODE_OPTIONS_INIT;
  const int64_t dims[2] = {4, 8};
  size_t x = 0, copy = 0, node = 0;
  EXPECT_OK(shw_builder_create(context, &builder));
  EXPECT_OK(add_input(builder, SHW_ROLE_INPUT, "x", 0, SHW_DTYPE_F32, dims, 2, NULL, &x));
  options.name = "copy";
  EXPECT_OK(shw_builder_add_node(builder, "clone", &x, 1, NULL, 0, &options, &copy));
  options.name = "r";
  EXPECT_OK(shw_builder_add_node(builder, "relu", &copy, 1, NULL, 0, &options, &node));
  EXPECT(node == 2);
  EXPECT_OK(add_output(builder, SHW_ROLE_RESULT, node, NULL, SHW_NONE));
  EXPECT_OK(shw_builder_finish(builder, &graph));
  shw_builder_destroy(builder);
  return graph;
}

static void expect_at_r(shw_status* status) {
  EXPECT(shw_status_code(status) == SHW_INVALID_ARGUMENT);
  EXPECT(shw_status_node_index(status) == 2);
  EXPECT(strcmp(shw_status_node_name(status), "r") == 0);
  EXPECT(strstr(shw_status_message(status), "(node 2, 'r')") != NULL);
  shw_status_destroy(status);
}

static void says_which_node_of_the_callers_graph(void) {
  shw_context* context = new_context();
  shw_blob* graph = graph_with_a_copy(context);
  const shw_bytes bytes = {shw_blob_data(graph), shw_blob_size(graph)};
  const shw_mesh_axis axis = {"dp", 8};
  shw_compile_options options = SHW_COMPILE_OPTIONS_INIT;
  shw_pin pin = {"r", "S(0)"}; /* 4 rows cannot be divided into 8 parts */
  shw_plan* plan = NULL;
  options.mesh_axes = &axis;
  options.num_mesh_axes = 1;
  options.pins = &pin;
  options.num_pins = 1;
  expect_at_r(shw_plan_compile(context, bytes, &options, &plan));
  pin.pattern = "output"; /* a node that planning adds after r */
  expect_at_r(shw_plan_compile(context, bytes, &options, &plan));
  shw_blob_destroy(graph);
  shw_context_destroy(context);
}

static void every_code_has_a_name(void) {
  EXPECT(strcmp(shw_status_code_name(SHW_OK), "OK") == 0);
  EXPECT(strcmp(shw_status_code_name(SHW_DATA_LOSS), "DATA_LOSS") == 0);
  EXPECT(strcmp(shw_status_code_name(-1), "UNRECOGNISED") == 0);
  EXPECT(strcmp(shw_status_code_name(16), "UNRECOGNISED") == 0);
}

int main(void) {
  null_is_success();
  says_who_refused();
  says_which_node();
  says_which_node_of_the_callers_graph();
  every_code_has_a_name();
  return test_result();
}
