// Compiles device code for the host at run time: code that was not known when the fakes were built.
#pragma once
#include <string>

#include "support/status.h"

namespace shw::fakes {

// Compiles a program with one kernel, whose parameters must all be pointers, and returns the bytes
// of a shared object. The object exports shw_fake_name (the kernel's name), shw_fake_count (the
// number of its parameters) and shw_fake_call, which calls the kernel for one thread.
// INVALID_ARGUMENT: the program does not compile; the message is the compiler's.
Result<std::string> compile_for_host(const std::string& text);

}  // namespace shw::fakes
