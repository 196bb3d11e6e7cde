#include "runtime/cuda/plugin/documents.h"

#include "runtime/cuda/plugin/loops.h"

namespace shw::runtime::cuda {

Result<Documents> Documents::of(const KernelArgs& args, size_t operand, const AttentionShape& shape,
                                const char* kernel) {
  Documents documents;
  if (operand >= args.inputs.size() || args.inputs[operand] == nullptr) return documents;
  const TensorType& ends = *args.inputs[operand];
  SHW_RETURN_IF_ERROR(check_documents(shape, ends));
  documents.operand_ = operand;
  DocumentArguments& a = documents.arguments_;
  a.batch = shape.batch;
  a.positions = shape.queries;
  a.count = ends.shape[1];
  set_strides(strides_bytes(ends), a.stride);
  a.dtype = static_cast<int>(ends.dtype);
  a.step.kernel = kernel_number(kernel);
  return documents;
}

Result<const KeySpan*> Documents::run(CudaStream& stream, void* const* buffers, void* memory,
                                      int64_t node) const {
  if (!are_there()) return static_cast<const KeySpan*>(nullptr);
  DocumentArguments a = arguments_;
  a.step.node = node;
  auto* spans = static_cast<KeySpan*>(memory);
  const void* ends = buffers[operand_];
  SHW_RETURN_IF_ERROR(launch_elements(stream, DeviceKernel::shw_document_spans,
                                      a.batch * std::max(a.positions, a.count), spans, ends,
                                      stream.errors(), a));
  return static_cast<const KeySpan*>(spans);
}

}  // namespace shw::runtime::cuda
