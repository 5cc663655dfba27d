//===- TraceBuffer.cpp - Events of one thread -----------------------------===//

#include "TraceBuffer.h"

#include <iomanip>
#include <ostream>

using namespace amsp::runtime;

static std::string quoted(const std::string &text) {
  static const char *hex = "0123456789abcdef";
  std::string result = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      result += '\\';
    if (byte < 0x20)
      result += std::string("\\u00") + hex[byte >> 4] + hex[byte & 15];
    else
      result += c;
  }
  return result + "\"";
}

static double microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

void TraceBuffer::writeArguments(std::ostream &stream, const TraceEvent &event,
                                 const std::vector<CollectiveLabel> &labels) {
  stream << R"(, "args": {"id": )" << event.id << R"(, "bytes": )"
         << event.bytes << R"(, "channel": ")"
         << (event.channel == AMSP_CHANNEL_GATHER ? "gather" : "reduce") << '"';
  auto index = static_cast<size_t>(event.id);
  if (event.id >= 0 && index < labels.size()) {
    stream << R"(, "level": )" << labels[index].level;
    if (!labels[index].unit.empty())
      stream << R"(, "unit": )" << quoted(labels[index].unit);
  }
  if (event.linkSeconds > 0)
    stream << R"(, "link_us": )" << event.linkSeconds * 1e6;
  stream << "}";
}

void TraceBuffer::write(std::ostream &stream, int64_t rank, int32_t thread,
                        Clock::time_point origin,
                        const std::vector<CollectiveLabel> &labels,
                        bool &isFirst) const {
  stream << std::fixed << std::setprecision(3);
  for (const TraceEvent &event : events) {
    stream << (isFirst ? "\n" : ",\n") << R"({"ph": "X", "name": )"
           << quoted(event.name) << R"(, "cat": ")" << event.category
           << R"(", "pid": )" << rank << R"(, "tid": )" << thread
           << R"(, "ts": )" << microseconds(event.begin - origin)
           << R"(, "dur": )" << microseconds(event.end - event.begin);
    if (event.bytes >= 0)
      writeArguments(stream, event, labels);
    stream << "}";
    isFirst = false;
  }
}
