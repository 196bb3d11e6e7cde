// The object behind a world handle.
#pragma once
#include <memory>

#include "context.h"
#include "runtime/world/world.h"
#include "shardwise/world.h"

struct shw_world {
  shw::capi::ContextRef context;
  std::shared_ptr<shw::runtime::World> ref;
};
