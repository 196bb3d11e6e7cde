// The elements of a small tensor as JSON.
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "support/status.h"
#include "tensor/tensor_type.h"

namespace shw::import {

// A flat list of numbers or truth values, row-major, as bytes of that type.
Result<std::shared_ptr<const std::vector<uint8_t>>> constant_data(const nlohmann::json& list,
                                                                  const TensorType& type);

}  // namespace shw::import
