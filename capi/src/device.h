// The object behind a device handle. Buffers and executors share it.
#pragma once
#include "context.h"
#include "runtime/hal.h"
#include "shardwise/device.h"

namespace shw::capi {

using DeviceRef = std::shared_ptr<runtime::Device>;

// The CPU device, with memory from the caller's allocator.
DeviceRef make_host_device(const ContextRef& context);

// One of SHW_DEVICE_*.
shw_device_kind kind_of(const runtime::Device& device);

}  // namespace shw::capi

struct shw_device {
  shw::capi::ContextRef context;
  shw::capi::DeviceRef ref;
};
