#include "import/json_bytes.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace shw::import {
namespace {

bool is_gzip(std::span<const uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

// The last four bytes of a gzip file state how much its last member holds, modulo 2^32.
uint32_t stated_size(std::span<const uint8_t> gzip) {
  uint32_t size = 0;
  for (size_t i = 0; i < 4 && i < gzip.size(); ++i) size = size << 8 | gzip[gzip.size() - 1 - i];
  return size;
}

Status inflates_to_too_much(const std::string& what, std::span<const uint8_t> gzip,
                            uint64_t max_text_bytes) {
  return Status(Code::kResourceExhausted,
                what + " inflates to more text than the limit of " +
                    std::to_string(max_text_bytes) + " bytes: its " + std::to_string(gzip.size()) +
                    " bytes state that they hold " + std::to_string(stated_size(gzip)));
}

class Inflater {
 public:
  explicit Inflater(std::span<const uint8_t> bytes) : bytes_(bytes), left_(bytes) {}
  ~Inflater() {
    if (open_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // All members of the file, one after another; zero bytes may follow.
  Result<std::string> all(const std::string& what, uint64_t max_text_bytes) {
    constexpr int kGzip = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzip) != Z_OK) throw std::bad_alloc();
    open_ = true;
    std::string text;
    for (;;) {
      const int result = step(text);
      if (text.size() > max_text_bytes) return inflates_to_too_much(what, bytes_, max_text_bytes);
      if (result == Z_MEM_ERROR) throw std::bad_alloc();
      if (result == Z_STREAM_END) {
        if (!is_gzip(left_)) return text;
        inflateReset(&stream_);
      } else if (result != Z_OK) {
        return data_loss("cannot read " + what + ": " +
                         (left_.empty() ? "the compressed data ends too early"
                          : stream_.msg ? stream_.msg
                                        : "the compressed data is damaged"));
      }
    }
  }

 private:
  // Appends some text.
  int step(std::string& text) {
    constexpr size_t kStep = 1 << 20, kMost = std::numeric_limits<uInt>::max();
    const size_t have = text.size(), in = std::min(left_.size(), kMost);
    text.resize(have + kStep);
    stream_.next_in = const_cast<Bytef*>(left_.data());  // zlib does not write to it
    stream_.avail_in = static_cast<uInt>(in);
    stream_.next_out = reinterpret_cast<Bytef*>(text.data() + have);
    stream_.avail_out = kStep;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    text.resize(have + kStep - stream_.avail_out);
    left_ = left_.subspan(in - stream_.avail_in);
    return result;
  }

  std::span<const uint8_t> bytes_, left_;
  z_stream stream_ = {};
  bool open_ = false;
};

// Builds the document and stops where it is nested too deeply.
class Builder : public nlohmann::detail::json_sax_dom_parser<nlohmann::json> {
 public:
  explicit Builder(nlohmann::json& document)
      : json_sax_dom_parser(document, /*allow_exceptions=*/true) {}
  bool start_object(size_t count) {
    return ++depth_ <= kMaxJsonNesting && json_sax_dom_parser::start_object(count);
  }
  bool end_object() { return --depth_, json_sax_dom_parser::end_object(); }
  bool start_array(size_t count) {
    return ++depth_ <= kMaxJsonNesting && json_sax_dom_parser::start_array(count);
  }
  bool end_array() { return --depth_, json_sax_dom_parser::end_array(); }

 private:
  size_t depth_ = 0;
};

Result<JsonTree> parse(std::string_view text, const std::string& what) {
  JsonTree tree;
  Builder builder(tree.root);
  try {
    if (nlohmann::json::sax_parse(text, &builder)) return tree;
    return Status(Code::kResourceExhausted, what + " is nested more than " +
                                                std::to_string(kMaxJsonNesting) + " levels deep");
  } catch (const nlohmann::json::exception& e) {
    return invalid_argument(what + " is not JSON: " + e.what());  // states line and column
  }
}

}  // namespace

void JsonTree::dismantle(nlohmann::json& value) {
  if (auto* array = value.get_ptr<nlohmann::json::array_t*>()) {
    for (nlohmann::json& item : *array) dismantle(item);
    array->clear();
  } else if (auto* object = value.get_ptr<nlohmann::json::object_t*>()) {
    for (auto& [key, item] : *object) dismantle(item);
    object->clear();
  }
}

Result<JsonTree> parse_json_bytes(std::span<const uint8_t> bytes, const std::string& what,
                                  uint64_t max_text_bytes) {
  if (!is_gzip(bytes)) {
    SHW_RETURN_IF_ERROR(check_text_size(what, bytes.size(), max_text_bytes));
    return parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, what);
  }
  SHW_ASSIGN_OR_RETURN(const std::string text, Inflater(bytes).all(what, max_text_bytes));
  return parse(text, what);
}

}  // namespace shw::import
