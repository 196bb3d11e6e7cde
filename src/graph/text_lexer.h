// The lexer of the text form: words, numbers and quoted texts, with positions for messages.
#pragma once
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "graph/text_names.h"
#include "support/status.h"

namespace shw::text {

// Reads the text, and remembers the position of the last token for messages.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // Skips white space and comments, and remembers the position.
  char peek() {
    while (at_ < text_.size()) {
      if (text_[at_] == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '/')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')
        ++at_;
      else
        break;
    }
    token_ = at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool at_end() { return peek() == '\0' && at_ >= text_.size(); }
  bool accept(char c) {
    if (at_end() || peek() != c) return false;
    ++at_;
    return true;
  }
  // Accepts a character at the current position, without skipping anything.
  bool accept_here(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string_view word_here() {
    const size_t from = at_;
    while (at_ < text_.size() && (is_word_char(text_[at_]) || text_[at_] == '+')) ++at_;
    return text_.substr(from, at_ - from);
  }
  std::string_view word() {
    peek();
    return word_here();
  }
  std::string_view peek_word() {
    peek();
    const size_t from = at_;
    const std::string_view next = word_here();
    at_ = from;
    return next;
  }
  Status expect(char c) {
    if (accept(c)) return {};
    return fail(std::string("expected '") + c + "'");
  }
  // Reads a quoted text after its opening quote.
  Status quoted_rest(std::string* out) {
    out->clear();
    while (at_ < text_.size() && text_[at_] != '"') {
      char c = text_[at_++];
      if (c == '\\') {
        if (!unescape(&c)) return fail("bad escape in a quoted text");
      }
      *out += c;
    }
    if (at_ >= text_.size()) return fail("the quoted text does not end");
    ++at_;
    return {};
  }
  Status fail(const std::string& what) const {
    const std::string_view before = text_.substr(0, token_);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t newline = before.rfind('\n');
    const size_t column = newline == std::string_view::npos ? token_ + 1 : token_ - newline;
    return invalid_argument("line " + std::to_string(line) + ", column " + std::to_string(column) +
                            ": " + what);
  }

 private:
  bool unescape(char* out) {
    if (at_ >= text_.size()) return false;
    const char c = text_[at_++];
    if (c == 'n') return *out = '\n', true;
    if (c == 't') return *out = '\t', true;
    if (c == '"' || c == '\\') return *out = c, true;
    unsigned value = 0;
    const std::string_view hex = text_.substr(at_, 2);
    const auto end = hex.data() + hex.size();
    if (c != 'x' || hex.size() != 2 || std::from_chars(hex.data(), end, value, 16).ptr != end)
      return false;
    at_ += 2;
    *out = static_cast<char>(value);
    return true;
  }

  std::string_view text_;
  size_t at_ = 0, token_ = 0;
};

template <class T>
bool parse_number(std::string_view s, T* out) {
  const auto r = std::from_chars(s.data(), s.data() + s.size(), *out);
  return r.ec == std::errc() && r.ptr == s.data() + s.size();
}

}  // namespace shw::text
