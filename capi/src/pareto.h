// The object behind the handle of a time-memory curve.
#pragma once
#include <string>
#include <vector>

#include "context.h"
#include "shardwise/pareto.h"

struct shw_pareto {
  shw::capi::ContextRef context;
  std::vector<shw_pareto_point> points;
  std::string json, text, svg;
};
