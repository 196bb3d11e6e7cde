/* What libshardwise_onnx.so gives to libshardwise.so: ONNX models as graphs of ours. Neither C++
 * types nor protobuf's cross the border between the two objects, so either may be built with
 * another compiler, and the library needs no protobuf. */
#ifndef SHARDWISE_IMPORT_ONNX_PLUGIN_H_
#define SHARDWISE_IMPORT_ONNX_PLUGIN_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SHW_ONNX_PLUGIN_VERSION = 1 };

/* What import() reads; lent for the call. */
typedef struct shw_onnx_request {
  const void* model;
  size_t model_size;
  const char* sizes; /* as shw_onnx_options::sizes; not terminated */
  size_t sizes_size;
  const void* constants; /* safetensors; 0 bytes: none */
  size_t constants_size;
} shw_onnx_request;

/* Where import() reports; what it passes is lent for the call. One of the two is called, once. */
typedef struct shw_onnx_sink {
  void* user;
  /* The graph (schemas/graph.fbs) and the values of its parameters (safetensors). 0: taken. */
  int (*take)(void* user, const void* graph, size_t graph_size, const void* values,
              size_t values_size);
  /* `code`: of shw_code. `node`: index into the model's nodes; -1: none. */
  void (*refuse)(void* user, int32_t code, const char* message, int64_t node,
                 const char* node_name);
} shw_onnx_sink;

typedef struct shw_onnx_plugin {
  uint32_t version; /* SHW_ONNX_PLUGIN_VERSION */
  uint32_t size;    /* of this struct */
  /* Any thread. 0: sink->take() was called. */
  int (*import)(const shw_onnx_request* request, const shw_onnx_sink* sink);
} shw_onnx_plugin;

/* The plug-in's one export: its table. */
extern const shw_onnx_plugin shw_onnx_plugin_table;
#define SHW_ONNX_PLUGIN_SYMBOL "shw_onnx_plugin_table"

#ifdef __cplusplus
}
#endif
#endif
