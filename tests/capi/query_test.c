/* The information that a plan gives about itself. */
#include <math.h>
#include <string.h>

#include "calls.h"
#include "mlp.h"
#include "testing.h"

static void sums_up(const shw_plan* plan) {
  shw_plan_summary s = SHW_PLAN_SUMMARY_INIT;
  EXPECT_OK(shw_plan_get_summary(plan, &s));
  EXPECT(s.num_ranks == 8 && s.proven == 1);
  EXPECT(fabs(s.objective_us - (s.compute_us + s.communication_us + s.transition_us)) <
         1e-9 * s.objective_us);
  EXPECT(s.bound_us <= s.objective_us && s.bound_us > 0.999 * s.objective_us);
  EXPECT(s.num_nodes == shw_plan_num_nodes(plan) && s.num_strategies > s.num_nodes);
  EXPECT(s.num_steps > 0 && s.arena_bytes >= s.live_peak_bytes && s.live_peak_bytes > 0);
  EXPECT(strcmp(s.hardware, "h100") == 0 && strcmp(s.rules, "full") == 0);
  EXPECT(s.graph_hash != 0 && s.options_hash != 0 && s.mesh_hash != 0);
}

static void tells_what_the_solver_did(const shw_plan* plan, const shw_plan* loaded) {
  shw_plan_effort effort = SHW_PLAN_EFFORT_INIT;
  EXPECT_OK(shw_plan_get_effort(plan, &effort));
  EXPECT(effort.num_variables > 0 && effort.num_strategies > effort.num_variables);
  EXPECT_OK(shw_plan_get_effort(loaded, &effort));
  EXPECT(effort.num_variables == 0 && effort.num_strategies == 0);
}

static void writes_no_more_than_the_caller_knows(const shw_plan* plan) {
  struct {
    shw_plan_summary known;
    uint64_t unknown;
  } newer;
  memset(&newer, 0x5a, sizeof newer);
  newer.known.struct_size = sizeof newer;
  EXPECT_OK(shw_plan_get_summary(plan, &newer.known));
  EXPECT(newer.known.num_ranks == 8 && newer.unknown == 0);
  memset(&newer, 0x5a, sizeof newer);
  newer.known.struct_size = 3;
  EXPECT_REFUSED(shw_plan_get_summary(plan, &newer.known), SHW_INVALID_ARGUMENT, "struct_size");
  EXPECT(newer.unknown == 0x5a5a5a5a5a5a5a5aULL);
}

static void tells_mesh_and_entries(const shw_plan* plan) {
  shw_mesh_axis axis;
  shw_plan_entry entry = SHW_PLAN_ENTRY_INIT;
  size_t index = 99;
  EXPECT(shw_plan_num_ranks(plan) == 8 && shw_plan_num_mesh_axes(plan) == 2);
  EXPECT_OK(shw_plan_get_mesh_axis(plan, 1, &axis));
  EXPECT(strcmp(axis.name, "tp") == 0 && axis.size == 4);
  EXPECT_REFUSED(shw_plan_get_mesh_axis(plan, 2, &axis), SHW_OUT_OF_RANGE, "expected 0 to 1");
  EXPECT(axis.name == NULL && axis.size == 0);
  EXPECT(shw_plan_num_entries(plan) == 1);
  EXPECT_OK(shw_plan_find_entry(plan, "step", &index));
  EXPECT(index == 0);
  EXPECT_OK(shw_plan_get_entry(plan, 0, &entry));
  EXPECT(strcmp(entry.name, "step") == 0);
  EXPECT(entry.num_inputs == MLP_NUM_INPUTS && entry.num_outputs == MLP_NUM_OUTPUTS);
  EXPECT(entry.parameter_bytes > 0 && entry.parameter_bytes < entry.input_bytes);
  EXPECT(entry.output_bytes > 0 && entry.num_steps > 0);
  EXPECT_CODE(shw_plan_get_entry(plan, 1, &entry), SHW_OUT_OF_RANGE);
  EXPECT(entry.name == NULL && entry.inputs == NULL);
  EXPECT(index == 0);
  EXPECT_REFUSED(shw_plan_find_entry(plan, "infer", &index), SHW_NOT_FOUND, "there are: step");
  EXPECT(index == SHW_NONE);
}

