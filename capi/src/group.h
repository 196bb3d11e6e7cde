// The object behind the handle of a manual region's group.
#pragma once
#include "runtime/region_group.h"
#include "shardwise/runtime.h"

struct shw_group {
  shw::runtime::RegionGroup* ref;
};
