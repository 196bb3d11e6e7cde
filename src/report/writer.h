// Writes compact JSON with columns. Texts and prices become indices into tables; existing JSON is
// inserted unchanged.
#pragma once
#include <cstdint>
#include <string>

#include "report/tables.h"

namespace shw::report {

// A non-owning reference to a function of an index. One class for all functions keeps the code
// small.
class Item {
 public:
  template <class F>
  Item(const F& f)
      : object_(&f),
        call_([](const void* object, size_t i) { (*static_cast<const F*>(object))(i); }) {}
  void operator()(size_t i) const { call_(object_, i); }

 private:
  const void* object_;
  void (*call_)(const void*, size_t);
};

class Writer {
 public:
  void open() { add("{"), is_first_ = true; }
  void close() { add("}"), is_first_ = false; }
  void key(const char* name);
  void member(const char* name, const std::string& json) { key(name), add(json); }
  // "name":[item(0),item(1),…]; each call of `item` writes one value, by one of the functions
  // below.
  void column(const char* name, size_t count, const Item& item);
  void add(const std::string& json) { text_ += json; }
  void integer(int64_t value) { text_ += std::to_string(value); }
  void text(const std::string& value) { integer(tables_.text(value)); }
  void number(double value) { integer(tables_.number(value)); }

  Tables& tables() { return tables_; }
  // The members `texts` and `numbers`, to be written after all columns.
  void write_tables() { text_ += "," + tables_.json(); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  Tables tables_;
  bool is_first_ = true;
};

}  // namespace shw::report
