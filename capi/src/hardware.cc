// shw_hardware: the machines with cost tables in the library, and described machines.
#include "shardwise/hardware.h"

#include "blob.h"
#include "compile_options.h"
#include "cost/hardware_description.h"

using namespace shw;
using namespace shw::capi;

namespace shw::capi {
namespace {

constexpr size_t kHardwareInfoSize_0_2 = SHW_SIZE_TO(shw_hardware_info, num_measured);

void describe(const cost::Hardware& h, shw_hardware_info& c) {
  c.memory_bytes_per_s = h.device.memory_bytes_per_s;
  c.flops_f64 = h.device.flops_f64;
  c.flops_f32 = h.device.flops_f32;
  c.flops_f16 = h.device.flops_f16;
  c.flops_bf16 = h.device.flops_bf16;
  c.flops_i8 = h.device.flops_i8;
  c.flops_f8 = h.device.flops_f8;
  c.efficiency = h.device.efficiency;
  c.launch_us = h.device.launch_us;
  c.devices_per_node = h.devices_per_node();
  c.intra_bytes_per_s = 1e9 * (h.nccl ? h.nccl->bw_intra_gbps : h.ring.bw_intra_gbps);
  c.inter_bytes_per_s = 1e9 * (h.nccl ? h.nccl->bw_inter_gbps : h.ring.bw_inter_gbps);
  c.nccl_model = h.nccl.has_value();
  c.num_measured = h.measured.size();
}

Result<cost::Hardware> find(const char* hardware, shw_bytes description) {
  SHW_ASSIGN_OR_RETURN(const std::string text, hardware_of(hardware, description, "description"));
  return cost::find_hardware(text);
}

}  // namespace
}  // namespace shw::capi

size_t shw_hardware_count(void) {
  size_t count = 0;
  while (!shw::cost::hardware_name(count).empty()) ++count;
  return count;
}

const char* shw_hardware_name(size_t index) {
  const std::string_view name = shw::cost::hardware_name(index);
  return name.empty() ? "" : name.data();  // a literal
}

void shw_hardware_info_init(shw_hardware_info* info, size_t size) { init_struct(info, size); }

shw_status* shw_hardware_get_info(const char* hardware, shw_bytes description,
                                  shw_hardware_info* out_info) {
  return fill_struct(out_info, "out_info", kHardwareInfoSize_0_2, [&](auto& out) -> Status {
    SHW_ASSIGN_OR_RETURN(const cost::Hardware ours, find(hardware, description));
    describe(ours, out);
    return {};
  });
}

shw_status* shw_hardware_to_json(shw_context* context, const char* hardware, shw_bytes description,
                                 shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(context);
    SHW_ASSIGN_OR_RETURN(const cost::Hardware ours, find(hardware, description));
    return make_blob(context->ref, cost::hardware_json(ours));
  });
}
