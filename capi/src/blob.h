// The object behind a blob handle: bytes from the context's allocator.
#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "context.h"

struct shw_blob {
  shw_blob(shw::capi::ContextRef context, size_t size);
  ~shw_blob();
  shw_blob(const shw_blob&) = delete;
  shw_blob& operator=(const shw_blob&) = delete;

  shw::capi::ContextRef context;
  size_t size;
  std::byte* data;
};

namespace shw::capi {

std::unique_ptr<shw_blob> make_blob(const ContextRef& context, std::span<const std::byte> bytes);

template <class Bytes>  // a vector or string of one-byte elements
std::unique_ptr<shw_blob> make_blob(const ContextRef& context, const Bytes& bytes) {
  return make_blob(context, std::as_bytes(std::span(bytes.data(), bytes.size())));
}

}  // namespace shw::capi
