// shw_group.
#include "group.h"

#include <string_view>

#include "boundary.h"
#include "buffer.h"

using namespace shw;
using namespace shw::capi;
using runtime::RegionGroup;

namespace {

Result<ReduceOp> read_reduction(const char* reduction) {
  if (reduction == nullptr) return ReduceOp::kSum;
  for (const ReduceOp op :
       {ReduceOp::kSum, ReduceOp::kAvg, ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kProduct})
    if (reduce_op_name(op) == reduction) return op;
  return invalid_argument("the reduction '" + std::string(reduction) +
                          "' is none of sum, avg, max, min and product");
}

// Calls call(group, dtype, reduction). The group also records an invalid dtype or reduction as its
// error, which ends the run.
template <class Call>
Status call_on(shw_group* group, shw_dtype dtype, const char* reduction, const Call& call) {
  SHW_WANT(group);
  const Result<Dtype> type = read_dtype(dtype);
  if (!type.ok()) return group->ref->keep(type.status());
  const Result<ReduceOp> op = read_reduction(reduction);
  if (!op.ok()) return group->ref->keep(op.status());
  return call(*group->ref, *type, *op);
}

}  // namespace

int32_t shw_group_size(const shw_group* group) {
  return group == nullptr ? 0 : static_cast<int32_t>(group->ref->size());
}

int32_t shw_group_member(const shw_group* group) {
  return group == nullptr ? 0 : static_cast<int32_t>(group->ref->member());
}

shw_status* shw_group_all_gather(shw_group* group, const void* send, void* receive, int64_t count,
                                 shw_dtype dtype) {
  return guard([&] {
    return call_on(group, dtype, nullptr, [&](RegionGroup& g, Dtype type, ReduceOp) {
      return g.all_gather(send, receive, count, type);
    });
  });
}

shw_status* shw_group_all_to_all(shw_group* group, const void* send, void* receive, int64_t count,
                                 shw_dtype dtype) {
  return guard([&] {
    return call_on(group, dtype, nullptr, [&](RegionGroup& g, Dtype type, ReduceOp) {
      return g.all_to_all(send, receive, count, type);
    });
  });
}

shw_status* shw_group_all_to_all_v(shw_group* group, const void* send, const int64_t* send_counts,
                                   void* receive, const int64_t* receive_counts, shw_dtype dtype) {
  return guard([&] {
    return call_on(group, dtype, nullptr, [&](RegionGroup& g, Dtype type, ReduceOp) {
      return g.all_to_all_v(send, send_counts, receive, receive_counts, type);
    });
  });
}

shw_status* shw_group_reduce_scatter(shw_group* group, const void* send, void* receive,
                                     int64_t count, shw_dtype dtype, const char* reduction) {
  return guard([&] {
    return call_on(group, dtype, reduction, [&](RegionGroup& g, Dtype type, ReduceOp op) {
      return g.reduce_scatter(send, receive, count, type, op);
    });
  });
}

shw_status* shw_group_all_reduce(shw_group* group, const void* send, void* receive, int64_t count,
                                 shw_dtype dtype, const char* reduction) {
  return guard([&] {
    return call_on(group, dtype, reduction, [&](RegionGroup& g, Dtype type, ReduceOp op) {
      return g.all_reduce(send, receive, count, type, op);
    });
  });
}
