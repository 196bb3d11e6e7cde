// What a device is behind its handle. Buffers and executors share it.
#pragma once
#include "context.h"
#include "runtime/hal.h"
#include "shardwise/device.h"

namespace shw::capi {

using DeviceRef = std::shared_ptr<runtime::Device>;

// The CPU as a device, with the memory of the caller's allocator.
DeviceRef make_host_device(const ContextRef& context);

// Of SHW_DEVICE_*.
shw_device_kind kind_of(const runtime::Device& device);

}  // namespace shw::capi

struct shw_device {
  shw::capi::ContextRef context;
  shw::capi::DeviceRef ref;
};
