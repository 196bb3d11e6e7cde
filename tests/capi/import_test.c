/* File operations of the command-line tool through the C API: graphs of other programs, placement
 * problems, hardware descriptions and their calibration. */
#include <math.h>
#include <string.h>

#include "data.h"
#include "mlp.h"
#include "testing.h"

static void imports_fx_graphs(shw_context* context) {
  const shw_bytes file = read_data("examples/data/llama_tiny_2x4.graph.pre.json.gz");
  const shw_mesh_axis mesh[2] = {{"dp", 2}, {"tp", 4}};
  shw_compile_options options = SHW_COMPILE_OPTIONS_INIT;
  shw_graph_summary summary = SHW_GRAPH_SUMMARY_INIT;
  shw_bytes cut = file;
  shw_blob *graph = NULL, *text = NULL, *again = NULL;
  shw_plan* plan = NULL;
  EXPECT_OK(shw_graph_import(context, SHW_GRAPH_FORMAT_FX_JSON, file, &graph));
  EXPECT_OK(shw_graph_get_summary(bytes_of(graph), &summary));
  EXPECT(summary.num_nodes > 300 && summary.num_parameters == 21 && summary.num_buffers == 1);
  EXPECT(summary.num_gradients == summary.num_parameters && summary.num_results == 1);
  EXPECT(summary.parameter_bytes > 1000);
  options.mesh_axes = mesh;
  options.num_mesh_axes = 2;
  EXPECT_OK(shw_plan_compile(context, bytes_of(graph), &options, &plan));
  EXPECT(shw_plan_num_ranks(plan) == 8);
  shw_plan_destroy(plan);
  /* The text form is complete: importing it gives the same bytes. */
  EXPECT_OK(shw_graph_to_text(context, bytes_of(graph), &text));
  EXPECT_OK(shw_graph_import(context, SHW_GRAPH_FORMAT_TEXT, bytes_of(text), &again));
  EXPECT(shw_blob_size(again) == shw_blob_size(graph) &&
         memcmp(shw_blob_data(again), shw_blob_data(graph), shw_blob_size(graph)) == 0);
  shw_blob_destroy(again);
  shw_blob_destroy(text);
  shw_blob_destroy(graph);
  cut.size /= 2;
  EXPECT_REFUSED(shw_graph_import(context, SHW_GRAPH_FORMAT_FX_JSON, cut, &graph), SHW_DATA_LOSS,
                 "ends too early");
  EXPECT(graph == NULL);
  EXPECT_REFUSED(shw_graph_import(context, 3, file, &graph), SHW_INVALID_ARGUMENT, "format 3");
  free_data(file);
}

/* The context's limit on text applies to files and to the text that they decompress to. */
static void keeps_to_the_limit_on_text(void) {
  const shw_bytes file = read_data("examples/data/llama_tiny_2x4.graph.pre.json.gz");
  const shw_bytes problem = read_data("tests/data/problems/block_2d8x8_mem0.05.problem.json.gz");
  static const char kText[] = "input input.0: %x : f32[2]\nreturn output = %x\n";
  const shw_bytes text = {kText, sizeof kText - 1};
  shw_context_options options = SHW_CONTEXT_OPTIONS_INIT;
  shw_context *small = NULL, *large = NULL;
  shw_blob* graph = NULL;
  shw_solution* solution = NULL;
  options.max_text_bytes = 20;
  EXPECT_OK(shw_context_create(SHW_API_VERSION, &options, &small));
  options.max_text_bytes = 251245;
  EXPECT_OK(shw_context_create(SHW_API_VERSION, &options, &large));
  EXPECT_REFUSED(shw_graph_import(small, SHW_GRAPH_FORMAT_FX_JSON, file, &graph),
                 SHW_RESOURCE_EXHAUSTED, "limit of 20 bytes");
  EXPECT_REFUSED(shw_graph_import(small, SHW_GRAPH_FORMAT_FX_JSON, file, &graph),
                 SHW_RESOURCE_EXHAUSTED, "state that they hold 251245");
  EXPECT_REFUSED(shw_graph_import(small, SHW_GRAPH_FORMAT_TEXT, text, &graph),
                 SHW_RESOURCE_EXHAUSTED, "is 46 bytes of text, more than the limit of 20");
  EXPECT_REFUSED(shw_solution_create(small, problem, NULL, &solution), SHW_RESOURCE_EXHAUSTED,
                 "limit of 20 bytes");
  EXPECT(graph == NULL && solution == NULL);
  EXPECT_OK(shw_graph_import(large, SHW_GRAPH_FORMAT_FX_JSON, file, &graph));
  shw_blob_destroy(graph);
  shw_context_destroy(small);
  shw_context_destroy(large);
  free_data(problem);
  free_data(file);
}

