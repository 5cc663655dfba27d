//===- ProcessesImpl.h - What is behind Processes ---------------*- C++ -*-===//

#ifndef AMSP_RUNTIME_HOST_PROCESSESIMPL_H
#define AMSP_RUNTIME_HOST_PROCESSESIMPL_H

#include "Transport.h"
#include "amsp/Runtime/Processes.h"

namespace amsp::runtime {

/// A transport between processes of one rank each. It has one endpoint more,
/// on `hostChannel`, for the thread that started it.
class ProcessTransport : public Transport {
public:
  /// The rank that tells a failure to the user.
  virtual int64_t reporter() const = 0;

  /// After a failure: waits (not for long) until the others know it.
  virtual void flushFailure() = 0;
};

struct Processes::Impl {
  std::shared_ptr<ProcessTransport> transport;
  int64_t rank = 0;
  int64_t messages = 0; // sent or received so far, by this rank
};

/// What a transport's library offers; null and `error` set where it fails.
using JoinFunction = ProcessTransport *(*)(std::string & error);
inline constexpr const char *joinSymbol = "amsp_runtime_join";

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_HOST_PROCESSESIMPL_H
