// parse_hardware on any text must return a status, or hardware that can be written, read back and
// used for prices.
#include <cstdint>
#include <cstdlib>

#include "cost/collective.h"
#include "cost/hardware_description.h"
#include "cost/roofline.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace shw::cost;
  const auto hardware = parse_hardware({reinterpret_cast<const char*>(data), size});
  if (!hardware.ok()) return 0;
  const std::string text = hardware_json(*hardware);
  const auto again = parse_hardware(text);
  if (!again.ok() || hardware_json(*again) != text) std::abort();
  for (const char* mesh : {"a=2,b=8", "a=3"}) {
    const auto model = CollectiveModel::create(*again, *shw::Mesh::parse(mesh));
    if (!model.ok()) std::abort();
    for (int c = 0; c < 4; ++c) {
      const double us = model->us(static_cast<Collective>(c), 0, int64_t{1} << 40);
      if (!(us >= 0 && us < 1e300)) std::abort();
    }
  }
  if (!(Roofline(again->device).rw_us(1e12) < 1e300)) std::abort();
  return 0;
}
