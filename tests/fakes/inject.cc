// Counts calls and returns the errors that tests inject.
#include <map>
#include <mutex>
#include <string>

#include "fakes/driver.h"
#include "fakes/inject.h"

namespace shw::fakes {
namespace {

struct Injection {
  int code = 0, after = 0;
};
std::mutex mutex;
std::map<std::string, int, std::less<>>& calls() {
  static std::map<std::string, int, std::less<>> all;
  return all;
}
std::map<std::string, Injection, std::less<>>& injections() {
  static std::map<std::string, Injection, std::less<>> all;
  return all;
}

}  // namespace

int injected(const char* function) {
  std::lock_guard lock(mutex);
  ++calls()[function];
  const auto it = injections().find(std::string_view(function));
  if (it == injections().end()) return 0;
  return it->second.after-- > 0 ? 0 : it->second.code;
}

std::atomic<int>& Counted::alive() {
  static std::atomic<int> count{0};
  return count;
}

}  // namespace shw::fakes

int shw_fake_calls(const char* function) {
  std::lock_guard lock(shw::fakes::mutex);
  return shw::fakes::calls()[function];
}
void shw_fake_inject(const char* function, int code, int after) {
  std::lock_guard lock(shw::fakes::mutex);
  if (code == 0)
    shw::fakes::injections().erase(function);
  else
    shw::fakes::injections()[function] = {code, after};
}