static void refuses_what_is_no_graph(shw_context* context) {
  static const char kUnknown[] =
      "{\"format\": \"ap-graph-1\", \"nodes\": [{\"name\": \"x\", \"op\": \"call_function\", "
      "\"target\": "
      "\"aten.no_such_op.default\", \"args\": [], \"kwargs\": {}, \"val\": null}, {\"name\": "
      "\"output\", "
      "\"op\": \"output\", \"target\": \"output\", \"args\": [[{\"n\": \"x\"}]], \"kwargs\": {}}]}";
  static const char kText[] = "input input.0: %x : f32[2]\n%y = no_such_op(%x) : f32[2]\n";
  char nested[1200];
  shw_bytes bytes;
  shw_blob* graph = NULL;
  memset(nested, '[', sizeof nested);
  bytes.data = nested;
  bytes.size = sizeof nested;
  EXPECT_REFUSED(shw_graph_import(context, SHW_GRAPH_FORMAT_FX_JSON, bytes, &graph),
                 SHW_RESOURCE_EXHAUSTED, "256 levels");
  bytes.data = kUnknown;
  bytes.size = sizeof kUnknown - 1;
  EXPECT_REFUSED(shw_graph_import(context, SHW_GRAPH_FORMAT_FX_JSON, bytes, &graph),
                 SHW_UNIMPLEMENTED, "no_such_op");
  bytes.size -= 2;
  EXPECT_REFUSED(shw_graph_import(context, SHW_GRAPH_FORMAT_FX_JSON, bytes, &graph),
                 SHW_INVALID_ARGUMENT, "not JSON");
  bytes.data = kText;
  bytes.size = sizeof kText - 1;
  EXPECT_REFUSED(shw_graph_import(context, SHW_GRAPH_FORMAT_TEXT, bytes, &graph),
                 SHW_INVALID_ARGUMENT, "line 2");
  EXPECT(graph == NULL);
}

/* A model that computes a shape from a shape. N stays unknown or becomes a symbol. */
static void imports_onnx_models(shw_context* context) {
  const shw_bytes model = read_data("tests/data/onnx/shapes.onnx");
  shw_bytes cut = model;
  shw_onnx_options options = SHW_ONNX_OPTIONS_INIT;
  shw_graph_summary summary = SHW_GRAPH_SUMMARY_INIT;
  shw_blob *graph = NULL, *values = NULL, *text = NULL;
  options.plugin = "/nowhere/libshardwise_onnx.so";
  EXPECT_REFUSED(shw_graph_import_onnx(context, model, &options, &graph, &values), SHW_UNAVAILABLE,
                 "which is built where protobuf");
#ifdef SHW_ONNX_PLUGIN
  options.plugin = SHW_ONNX_PLUGIN;
  EXPECT_REFUSED(shw_graph_import_onnx(context, model, &options, &graph, &values),
                 SHW_INVALID_ARGUMENT, "sizes open: 'N'");
  options.sizes = "N=2..64";
  EXPECT_OK(shw_graph_import_onnx(context, model, &options, &graph, &values));
  EXPECT_OK(shw_graph_get_summary(bytes_of(graph), &summary));
  EXPECT(summary.num_results == 1 && summary.num_parameters == 0 && shw_blob_size(values) >= 8);
  EXPECT_OK(shw_graph_to_text(context, bytes_of(graph), &text));
  EXPECT(blob_says(text, "symbol N"));
  shw_blob_destroy(values);
  shw_blob_destroy(graph);
  cut.size /= 2;
  EXPECT_REFUSED(shw_graph_import_onnx(context, cut, &options, &graph, &values),
                 SHW_INVALID_ARGUMENT, "ONNX model");
  options.constants.data = "no tensors";
  options.constants.size = 10;
  EXPECT_REFUSED(shw_graph_import_onnx(context, model, &options, &graph, &values),
                 SHW_INVALID_ARGUMENT, "safetensors");
#else
  (void)text;
  (void)summary;
  (void)cut;
#endif
  EXPECT(graph == NULL && values == NULL);
  free_data(model);
}

