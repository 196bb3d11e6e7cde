// The server through which the ranks of a fake NCCL job communicate. It is a thread in the process
// that made the job's id. It alone holds the state of all communicators, and it reduces and copies
// the data of the ranks.
#pragma once
#include <string>

namespace shw::fakes {

// Starts a server and returns the name of its socket, or an empty name if there is no socket. The
// socket is in Linux's abstract namespace, so no file stays behind. The server ends when all ranks
// that joined have left, or with the process.
std::string start_nccl_server();

// Returns a connection to the server of that name, or -1 if there is no such server.
int connect_to_nccl_server(const std::string& name);

}  // namespace shw::fakes
