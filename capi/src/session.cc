// shw_session.
#include "executor.h"

using namespace shw;
using namespace shw::capi;

shw_status* shw_session_create(shw_executor* executor, shw_session** out_session) {
  return make_handle(out_session, "out_session", [&]() -> Result<std::unique_ptr<shw_session>> {
    SHW_WANT(executor);
    SHW_ASSIGN_OR_RETURN(auto session, executor->runtime->create_session());
    return std::make_unique<shw_session>(shw_session{std::move(session)});
  });
}

void shw_session_destroy(shw_session* session) { delete session; }
