// libshardwise_mpi.so: plugin.h on top of an MPI library.
#include "runtime/mpi/plugin.h"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

// MPI is global to the process, and so is whether we have initialised it. The mutex is locked for
// each call: MPI implementations serialise threads anyway, and none of these calls waits.
struct shw_mpi_connection {
  MPI_Comm comm = MPI_COMM_NULL;
  bool finalizes = false;
  int rank = 0, size = 0, rank_on_host = 0, max_tag = 0;
  std::mutex mutex;
};

namespace {

static_assert(sizeof(MPI_Request) <= sizeof(uint64_t));

uint64_t number_of(MPI_Request request) {
  if (request == MPI_REQUEST_NULL) return 0;
  uint64_t number = 0;
  std::memcpy(&number, &request, sizeof request);
  return number + 1;  // a handle may be 0
}

MPI_Request request_of(uint64_t number) {
  MPI_Request request;
  --number;
  std::memcpy(&request, &number, sizeof request);
  return request;
}

void write_error(int code, char* text, size_t size) {
  char message[MPI_MAX_ERROR_STRING] = "unknown";
  int length = 0;
  MPI_Error_string(code, message, &length);
  std::snprintf(text, size, "%s", message);
}

// For large messages between ranks on one host, OpenMPI 4 reads the sender's memory directly. If
// the sender dies meanwhile, the receiver's process ends too, without an error code. A setting of
// the user is kept.
void copy_through_shared_memory() { setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0); }

// Returns an empty text on success.
const char* initialise(bool* finalizes) {
  int initialised = 0, finalised = 0, provided = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  if (finalised) return "MPI has been finalised in this process and cannot be initialised again";
  *finalizes = !initialised;
  if (!initialised) copy_through_shared_memory();
  if (initialised)
    MPI_Query_thread(&provided);
  else if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS)
    return "MPI_Init_thread failed";
  if (provided < MPI_THREAD_MULTIPLE)
    return "MPI was initialised without MPI_THREAD_MULTIPLE, which streams and the caller need";
  return "";
}

int connect(shw_mpi_connection& c) {
  // Errors are returned as codes instead of ending the process.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int code = MPI_Comm_dup(MPI_COMM_WORLD, &c.comm);
  if (code != MPI_SUCCESS) return code;
  MPI_Comm_set_errhandler(c.comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(c.comm, &c.rank);
  MPI_Comm_size(c.comm, &c.size);
  MPI_Comm host = MPI_COMM_NULL;
  code = MPI_Comm_split_type(c.comm, MPI_COMM_TYPE_SHARED, c.rank, MPI_INFO_NULL, &host);
  if (code != MPI_SUCCESS) return code;
  MPI_Comm_rank(host, &c.rank_on_host);
  MPI_Comm_free(&host);
  int found = 0;
  int* most = nullptr;
  MPI_Comm_get_attr(c.comm, MPI_TAG_UB, &most, &found);
  c.max_tag = found ? *most : 32767;
  return MPI_SUCCESS;
}

int open(shw_mpi_connection** out, char* why, size_t why_size) {
  *out = nullptr;
  auto* c = new (std::nothrow) shw_mpi_connection;
  if (c == nullptr) {
    std::snprintf(why, why_size, "out of memory");
    return MPI_ERR_NO_MEM;
  }
  if (const char* text = initialise(&c->finalizes); *text != '\0') {
    std::snprintf(why, why_size, "%s", text);
    delete c;
    return MPI_ERR_OTHER;
  }
  if (const int code = connect(*c); code != MPI_SUCCESS) {
    write_error(code, why, why_size);
    delete c;
    return code;
  }
  *out = c;
  return MPI_SUCCESS;
}

void close(shw_mpi_connection* c, int orderly) {
  if (orderly) {
    MPI_Comm_free(&c->comm);
    if (c->finalizes) MPI_Finalize();
  }
  delete c;
}

int32_t rank(const shw_mpi_connection* c) { return c->rank; }
int32_t size_of_world(const shw_mpi_connection* c) { return c->size; }
int32_t rank_on_host(const shw_mpi_connection* c) { return c->rank_on_host; }
int32_t max_tag(const shw_mpi_connection* c) { return c->max_tag; }

int send(shw_mpi_connection* c, int32_t to, int32_t tag, const void* data, int64_t bytes,
         uint64_t* request) {
  std::lock_guard lock(c->mutex);
  MPI_Request r = MPI_REQUEST_NULL;
  const int code = MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, tag, c->comm, &r);
  *request = number_of(r);
  return code;
}

int receive(shw_mpi_connection* c, int32_t from, int32_t tag, void* data, int64_t bytes,
            uint64_t* request) {
  std::lock_guard lock(c->mutex);
  MPI_Request r = MPI_REQUEST_NULL;
  const int code = MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, tag, c->comm, &r);
  *request = number_of(r);
  return code;
}

int test(shw_mpi_connection* c, uint64_t* request, int64_t* bytes) {
  std::lock_guard lock(c->mutex);
  MPI_Request r = request_of(*request);
  MPI_Status status;
  int done = 0, count = 0;
  const int code = MPI_Test(&r, &done, &status);
  if (code != MPI_SUCCESS) {
    *request = number_of(r);
    return code;
  }
  if (done) {
    MPI_Get_count(&status, MPI_BYTE, &count);
    *bytes = count == MPI_UNDEFINED ? 0 : count;
    *request = 0;
  }
  return MPI_SUCCESS;
}

void cancel(shw_mpi_connection* c, uint64_t* request) {
  std::lock_guard lock(c->mutex);
  MPI_Request r = request_of(*request);
  int done = 0;
  if (MPI_Cancel(&r) == MPI_SUCCESS && MPI_Test(&r, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
      done)
    *request = 0;
}

int probe(shw_mpi_connection* c, int32_t tag, int* found, int32_t* from, int64_t* bytes) {
  std::lock_guard lock(c->mutex);
  MPI_Status status;
  const int code = MPI_Iprobe(MPI_ANY_SOURCE, tag, c->comm, found, &status);
  if (code != MPI_SUCCESS || !*found) return code;
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  *from = status.MPI_SOURCE;
  *bytes = count;
  return code;
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const shw_mpi_plugin shw_mpi_plugin_table = {SHW_MPI_PLUGIN_VERSION,
                                             sizeof(shw_mpi_plugin),
                                             open,
                                             close,
                                             rank,
                                             size_of_world,
                                             rank_on_host,
                                             max_tag,
                                             send,
                                             receive,
                                             test,
                                             cancel,
                                             probe,
                                             write_error};
