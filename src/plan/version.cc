#include "plan/plan_format.h"

namespace shw::plan_format {

const char* const kLibraryVersion = SHW_LIBRARY_VERSION;

}  // namespace shw::plan_format
