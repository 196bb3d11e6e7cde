#include "runtime/hal.h"

namespace shw::runtime {

Status Stream::begin_capture() { return unimplemented("this backend captures no graphs"); }

Result<std::unique_ptr<Graph>> Stream::end_capture(std::unique_ptr<Graph>) {
  return unimplemented("this backend captures no graphs");
}

Result<GroupKernel> Device::prepare_group(std::span<const GroupStep>) {
  return unimplemented("steps run one by one");
}

}  // namespace shw::runtime
