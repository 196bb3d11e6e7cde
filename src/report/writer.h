// Compact JSON of columns. Texts and prices are indices into tables; what is JSON already is put in
// as it is.
#pragma once
#include <cstdint>
#include <string>

#include "report/tables.h"

namespace shw::report {

// A function of an index that is lent for a call. One class for all of them keeps the code small.
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
  // "name":[item(0),item(1),…]; each item puts one value, by one of the functions below.
  void column(const char* name, size_t count, const Item& item);
  void add(const std::string& json) { text_ += json; }
  void integer(int64_t value) { text_ += std::to_string(value); }
  void text(const std::string& value) { integer(tables_.text(value)); }
  void number(double value) { integer(tables_.number(value)); }

  Tables& tables() { return tables_; }
  // The members `texts` and `numbers`, once all columns are there.
  void write_tables() { text_ += "," + tables_.json(); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  Tables tables_;
  bool is_first_ = true;
};

}  // namespace shw::report
