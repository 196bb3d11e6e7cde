// One line of progress on a terminal, rewritten in place; silent for the first second.
#pragma once
#include "support/monitor.h"

namespace shw::tools {

class ProgressLine {
 public:
  explicit ProgressLine(Monitor& monitor);  // active only if stderr is a terminal
  ~ProgressLine() { end(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void end();

 private:
  void show(const Progress& p);
  bool shown_ = false;
  double last_s_ = 0;
};

}  // namespace shw::tools
