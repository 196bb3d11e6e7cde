// What a plan decided for one node.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "plan/plan.h"

namespace shw::testing {

inline NodeDecision decision_on(const Plan& plan, const std::string& name) {
  for (const NodeDecision& d : plan.summary.decisions)
    if (d.name == name) return d;
  ADD_FAILURE() << "no decision on " << name;
  return {};
}

}  // namespace shw::testing