static void tells_ports(const shw_plan* plan) {
  shw_plan_port port = SHW_PLAN_PORT_INIT;
  int32_t d;
  size_t i, index = 0;
  EXPECT(shw_plan_num_ports(plan) == MLP_NUM_INPUTS + MLP_NUM_OUTPUTS);
  for (i = 0; i < shw_plan_num_ports(plan); ++i) {
    EXPECT_OK(shw_plan_get_port(plan, i, &port));
    EXPECT(port.storage == SHW_STORAGE_PORT && port.updates == SHW_NONE);
    EXPECT_OK(shw_plan_find_port(plan, 0, port.name, &index));
    EXPECT(index == i);
    EXPECT_OK(shw_plan_find_port(plan, SHW_NONE, port.name, &index));
    EXPECT(index == i);
  }
  EXPECT_CODE(shw_plan_get_port(plan, i, &port), SHW_OUT_OF_RANGE);
  EXPECT_REFUSED(shw_plan_find_port(plan, 0, "param.w3", &index), SHW_NOT_FOUND, "param.w1");
  EXPECT(index == SHW_NONE);
  EXPECT_CODE(shw_plan_find_port(plan, 7, "param.w1", &index), SHW_OUT_OF_RANGE);
  EXPECT(index == SHW_NONE);
  EXPECT_OK(get_input(plan, 0, 2, &port));
  EXPECT(strcmp(port.name, "input.0") == 0 && port.role == SHW_ROLE_INPUT);
  EXPECT(strcmp(port.layout, "S(0)R") == 0); /* as the options requested */
  EXPECT(port.rank == 2 && port.dims[0] == MLP_BATCH && port.local_dims[0] == MLP_BATCH / 2);
  EXPECT(port.present == 1 && port.dtype == SHW_DTYPE_F32);
  for (i = 0; i < MLP_NUM_OUTPUTS; ++i) {
    EXPECT_OK(get_output(plan, 0, i, &port));
    EXPECT(port.role == (i == 0 ? SHW_ROLE_RESULT : SHW_ROLE_GRADIENT));
    for (d = 0; d < port.rank; ++d)
      EXPECT(port.local_dims[d] > 0 && port.dims[d] % port.local_dims[d] == 0);
  }
  EXPECT_CODE(get_input(plan, 0, MLP_NUM_INPUTS, &port), SHW_OUT_OF_RANGE);
  EXPECT_CODE(get_output(plan, 1, 0, &port), SHW_OUT_OF_RANGE);
  EXPECT(port.name == NULL && port.local_dims == NULL);
}

static void costs_of_nodes_add_up(const shw_plan* plan) {
  shw_plan_summary s = SHW_PLAN_SUMMARY_INIT;
  shw_plan_node node = SHW_PLAN_NODE_INIT;
  double compute = 0, communication = 0, transition = 0;
  size_t i;
  int backward = 0;
  EXPECT_OK(shw_plan_get_summary(plan, &s));
  for (i = 0; i < shw_plan_num_nodes(plan); ++i) {
    EXPECT_OK(shw_plan_get_node(plan, i, &node));
    EXPECT(node.name != NULL && node.op != NULL && node.module_path != NULL);
    EXPECT(node.operand_layouts != NULL && node.result_layout[0] != '\0');
    compute += node.compute_us;
    communication += node.communication_us;
    transition += node.transition_us;
    backward += node.phase == SHW_PHASE_BACKWARD;
  }
  EXPECT(fabs(compute - s.compute_us) <= 1e-9 * s.objective_us);
  EXPECT(fabs(communication - s.communication_us) <= 1e-9 * s.objective_us);
  EXPECT(fabs(transition - s.transition_us) <= 1e-9 * s.objective_us);
  EXPECT(backward >= 6);
  EXPECT_CODE(shw_plan_get_node(plan, i, &node), SHW_OUT_OF_RANGE);
}

static void tells_collectives_and_phases(const shw_plan* plan, int was_compiled) {
  static const char* const kPhases[] = {"load",  "rewrite", "strategies", "price", "solve",
                                        "lower", "passes",  "write",      "read"};
  shw_plan_collective collective = SHW_PLAN_COLLECTIVE_INIT;
  shw_plan_phase phase = SHW_PLAN_PHASE_INIT;
  size_t i;
  EXPECT(shw_plan_num_collectives(plan) > 0);
  for (i = 0; i < shw_plan_num_collectives(plan); ++i) {
    EXPECT_OK(shw_plan_get_collective(plan, i, &collective));
    EXPECT(collective.kind != NULL && collective.count > 0 && collective.wire_bytes > 0);
  }
  EXPECT_CODE(shw_plan_get_collective(plan, i, &collective), SHW_OUT_OF_RANGE);
  EXPECT(shw_plan_num_phases(plan) == (was_compiled ? 9u : 0u));
  for (i = 0; i < shw_plan_num_phases(plan); ++i) {
    EXPECT_OK(shw_plan_get_phase(plan, i, &phase));
    EXPECT(i < 9 && strcmp(phase.name, kPhases[i]) == 0);
    EXPECT(phase.duration_s >= 0 && phase.duration_s < 100);
  }
  EXPECT_CODE(shw_plan_get_phase(plan, i, &phase), SHW_OUT_OF_RANGE);
}

