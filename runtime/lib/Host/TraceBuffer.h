//===- TraceBuffer.h - Events of one thread ---------------------*- C++ -*-===//

#ifndef AMSP_RUNTIME_HOST_TRACEBUFFER_H
#define AMSP_RUNTIME_HOST_TRACEBUFFER_H

#include "amsp/Runtime/World.h"

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
  // Of a collective:
  int32_t id = -1;
  int32_t channel = -1;
  int64_t bytes = -1;
  double linkSeconds = 0;
};

/// The events that one thread records; no other thread writes to it.
class TraceBuffer {
public:
  bool enabled = false;

  void record(const char *name, const char *category, Clock::time_point begin) {
    if (enabled)
      events.push_back({name ? name : "", category, begin, Clock::now()});
  }
  void record(const amsp_collective &collective, const char *category,
              Clock::time_point begin, double linkSeconds = 0) {
    if (enabled)
      events.push_back({collective.name ? collective.name : "", category, begin,
                        Clock::now(), collective.id, collective.channel,
                        paddedBytes(collective), linkSeconds});
  }

  /// Writes each event as a complete event of Chrome's format, with a comma
  /// before all but the first of the file.
  void write(std::ostream &stream, int64_t rank, int32_t thread,
             Clock::time_point origin,
             const std::vector<CollectiveLabel> &labels, bool &isFirst) const;

private:
  static void writeArguments(std::ostream &stream, const TraceEvent &event,
                             const std::vector<CollectiveLabel> &labels);

  std::vector<TraceEvent> events;
};

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_HOST_TRACEBUFFER_H
