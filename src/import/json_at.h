// A JSON value together with its path, for error messages.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "support/status.h"

namespace shw::import {

struct At {
  const nlohmann::json* value;
  std::string place;

  Status error(const std::string& what) const { return invalid_argument(place + ": " + what); }
  bool has(const char* key) const {
    return value->is_object() && value->contains(key) && !value->at(key).is_null();
  }
  Result<At> get(const char* key) const {
    if (!value->is_object()) return error("is not an object");
    const auto it = value->find(key);
    if (it == value->end()) return error(std::string("has no \"") + key + "\"");
    return At{&*it, place + "." + key};
  }
  Result<At> array(const char* key) const {
    SHW_ASSIGN_OR_RETURN(At a, get(key));
    if (!a.value->is_array()) return a.error("is not an array");
    return a;
  }
  size_t size() const { return value->size(); }
  At item(size_t i) const { return {&(*value)[i], place + "[" + std::to_string(i) + "]"}; }

  // An integer in [0, end).
  Result<uint32_t> index(uint64_t end) const {
    if (!value->is_number_integer() ||
        (value->is_number_integer() && !value->is_number_unsigned() && value->get<int64_t>() < 0))
      return error("is not an index");
    const auto i = value->get<uint64_t>();
    if (i >= end)
      return error("is " + std::to_string(i) + ", but there are only " + std::to_string(end));
    return static_cast<uint32_t>(i);
  }
  Result<double> number() const {
    if (!value->is_number()) return error("is not a number");
    return value->get<double>();
  }
  // A cost: null is infinite.
  Result<double> cost() const {
    if (value->is_null()) return std::numeric_limits<double>::infinity();
    SHW_ASSIGN_OR_RETURN(const double c, number());
    if (std::isnan(c) || c < 0) return error("is not a cost: it is negative or not a number");
    return c;
  }
};

}  // namespace shw::import
