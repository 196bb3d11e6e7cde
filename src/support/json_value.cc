// Builds the tree from the events of nlohmann's parser instead of its value type, whose destructor
// allocates and would abort the process when memory runs out.
#include "support/json_value.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace shw {
namespace {

using Kind = JsonValue::Kind;

class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeBuilder(JsonValue& root) : root_(root) {}
  Status take_status() { return std::move(status_); }

  bool null() override { return add(Kind::kNull) != nullptr; }
  bool boolean(bool value) override {
    add(Kind::kBool)->boolean = value;
    return true;
  }
  bool number_integer(int64_t value) override { return number(static_cast<double>(value)); }
  bool number_unsigned(uint64_t value) override { return number(static_cast<double>(value)); }
  bool number_float(double value, const std::string&) override { return number(value); }
  bool string(std::string& value) override {
    add(Kind::kString)->string = std::move(value);
    return true;
  }
  bool binary(binary_t&) override { return false; }  // cannot occur in JSON text

  bool start_object(size_t) override { return open(Kind::kObject); }
  bool key(std::string& name) override {
    open_.back()->keys.push_back(std::move(name));
    return true;
  }
  bool end_object() override {
    std::vector<std::string_view> keys(open_.back()->keys.begin(), open_.back()->keys.end());
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    if (twice != keys.end())
      return fail(invalid_argument("\"" + std::string(*twice) + "\" stands twice in an object"));
    return end_array();
  }
  bool start_array(size_t) override { return open(Kind::kArray); }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception& e) override {
    std::string what = e.what();  // "[json.exception.parse_error.101] parse error at …"
    if (const size_t end = what.find("] "); end != what.npos) what.erase(0, end + 2);
    return fail(invalid_argument("not JSON at byte " + std::to_string(position) + ": " + what));
  }

 private:
  bool fail(Status status) {
    status_ = std::move(status);
    return false;
  }
  JsonValue* add(Kind kind) {
    JsonValue* value = &root_;
    if (!open_.empty()) value = &open_.back()->items.emplace_back();
    value->kind = kind;
    return value;
  }
  bool number(double value) {
    add(Kind::kNumber)->number = value;
    return true;
  }
  bool open(Kind kind) {
    if (open_.size() == kMaxJsonDepth)
      return fail({Code::kResourceExhausted,
                   "JSON is nested deeper than " + std::to_string(kMaxJsonDepth) + " levels"});
    open_.push_back(add(kind));
    return true;
  }

  JsonValue& root_;
  std::vector<JsonValue*> open_;  // from the root inwards; only the last one's items still grow
  Status status_;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  const auto at = std::find(keys.begin(), keys.end(), key);
  return at == keys.end() ? nullptr : &items[static_cast<size_t>(at - keys.begin())];
}

Result<JsonValue> parse_json(std::string_view text, size_t max_bytes) {
  if (text.size() > max_bytes)
    return Status(Code::kResourceExhausted, "JSON of " + std::to_string(text.size()) +
                                                " bytes: at most " + std::to_string(max_bytes) +
                                                " are read");
  JsonValue root;
  TreeBuilder builder(root);
  if (!nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &builder)) {
    Status status = builder.take_status();
    return status.ok() ? invalid_argument("not JSON") : status;
  }
  return root;
}

}  // namespace shw
