// The elements of a small tensor as JSON.
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "support/status.h"
#include "tensor/tensor_type.h"

namespace shw::import {

// Converts a flat, row-major list of numbers or truth values to the bytes of a tensor of that type.
Result<std::shared_ptr<const std::vector<uint8_t>>> constant_data(const nlohmann::json& list,
                                                                  const TensorType& type);

}  // namespace shw::import
