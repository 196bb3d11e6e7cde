// What a group of a manual region is behind its handle.
#pragma once
#include "runtime/region_group.h"
#include "shardwise/runtime.h"

struct shw_group {
  shw::runtime::RegionGroup* ref;
};
