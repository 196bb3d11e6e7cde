// Where the ranks of a fake NCCL job meet: a thread in the process that made the job's id. It alone
// holds the state of all communicators, and adds and copies what ranks bring.
#pragma once
#include <string>

namespace shw::fakes {

// Starts one, and returns the name of its socket (in Linux' abstract namespace: no file stays
// behind). It ends when all ranks that came have left, or with the process. Empty: no socket.
std::string start_nccl_server();

// A connection to the server of that name; -1: there is none.
int connect_to_nccl_server(const std::string& name);

}  // namespace shw::fakes
