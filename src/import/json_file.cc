#include "import/json_file.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace shw::import {
namespace {

struct CloseGzip {
  void operator()(gzFile_s* f) const { gzclose_r(f); }
};

Result<std::string> read_text(const std::string& path, uint64_t max_bytes) {
  errno = 0;
  const std::unique_ptr<gzFile_s, CloseGzip> file(
      gzopen(path.c_str(), "rb"));  // also reads plain files
  if (file == nullptr)
    return Status(Code::kNotFound,
                  "cannot open " + path + ": " + std::strerror(errno != 0 ? errno : ENOMEM));
  gzbuffer(file.get(), 1 << 18);
  std::string text;
  for (;;) {
    constexpr size_t kStep = 1 << 20;
    const size_t have = text.size();
    if (have > max_bytes)
      return Status(Code::kResourceExhausted,
                    path + " holds more than " + std::to_string(max_bytes) + " bytes of text");
    text.resize(have + kStep);
    const int got = gzread(file.get(), text.data() + have, kStep);
    text.resize(have + static_cast<size_t>(std::max(got, 0)));
    int error = Z_OK;
    const char* message = gzerror(file.get(), &error);
    if (got < 0 || (error != Z_OK && error != Z_STREAM_END))
      return data_loss("cannot read " + path + ": " +
                       (error == Z_BUF_ERROR ? "the compressed data ends too early"
                        : error == Z_ERRNO   ? std::strerror(errno)
                                             : message));
    if (got == 0) return text;
  }
}

}  // namespace

Result<nlohmann::json> read_json_file(const std::string& path, uint64_t max_bytes) {
  SHW_ASSIGN_OR_RETURN(const std::string text, read_text(path, max_bytes));
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    return invalid_argument(path + " is not JSON: " + e.what());  // states line and column
  }
}

}  // namespace shw::import
