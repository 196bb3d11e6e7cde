// Point-to-point messages between the processes of a world: the part of MPI that a world needs.
//
// Messages from one sender with one tag arrive in the order in which they were sent. No call
// blocks: sends and receives are requests that are tested until they are done.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "support/status.h"

namespace shw::runtime {

class Transport {
 public:
  // 0: none. Any other number names one request until it is done or cancelled.
  using Request = uint64_t;

  virtual ~Transport() = default;
  virtual int64_t rank() const = 0;
  virtual int64_t size() const = 0;
  // This rank's index among the ranks on its host, in the order of ranks.
  virtual int64_t rank_on_host() const = 0;
  virtual int32_t max_tag() const = 0;  // tags are 0 to this

  // `data` must stay valid until the request is done. The caller must not write it during a send,
  // nor access it during a receive.
  virtual Status send(int64_t to, int32_t tag, const void* data, int64_t bytes,
                      Request* request) = 0;
  // `bytes`: the largest size to receive. If the message is longer, test() returns UNAVAILABLE.
  virtual Status receive(int64_t from, int32_t tag, void* data, int64_t bytes,
                         Request* request) = 0;
  // Sets the request to 0 when it is done.
  virtual Status test(Request* request, int64_t* bytes) = 0;
  // Cancels a receive. Sets the request to 0, unless its memory may still be written to.
  virtual void cancel(Request* request) = 0;
  // Returns the size and sender of a message with this tag that can be received at once; false:
  // there is none.
  virtual Result<bool> probe(int32_t tag, int64_t* from, int64_t* bytes) = 0;

  // Ends the connection. `orderly`: all ranks do it, and no message is in flight; otherwise the
  // call does not wait for other ranks.
  virtual void close(bool orderly) = 0;
};

}  // namespace shw::runtime