/* The steps must agree with the totals of collectives and with the report. */
static void tells_steps(const shw_plan* plan) {
  shw_plan_summary summary = SHW_PLAN_SUMMARY_INIT;
  shw_plan_collective collective = SHW_PLAN_COLLECTIVE_INIT;
  shw_plan_step step = SHW_PLAN_STEP_INIT;
  int64_t sent = 0, sent_in_total = 0;
  size_t i, collectives = 0, counted = 0, backward = 0;
  EXPECT_OK(shw_plan_get_summary(plan, &summary));
  EXPECT(shw_plan_num_steps(plan) == summary.num_steps);
  for (i = 0; i < shw_plan_num_steps(plan); ++i) {
    EXPECT_OK(shw_plan_get_step(plan, i, &step));
    EXPECT(step.entry == 0 && step.kernel[0] != 0 && step.cost_us >= 0);
    EXPECT(step.node_index == SHW_NONE || step.node_index < 14);
    EXPECT((step.axes != NULL) == (step.num_axes > 0));
    EXPECT((step.wire_bytes > 0) == (step.num_axes > 0));
    EXPECT((step.stream != 0) == (step.num_axes > 0));
    collectives += step.num_axes > 0;
    sent += step.wire_bytes;
    backward += step.phase == SHW_PHASE_BACKWARD;
  }
  EXPECT_CODE(shw_plan_get_step(plan, i, &step), SHW_OUT_OF_RANGE);
  for (i = 0; i < shw_plan_num_collectives(plan); ++i) {
    EXPECT_OK(shw_plan_get_collective(plan, i, &collective));
    counted += collective.count;
    sent_in_total += collective.wire_bytes;
  }
  EXPECT(collectives > 0 && collectives == counted && sent == sent_in_total && backward >= 3);
}

static void tells_what_the_peak_is_made_of(const shw_plan* plan) {
  shw_plan_summary summary = SHW_PLAN_SUMMARY_INIT;
  shw_plan_memory_share share = SHW_PLAN_MEMORY_SHARE_INIT;
  int64_t bytes = 0, parameters = 0, last = INT64_MAX;
  size_t i;
  EXPECT_OK(shw_plan_get_summary(plan, &summary));
  for (i = 0; i < shw_plan_num_memory_shares(plan); ++i) {
    EXPECT_OK(shw_plan_get_memory_share(plan, i, &share));
    EXPECT(share.bytes >= 0 && share.bytes <= last && share.module_path != NULL);
    last = share.bytes;
    bytes += share.bytes;
    if (strcmp(share.kind, "parameters") == 0) parameters += share.bytes;
  }
  EXPECT(summary.memory_peak_bytes > 0 && bytes == summary.memory_peak_bytes);
  EXPECT(parameters == (int64_t)sizeof(float) * MLP_HIDDEN * (MLP_IN + MLP_OUT) / 8);
  EXPECT_CODE(shw_plan_get_memory_share(plan, i, &share), SHW_OUT_OF_RANGE);
}

static void speaks_to_people_and_machines(const shw_plan* plan) {
  shw_blob *text = NULL, *json = NULL;
  EXPECT_OK(shw_plan_to_text(plan, &text));
  EXPECT(strstr((const char*)shw_blob_data(text), "proven optimal") != NULL);
  EXPECT(strstr((const char*)shw_blob_data(text), "dp=2,tp=4") != NULL);
  EXPECT_OK(shw_plan_to_json(plan, &json));
  EXPECT(((const char*)shw_blob_data(json))[0] == '{');
  EXPECT(strstr((const char*)shw_blob_data(json), "\"objective\"") != NULL);
  EXPECT(strstr((const char*)shw_blob_data(json), "grad.w1") != NULL);
  shw_blob_destroy(text);
  shw_blob_destroy(json);
}

