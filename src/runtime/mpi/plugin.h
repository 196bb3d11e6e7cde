/* What libshardwise_mpi.so gives to libshardwise.so: MPI's point-to-point messages as a table of C
 * functions. Neither C++ types nor MPI's cross the border between the two objects, so either may be
 * built with another compiler, and the library needs no MPI.
 *
 * Functions return 0, or a code that error_text() explains. Any thread. */
#ifndef SHARDWISE_RUNTIME_MPI_PLUGIN_H_
#define SHARDWISE_RUNTIME_MPI_PLUGIN_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SHW_MPI_PLUGIN_VERSION = 2 };

typedef struct shw_mpi_connection shw_mpi_connection;

typedef struct shw_mpi_plugin {
  uint32_t version; /* SHW_MPI_PLUGIN_VERSION */
  uint32_t size;    /* of this struct */

  /* Joins MPI_COMM_WORLD, through a communicator of its own. Initialises MPI unless somebody has.
   * On failure `why` receives a text of at most `why_size` bytes. */
  int (*open)(shw_mpi_connection** connection, char* why, size_t why_size);
  /* `orderly`: all ranks do it and nothing is under way; MPI is finalised if open() initialised it.
   * Otherwise MPI is left as it is, as finalising would wait for the others. */
  void (*close)(shw_mpi_connection* connection, int orderly);
  int32_t (*rank)(const shw_mpi_connection* connection);
  int32_t (*size_of_world)(const shw_mpi_connection* connection);
  /* Among the ranks on the same host, in the order of their ranks. */
  int32_t (*rank_on_host)(const shw_mpi_connection* connection);
  int32_t (*max_tag)(const shw_mpi_connection* connection);

  /* Start a message; *request is not 0 until it is done. At most INT32_MAX bytes. */
  int (*send)(shw_mpi_connection* connection, int32_t to, int32_t tag, const void* data,
              int64_t bytes, uint64_t* request);
  int (*receive)(shw_mpi_connection* connection, int32_t from, int32_t tag, void* data,
                 int64_t bytes, uint64_t* request);
  /* Sets *request to 0, and *bytes to what came, if it is done. */
  int (*test)(shw_mpi_connection* connection, uint64_t* request, int64_t* bytes);
  /* Gives a receive up; sets *request to 0 unless its memory may still be written to. */
  void (*cancel)(shw_mpi_connection* connection, uint64_t* request);
  /* Whether a message with this tag can be received, from whom and how long. */
  int (*probe)(shw_mpi_connection* connection, int32_t tag, int* found, int32_t* from,
               int64_t* bytes);
  void (*error_text)(int code, char* text, size_t size);
} shw_mpi_plugin;

/* The plug-in's one export: its table. */
extern const shw_mpi_plugin shw_mpi_plugin_table;
#define SHW_MPI_PLUGIN_SYMBOL "shw_mpi_plugin_table"

#ifdef __cplusplus
}
#endif
#endif
