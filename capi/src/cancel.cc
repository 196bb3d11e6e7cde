// shw_cancel.
#include "cancel.h"

#include "boundary.h"

using namespace shw;
using namespace shw::capi;

shw_status* shw_cancel_create(shw_cancel** out_cancel) {
  return make_handle(out_cancel, "out_cancel", []() -> Result<std::unique_ptr<shw_cancel>> {
    return std::make_unique<shw_cancel>();
  });
}

void shw_cancel_raise(shw_cancel* cancel) {
  if (cancel != nullptr) cancel->raised.store(true, std::memory_order_relaxed);
}

void shw_cancel_destroy(shw_cancel* cancel) { delete cancel; }