static void solves_problems(shw_context* context) {
  const shw_bytes file = read_data("tests/data/problems/block_2d8x8_mem0.05.problem.json.gz");
  const shw_bytes contest = read_data("tests/data/iopddl/B.json.gz");
  shw_solution_options options = SHW_SOLUTION_OPTIONS_INIT;
  shw_solution_summary s = SHW_SOLUTION_SUMMARY_INIT;
  shw_solution_budget budget = SHW_SOLUTION_BUDGET_INIT;
  shw_solution_price price = SHW_SOLUTION_PRICE_INIT;
  shw_solution* solution = NULL;
  shw_blob* blob = NULL;
  size_t i, none = 0;
  EXPECT_OK(shw_solution_create(context, file, NULL, &solution));
  EXPECT_OK(shw_solution_get_summary(solution, &s));
  EXPECT(s.proven == 1 && s.bound <= s.objective && s.bound > 0.999999 * s.objective);
  EXPECT(s.num_variables > 10 && s.num_strategies > s.num_variables && s.duration_s > 0);
  for (i = 0; i < shw_solution_num_nodes(solution); ++i)
    none += shw_solution_strategy(solution, i) == SHW_NONE;
  EXPECT(none >= 1 && none < i); /* outputs */
  EXPECT(shw_solution_strategy(solution, i) == SHW_NONE);
  for (i = 0; i < shw_solution_num_budgets(solution); ++i) {
    EXPECT_OK(shw_solution_get_budget(solution, i, &budget));
    EXPECT(budget.peak <= budget.limit * (1 + 1e-9) + 1e-9);
  }
  EXPECT_CODE(shw_solution_get_budget(solution, i, &budget), SHW_OUT_OF_RANGE);
  for (i = 0; i < shw_solution_num_prices(solution); ++i) {
    EXPECT_OK(shw_solution_get_price(solution, i, &price));
    EXPECT(price.price > 0 && price.budget < shw_solution_num_budgets(solution));
  }
  EXPECT_OK(shw_solution_to_json(solution, &blob));
  EXPECT(blob_says(blob, "\"chosen\""));
  EXPECT_OK(shw_solution_to_text(solution, &blob));
  EXPECT(blob_says(blob, "proven     yes"));
  shw_solution_destroy(solution);
  options.format = SHW_PROBLEM_FORMAT_IOPDDL;
  options.num_threads = 1;
  EXPECT_REFUSED(shw_solution_create(context, file, &options, &solution), SHW_INVALID_ARGUMENT,
                 "problem");
  EXPECT_OK(shw_solution_create(context, contest, &options, &solution));
  EXPECT(shw_solution_num_budgets(solution) == 1);
  EXPECT_OK(shw_solution_get_budget(solution, 0, &budget));
  EXPECT(budget.peak > 0 && budget.peak <= budget.limit);
  shw_solution_destroy(solution);
  options.flags = SHW_SOLUTION_TIED;
  EXPECT_REFUSED(shw_solution_create(context, contest, &options, &solution), SHW_INVALID_ARGUMENT,
                 "no roots");
  options.flags = 2;
  EXPECT_CODE(shw_solution_create(context, contest, &options, &solution), SHW_INVALID_ARGUMENT);
  EXPECT(solution == NULL);
  free_data(contest);
  free_data(file);
}

