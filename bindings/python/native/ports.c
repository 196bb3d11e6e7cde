#include "ports.h"

#include <stdlib.h>
#include <string.h>

#include "dtype.h"

enum { MAX_AXES = 6 };

static int is_row_major(const int64_t* dims, const int64_t* strides, int32_t rank) {
  int64_t step = 1;
  for (int32_t d = rank - 1; d >= 0; --d) {
    if (dims[d] != 1 && strides[d] != step) return 0;
    step *= dims[d];
  }
  return 1;
}

/* Reads a layout of R and S(0) alone: which axes divide dim 0. 0: there are other placements. */
static int divides_first_dim(const char* layout, int* divides, size_t num_axes) {
  for (size_t a = 0; a < num_axes; ++a) {
    divides[a] = strncmp(layout, "S(0)", 4) == 0;
    if (!divides[a] && layout[0] != 'R') return 0;
    layout += divides[a] ? 4 : 1;
  }
  return *layout == '\0';
}

/* Whether another port overwrites this one: then its memory must not be the caller's. */
static shw_status* is_updated(const shw_plan* plan, size_t port, int* updated) {
  *updated = 0;
  for (size_t i = 0; i < shw_plan_num_ports(plan) && !*updated; ++i) {
    shw_plan_port other = SHW_PLAN_PORT_INIT;
    shw_status* status = shw_plan_get_port(plan, i, &other);
    if (status != NULL) return status;
    *updated = other.updates == port;
  }
  return NULL;
}

/* Where the pieces of dim 0 lie, if pieces are parts of the whole tensor. */
static shw_status* find_places(const shw_plan* plan, const shw_plan_port* port,
                               const int32_t* ranks, size_t num_ranks, port_info* info) {
  const size_t num_axes = shw_plan_num_mesh_axes(plan);
  int divides[MAX_AXES];
  int64_t sizes[MAX_AXES], parts = 1;
  if (num_axes > MAX_AXES || !divides_first_dim(port->layout, divides, num_axes)) return NULL;
  for (size_t a = 0; a < num_axes; ++a) {
    shw_mesh_axis axis;
    shw_status* status = shw_plan_get_mesh_axis(plan, a, &axis);
    if (status != NULL) return status;
    sizes[a] = axis.size;
    if (divides[a]) parts *= axis.size;
  }
  if (!is_row_major(port->local_dims, port->local_strides, port->rank)) return NULL;
  if (parts > 1 && (port->rank == 0 || port->local_dims[0] * parts != port->dims[0])) return NULL;
  info->places = calloc(num_ranks, sizeof *info->places);
  for (size_t r = 0; info->places != NULL && r < num_ranks; ++r) {
    int64_t coordinates[MAX_AXES], rest = ranks[r];
    for (size_t a = num_axes; a-- > 0; rest /= sizes[a]) coordinates[a] = rest % sizes[a];
    for (size_t a = 0; a < num_axes; ++a)
      if (divides[a]) info->places[r] = info->places[r] * sizes[a] + coordinates[a];
  }
  return NULL;
}

static shw_status* read_port(const shw_plan* plan, size_t number, int is_input,
                             const int32_t* ranks, size_t num_ranks, port_info* info) {
  shw_plan_port port = SHW_PLAN_PORT_INIT;
  shw_status* status = shw_plan_get_port(plan, number, &port);
  if (status != NULL) return status;
  info->port = number;
  info->name = port.name;
  info->dims = port.dims;
  info->rank = port.rank;
  info->dtype = port.dtype;
  info->present = port.present;
  if (!port.present) return NULL;
  info->local_dims = port.local_dims;
  info->piece_bytes = (int64_t)dtype_size(port.dtype);
  info->whole_is_piece = strchr(port.layout, 'P') == NULL;
  for (int32_t d = 0; d < port.rank; ++d) {
    info->piece_bytes *= port.local_dims[d];
    if (port.local_dims[d] != port.dims[d]) info->whole_is_piece = 0;
  }
  if (!is_input) return NULL;
  int updated;
  status = is_updated(plan, number, &updated);
  if (status != NULL || updated) return status;
  return find_places(plan, &port, ranks, num_ranks, info);
}

shw_status* entry_read(const shw_plan* plan, size_t entry, const int32_t* ranks, size_t num_ranks,
                       entry_info* out_info) {
  shw_plan_entry known = SHW_PLAN_ENTRY_INIT;
  memset(out_info, 0, sizeof *out_info);
  shw_status* status = shw_plan_get_entry(plan, entry, &known);
  if (status != NULL) return status;
  out_info->inputs = calloc(known.num_inputs + 1, sizeof *out_info->inputs);
  out_info->outputs = calloc(known.num_outputs + 1, sizeof *out_info->outputs);
  if (out_info->inputs == NULL || out_info->outputs == NULL) return NULL;
  out_info->num_inputs = known.num_inputs;
  out_info->num_outputs = known.num_outputs;
  for (size_t i = 0; status == NULL && i < known.num_inputs; ++i)
    status = read_port(plan, known.inputs[i], 1, ranks, num_ranks, &out_info->inputs[i]);
  for (size_t i = 0; status == NULL && i < known.num_outputs; ++i)
    status = read_port(plan, known.outputs[i], 0, ranks, num_ranks, &out_info->outputs[i]);
  return status;
}

void entry_free(entry_info* info) {
  for (size_t i = 0; i < info->num_inputs; ++i) free(info->inputs[i].places);
  free(info->inputs);
  free(info->outputs);
  memset(info, 0, sizeof *info);
}
