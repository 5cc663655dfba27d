//===- TraceBuffer.h - Events of one thread ---------------------*- C++ -*-===//

#ifndef AMSP_RUNTIME_HOST_TRACEBUFFER_H
#define AMSP_RUNTIME_HOST_TRACEBUFFER_H

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace amsp::runtime {

using Clock = std::chrono::steady_clock;

struct TraceEvent {
  std::string name;
  const char *category; // step, start, await, transfer, gemm
  Clock::time_point begin;
  Clock::time_point end;
  int64_t bytes; // -1: not a transfer
};

/// The events that one thread records; no other thread writes to it.
class TraceBuffer {
public:
  bool enabled = false;

  void record(const char *name, const char *category, Clock::time_point begin,
              int64_t bytes = -1) {
    if (enabled)
      events.push_back(
          {name ? name : "", category, begin, Clock::now(), bytes});
  }

  /// Writes each event as a complete event of Chrome's format, with a comma
  /// before all but the first of the file.
  void write(std::ostream &stream, int64_t rank, int32_t thread,
             Clock::time_point origin, bool &isFirst) const;

private:
  std::vector<TraceEvent> events;
};

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_HOST_TRACEBUFFER_H
