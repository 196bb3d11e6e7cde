// shw_blob.
#include "blob.h"

namespace {
constexpr size_t kAlignment = 64;
}

shw_blob::shw_blob(shw::capi::ContextRef owner, size_t count)
    : context(std::move(owner)),
      size(count),
      data(static_cast<std::byte*>(context->allocate(count + 1, kAlignment))) {
  data[size] = std::byte{0};  // so that text is a C string
}

shw_blob::~shw_blob() { context->free(data, size + 1, kAlignment); }

namespace shw::capi {

std::unique_ptr<shw_blob> make_blob(const ContextRef& context, std::span<const std::byte> bytes) {
  auto blob = std::make_unique<shw_blob>(context, bytes.size());
  std::copy(bytes.begin(), bytes.end(), blob->data);
  return blob;
}

}  // namespace shw::capi

const void* shw_blob_data(const shw_blob* blob) { return blob ? blob->data : nullptr; }

size_t shw_blob_size(const shw_blob* blob) { return blob ? blob->size : 0; }

void shw_blob_destroy(shw_blob* blob) { delete blob; }