static void pins_hold(shw_context* context) {
  const shw_pin pins[] = {{"param.w*", "RS(1)"}, {"output", "RR"}};
  shw_mesh_axis axes[2];
  shw_compile_options options = mlp_options(axes, 2, 4);
  shw_plan_port port = SHW_PLAN_PORT_INIT;
  shw_blob* graph = mlp_graph(context);
  shw_plan* plan = NULL;
  options.pins = pins;
  options.num_pins = 2;
  EXPECT_OK(shw_plan_compile(context, bytes_of(graph), &options, &plan));
  EXPECT_OK(get_input(plan, 0, 0, &port));
  EXPECT(strcmp(port.layout, "RS(1)") == 0);
  EXPECT_OK(get_input(plan, 0, 1, &port));
  EXPECT(strcmp(port.layout, "RS(1)") == 0);
  EXPECT_OK(get_output(plan, 0, 0, &port));
  EXPECT(strcmp(port.layout, "RR") == 0);
  shw_plan_destroy(plan);
  shw_blob_destroy(graph);
}

static shw_bytes text(const char* t) {
  shw_bytes bytes;
  bytes.data = t;
  bytes.size = strlen(t);
  return bytes;
}

static void takes_hardware_as_text(shw_context* context) {
  shw_mesh_axis axes[2];
  shw_compile_options options = mlp_options(axes, 2, 4);
  shw_plan_summary named = SHW_PLAN_SUMMARY_INIT, described = SHW_PLAN_SUMMARY_INIT;
  shw_blob* graph = mlp_graph(context);
  shw_plan *plan = NULL, *other = NULL;
  options.hardware = "a100";
  EXPECT_OK(shw_plan_compile(context, bytes_of(graph), &options, &plan));
  EXPECT_OK(shw_plan_get_summary(plan, &named));
  options.hardware_description =
      text("{\"base\": \"a100\", \"name\": \"ours\", \"device\": {\"launch_us\": 14}}");
  EXPECT_REFUSED(shw_plan_compile(context, bytes_of(graph), &options, &other), SHW_INVALID_ARGUMENT,
                 "only one");
  options.hardware = NULL;
  EXPECT_OK(shw_plan_compile(context, bytes_of(graph), &options, &other));
  EXPECT_OK(shw_plan_get_summary(other, &described));
  EXPECT(strcmp(described.hardware, "ours") == 0);
  EXPECT(fabs(described.compute_us - 2 * named.compute_us) < 1e-9 * described.compute_us);
  shw_plan_destroy(plan);
  shw_plan_destroy(other);
  options.hardware_description = text("{\"base\": \"a100\", \"device\": {\"launch\": 14}}");
  EXPECT_REFUSED(shw_plan_compile(context, bytes_of(graph), &options, &plan), SHW_INVALID_ARGUMENT,
                 "device.launch is not known here: known are memory_bytes_per_s");
  options.hardware_description = text("h100");
  EXPECT_REFUSED(shw_plan_compile(context, bytes_of(graph), &options, &plan), SHW_INVALID_ARGUMENT,
                 "not a JSON object");
  options.hardware_description = text("");
  options.hardware = "{\"base\": \"a100\"}";
  EXPECT_REFUSED(shw_plan_compile(context, bytes_of(graph), &options, &plan), SHW_INVALID_ARGUMENT,
                 "hardware is a name");
  shw_blob_destroy(graph);
}

int main(void) {
  shw_context* context = new_context();
  shw_plan *compiled = mlp_plan(context, 2, 4), *loaded = NULL;
  shw_blob* bytes = NULL;
  const shw_plan* plans[2];
  int i;
  EXPECT_OK(shw_plan_save(compiled, &bytes));
  EXPECT_OK(shw_plan_load(context, bytes_of(bytes), &loaded));
  plans[0] = compiled;
  plans[1] = loaded;
  for (i = 0; i < 2; ++i) {
    sums_up(plans[i]);
    writes_no_more_than_the_caller_knows(plans[i]);
    tells_mesh_and_entries(plans[i]);
    tells_ports(plans[i]);
    costs_of_nodes_add_up(plans[i]);
    tells_collectives_and_phases(plans[i], i == 0);
    tells_steps(plans[i]);
    tells_what_the_peak_is_made_of(plans[i]);
    speaks_to_people_and_machines(plans[i]);
  }
  tells_what_the_solver_did(compiled, loaded);
  pins_hold(context);
  takes_hardware_as_text(context);
  shw_blob_destroy(bytes);
  shw_plan_destroy(compiled);
  shw_plan_destroy(loaded);
  shw_context_destroy(context);
  return test_result();
}