static void tells_hardware(shw_context* context) {
  static const char kOurs[] = "{\"base\": \"h100\", \"nccl\": {\"devices_per_node\": 2}}";
  const shw_bytes none = {NULL, 0};
  shw_bytes ours = {kOurs, sizeof kOurs - 1};
  shw_hardware_info info = SHW_HARDWARE_INFO_INIT, other = SHW_HARDWARE_INFO_INIT;
  shw_blob *json = NULL, *again = NULL;
  EXPECT_OK(shw_hardware_get_info("h100", none, &info));
  EXPECT(info.devices_per_node == 8 && info.nccl_model == 1 && info.num_measured == 0);
  EXPECT(info.memory_bytes_per_s > 1e12 && info.flops_bf16 > info.flops_f32 && info.launch_us > 0);
  EXPECT(info.flops_f8 > info.flops_bf16);
  EXPECT(info.intra_bytes_per_s > info.inter_bytes_per_s && info.inter_bytes_per_s > 1e9);
  EXPECT_OK(shw_hardware_get_info(NULL, ours, &other));
  EXPECT(other.devices_per_node == 2 && other.flops_bf16 == info.flops_bf16);
  EXPECT_CODE(shw_hardware_get_info("h100", ours, &other), SHW_INVALID_ARGUMENT);
  EXPECT(other.devices_per_node == 0);
  EXPECT_REFUSED(shw_hardware_get_info("h1000", none, &other), SHW_INVALID_ARGUMENT, "h100");
  /* A complete description is written without changes. */
  EXPECT_OK(shw_hardware_to_json(context, NULL, ours, &json));
  EXPECT_OK(shw_hardware_to_json(context, NULL, bytes_of(json), &again));
  EXPECT(strcmp((const char*)shw_blob_data(json), (const char*)shw_blob_data(again)) == 0);
  shw_blob_destroy(again);
  shw_blob_destroy(json);
}

static void calibrates(shw_context* context) {
  const shw_bytes reduce = read_data("tests/data/nccl_tests/all_reduce_2x8_a100.txt");
  shw_calibration_file file = {"reduce.txt", {NULL, 0}, NULL};
  shw_calibration_options options = SHW_CALIBRATION_OPTIONS_INIT;
  shw_calibration_collective run = SHW_CALIBRATION_COLLECTIVE_INIT;
  shw_calibration_figure figure = SHW_CALIBRATION_FIGURE_INIT;
  shw_hardware_info info = SHW_HARDWARE_INFO_INIT;
  shw_calibration* calibration = NULL;
  shw_blob* description = NULL;
  shw_blob* blob = NULL;
  size_t i, changed = 0;
  file.output = reduce;
  options.hardware = "a100";
  options.name = "ours";
  EXPECT_OK(shw_calibration_create(context, &file, 1, &options, &calibration));
  EXPECT(shw_calibration_num_collectives(calibration) == 1);
  EXPECT_OK(shw_calibration_get_collective(calibration, 0, &run));
  EXPECT(strcmp(run.file, "reduce.txt") == 0 && strcmp(run.collective, "all_reduce") == 0);
  EXPECT(run.num_nodes == 2 && run.devices_per_node == 8 && run.num_sizes > 5 && run.line > 0);
  EXPECT(run.lines_error_mean < run.base_error_mean && run.lines_error_max >= run.lines_error_mean);
  EXPECT_CODE(shw_calibration_get_collective(calibration, 1, &run), SHW_OUT_OF_RANGE);
  for (i = 0; i < shw_calibration_num_figures(calibration); ++i) {
    EXPECT_OK(shw_calibration_get_figure(calibration, i, &figure));
    EXPECT(figure.determined || figure.before == figure.after);
    changed += figure.before != figure.after;
  }
  EXPECT(changed > 0);
  EXPECT_OK(shw_calibration_to_description(calibration, &description));
  EXPECT_OK(shw_hardware_get_info(NULL, bytes_of(description), &info));
  EXPECT(info.num_measured == 1 && info.devices_per_node == 8);
  EXPECT(blob_says(description, "\"ours\""));
  EXPECT_OK(shw_calibration_to_json(calibration, &blob));
  EXPECT(blob_says(blob, "\"lines_error\""));
  EXPECT_OK(shw_calibration_to_text(calibration, &blob));
  EXPECT(blob_says(blob, "fitted model"));
  shw_calibration_destroy(calibration);
  file.collective = "broadcast";
  EXPECT_REFUSED(shw_calibration_create(context, &file, 1, &options, &calibration),
                 SHW_INVALID_ARGUMENT, "'broadcast' is unknown");
  file.collective = NULL;
  file.output.size = 10;
  EXPECT_REFUSED(shw_calibration_create(context, &file, 1, &options, &calibration),
                 SHW_INVALID_ARGUMENT, "reduce.txt");
  EXPECT(calibration == NULL);
  options.device = "cpu";
  EXPECT_REFUSED(shw_calibration_create(context, &file, 1, &options, &calibration),
                 SHW_INVALID_ARGUMENT, "expected no files");
  EXPECT_REFUSED(shw_calibration_create(context, NULL, 0, &options, &calibration),
                 SHW_INVALID_ARGUMENT, "no hardware to fit");
  free_data(reduce);
}

