/*
 * Imports graphs from other formats, and says what a graph consists of.
 */
#ifndef SHARDWISE_GRAPH_H_
#define SHARDWISE_GRAPH_H_

#include "shardwise/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The format of a graph that is imported. */
typedef int32_t shw_graph_format;
enum {
  SHW_GRAPH_FORMAT_FX_JSON = 1, /* PyTorch's joint graph of forward and backward, as AutoParallel
                                   exports it ("ap-graph-1"): JSON, plain or gzipped */
  SHW_GRAPH_FORMAT_TEXT = 2     /* the text of shw_graph_to_text() */
};

/* What a graph consists of. */
typedef struct shw_graph_summary {
  size_t struct_size; /* set by SHW_GRAPH_SUMMARY_INIT */
  size_t num_nodes;
  size_t num_parameters;
  size_t num_buffers;
  size_t num_tangents;
  size_t num_inputs; /* all others */
  size_t num_gradients;
  size_t num_results;      /* all other outputs */
  int64_t parameter_bytes; /* of whole tensors */
} shw_graph_summary;
#define SHW_GRAPH_SUMMARY_INIT \
  { sizeof(shw_graph_summary), 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Converts a graph to bytes of graph.fbs, and verifies it.
 * @param bytes     lent for the call; any content
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT    the graph is malformed: the message names the node, or the line
 * @retval SHW_UNIMPLEMENTED       it has operations that the library does not know: all are listed
 * @retval SHW_DATA_LOSS           the gzipped bytes are damaged
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory, or the text exceeds
 *                                 shw_context_options::max_text_bytes
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_graph_import(shw_context* context, shw_graph_format format, shw_bytes bytes,
                                     shw_blob** out_blob) SHW_MUST_USE;

/* Options of shw_graph_import_onnx(). */
typedef struct shw_onnx_options {
  size_t struct_size; /* set by SHW_ONNX_OPTIONS_INIT */
  /* Values of the sizes that the model leaves open, by their names in the model:
   * "batch=8,sequence=1..512". A range makes the size a symbol of the graph. After a range, "/8"
   * says that all sizes are multiples of 8, and "@128" gives a typical size (otherwise the
   * largest). A size without a name is identified by its input and dim: "x:0=8". NULL: none. Lent
   * for the call.
   */
  const char* sizes;
  /* Bytes in the format safetensors: values of inputs of the model, by their names. These inputs,
   * such as a shape or axes, become constants of the graph. Empty: none. Lent for the call. */
  shw_bytes constants;
  /* Path of libshardwise_onnx.so; NULL: beside this library, in ../lib from there, or where the
   * system looks for libraries. Lent for the call. */
  const char* plugin;
} shw_onnx_options;
#define SHW_ONNX_OPTIONS_INIT \
  { sizeof(shw_onnx_options), NULL, {NULL, 0}, NULL }

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_onnx_options_init(shw_onnx_options* options, size_t size);

/**
 * Converts an ONNX model, opsets 13 to 21, to bytes of graph.fbs, and verifies it. Older models are
 * read if their operators have the same meaning. Weights become parameters. Integers and single
 * numbers become constants of the graph.
 * @param model       the bytes of a .onnx file; lent for the call; any content
 * @param options     lent for the call; NULL: defaults
 * @param out_graph   receives a handle that the caller destroys; NULL on failure
 * @param out_values  receives a handle that the caller destroys: values of the weights in the
 *                    format safetensors, by the names of the graph's inputs
 *                    ("param.encoder.weight"); NULL on failure
 * @retval SHW_UNAVAILABLE         libshardwise_onnx.so was not found; the message says where it was
 *                                 looked for. The library's build makes it if protobuf is installed
 * @retval SHW_INVALID_ARGUMENT    the model is malformed (the message names the node), or leaves
 *                                 sizes open that the options do not give (all are listed)
 * @retval SHW_UNIMPLEMENTED       it has operators that are not known (all are listed), or asks for
 *                                 something else that the library cannot do
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_graph_import_onnx(shw_context* context, shw_bytes model,
                                          const shw_onnx_options* options, shw_blob** out_graph,
                                          shw_blob** out_values) SHW_MUST_USE;

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_graph_summary_init(shw_graph_summary* summary, size_t size);

/**
 * What a graph consists of.
 * @param graph        FlatBuffer of graph.fbs, or text (.swt); lent for the call; any content
 * @param out_summary  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_INVALID_ARGUMENT    the graph is malformed, or struct_size was not set (then nothing
 *                                 is written)
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_graph_get_summary(shw_bytes graph,
                                          shw_graph_summary* out_summary) SHW_MUST_USE;

/**
 * The graph for a person: a line for each input, node and output. The text is complete:
 * shw_graph_import() reads it back (SHW_GRAPH_FORMAT_TEXT).
 * @param graph     FlatBuffer of graph.fbs, or text (.swt); lent for the call; any content
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT    the graph is malformed
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_graph_to_text(shw_context* context, shw_bytes graph,
                                      shw_blob** out_blob) SHW_MUST_USE;

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_GRAPH_H_ */
