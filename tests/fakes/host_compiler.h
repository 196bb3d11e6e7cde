// Device code that is not known when the fakes are built, compiled for the host when it comes.
#pragma once
#include <string>

#include "support/status.h"

namespace shw::fakes {

// A shared object of a program with one kernel, all of whose parameters are pointers. It exports
// shw_fake_name and shw_fake_count, the kernel's name and how many parameters it takes, and
// shw_fake_call, which calls it for a thread. INVALID_ARGUMENT: it does not compile; the message is
// the compiler's.
Result<std::string> compile_for_host(const std::string& text);

}  // namespace shw::fakes
