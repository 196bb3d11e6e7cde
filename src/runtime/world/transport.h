// Messages between the processes of a world, point to point: all that a world needs of MPI.
//
// Messages of one sender with one tag arrive in the order in which they were sent. Nothing here
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
  // Among the ranks on the same host, in the order of their ranks.
  virtual int64_t rank_on_host() const = 0;
  virtual int32_t max_tag() const = 0;  // tags are 0 to this

  // `data` must stay, unchanged for a send and untouched for a receive, until the request is done.
  virtual Status send(int64_t to, int32_t tag, const void* data, int64_t bytes,
                      Request* request) = 0;
  // `bytes`: at most. UNAVAILABLE from test() when the message is longer.
  virtual Status receive(int64_t from, int32_t tag, void* data, int64_t bytes,
                         Request* request) = 0;
  // Sets the request to 0 when it is done.
  virtual Status test(Request* request, int64_t* bytes) = 0;
  // Gives a receive up. Sets the request to 0 unless its memory may still be written to.
  virtual void cancel(Request* request) = 0;
  // The size and sender of a message with this tag that can be received at once; false: none.
  virtual Result<bool> probe(int32_t tag, int64_t* from, int64_t* bytes) = 0;

  // Ends the connection. `orderly`: all ranks do it, and no message is under way; otherwise no
  // other rank is waited for.
  virtual void close(bool orderly) = 0;
};

}  // namespace shw::runtime