// No times are measured under sanitizers, which make the code ten times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

static void measures(shw_context* context) {
  shw_calibration_options options = SHW_CALIBRATION_OPTIONS_INIT;
  shw_calibration_collective run = SHW_CALIBRATION_COLLECTIVE_INIT;
  shw_hardware_info info = SHW_HARDWARE_INFO_INIT;
  shw_calibration* calibration = NULL;
  shw_blob* description = NULL;
  options.device = "abacus";
  EXPECT_CODE(shw_calibration_create(context, NULL, 0, &options, &calibration),
              SHW_INVALID_ARGUMENT);
  if (IS_SANITIZED) return;
  options.device = "cpu";
  EXPECT_OK(shw_calibration_create(context, NULL, 0, &options, &calibration));
  EXPECT(shw_calibration_num_collectives(calibration) == 15);
  EXPECT_OK(shw_calibration_get_collective(calibration, 0, &run));
  EXPECT(run.num_nodes == 1 && run.devices_per_node == 2 && strcmp(run.file, "") == 0);
  EXPECT_OK(shw_calibration_to_description(calibration, &description));
  EXPECT_OK(shw_hardware_get_info(NULL, bytes_of(description), &info));
  EXPECT(info.num_measured == 15 && info.flops_f32 > 0 && info.launch_us > 0);
  EXPECT(blob_says(description, "\"cpu-measured\""));
  EXPECT_OK(shw_calibration_to_json(calibration, &description));
  EXPECT(blob_says(description, "\"least_us\""));
  shw_calibration_destroy(calibration);
}

static void reshards(shw_context* context) {
  const shw_mesh_axis axes[2] = {{"x", 8}, {"y", 8}};
  shw_compile_options options = SHW_COMPILE_OPTIONS_INIT;
  shw_plan_step step = SHW_PLAN_STEP_INIT;
  shw_plan* plan = NULL;
  shw_blob* blob = NULL;
  size_t i, found = 0;
  options.mesh_axes = axes;
  options.num_mesh_axes = 2;
  EXPECT_OK(
      shw_plan_compile_reshard(context, "f32[8192,8192]", "S(0)S(1)", "S(1)S(0)", &options, &plan));
  for (i = 0; i < shw_plan_num_steps(plan); ++i) {
    EXPECT_OK(shw_plan_get_step(plan, i, &step));
    if (step.to_axes == NULL) continue;
    ++found;
    EXPECT(strcmp(step.kernel, "collective_permute") == 0 && step.num_axes == 2);
    EXPECT(step.axes[0] == 0 && step.axes[1] == 1 && step.to_axes[0] == 1 && step.to_axes[1] == 0);
    EXPECT(step.wire_bytes == 4 << 20 && step.cost_us > 0);
  }
  EXPECT(found == 1);
  EXPECT_OK(shw_plan_to_steps(plan, &blob));
  EXPECT(blob_says(blob, "\"to_axes\""));
  EXPECT_OK(shw_plan_to_steps_text(plan, &blob));
  EXPECT(blob_says(blob, "collective_permute[x,y -> y,x]"));
  shw_plan_destroy(plan);
  EXPECT_REFUSED(shw_plan_compile_reshard(context, "f32[4]", "S(0)R", "RR", &options, &plan),
                 SHW_INVALID_ARGUMENT, "4 elements of dim 0 cannot be cut into 8 blocks");
  EXPECT(plan == NULL);
  options.output_layout = "RR";
  EXPECT_REFUSED(shw_plan_compile_reshard(context, "f32[8]", "S(0)R", "RR", &options, &plan),
                 SHW_INVALID_ARGUMENT, "no layouts beside its two");
}

int main(void) {
  shw_context* context = new_context();
  imports_fx_graphs(context);
  keeps_to_the_limit_on_text();
  refuses_what_is_no_graph(context);
  imports_onnx_models(context);
  solves_problems(context);
  tells_hardware(context);
  calibrates(context);
  measures(context);
  reshards(context);
  shw_context_destroy(context);
  return test_result();
}
