// Texts and numbers of a document, each stored once; columns hold their indices. Most texts and
// prices repeat, because the layers of a model do.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace shw::report {

std::string quoted(std::string_view text);  // as JSON
std::string shortest(double number);    // the shortest text that reads back equal; null: not finite
std::string in_nanoseconds(double us);  // µs, rounded to 1 ns
std::string compact(std::string_view json);  // without white space between tokens

class Tables {
 public:
  uint32_t text(const std::string& text) { return index_of(text_index_, texts_, quoted(text)); }
  uint32_t number(double number) {  // without loss of precision
    return index_of(number_index_, numbers_, shortest(number));
  }
  // The members `texts` and `numbers`.
  std::string json() const;

 private:
  static uint32_t index_of(std::map<std::string, uint32_t>& index, std::string& items,
                           const std::string& json);

  std::map<std::string, uint32_t> text_index_, number_index_;  // by JSON text
  std::string texts_, numbers_;                                // elements of the JSON arrays
};

}  // namespace shw::report
