#include "report/writer.h"

namespace shw::report {

void Writer::key(const char* name) {
  if (!is_first_) text_ += ',';
  is_first_ = false;
  ((text_ += '"') += name) += "\":";
}

void Writer::column(const char* name, size_t count, const Item& item) {
  key(name);
  text_ += '[';
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) text_ += ',';
    item(i);
  }
  text_ += ']';
}

}  // namespace shw::report
