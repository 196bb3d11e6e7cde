// The protocol between the ranks of the fake NCCL and its server: messages with a fixed-size head
// and a variable number of bytes, over Unix sockets.
#pragma once
#include <cstddef>
#include <cstdint>

namespace shw::fakes {

enum class MessageKind : uint32_t {
  // From a rank. A rank has one connection for each communicator.
  kJoin,     // a = number of ranks, b = rank: the communicator of all ranks
  kSplit,    // a = colour, b = key, c = the member (see kReady) of the communicator that is split
  kMeet,     // a collective: a = Combine, b = type, c = reduction, number; bytes: its operand
  kPost,     // a = receiver; bytes: what is sent
  kCollect,  // bytes: the senders (int32) whose next messages this rank waits for
  // To a rank.
  kReady,   // a = rank, b = number of ranks, c = member: the communicator is there
  kDone,    // bytes: the result. The answer to kCollect is one such message for each sender.
  kBroken,  // the ranks of a collective disagree
};
enum class Combine : int32_t { kAllReduce, kReduceScatter, kAllGather };

struct Message {
  MessageKind kind;
  int32_t a = 0, b = 0, c = 0;
  uint64_t number = 0;
  uint64_t bytes = 0;  // the number of bytes that follow the head
};

// Both return false if the other side has closed the connection.
bool write_all(int fd, const void* data, size_t size);
bool read_all(int fd, void* data, size_t size);
bool write_message(int fd, Message head, const void* bytes = nullptr);

}  // namespace shw::fakes
