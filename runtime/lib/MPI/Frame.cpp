//===- Frame.cpp - Messages of the control link ---------------------------===//

#include "Frame.h"

#include <cstring>
#include <stdexcept>
#include <type_traits>

using namespace amsp::runtime;

/// Longer frames are nobody's of ours.
static constexpr uint32_t maxFrameBytes = 1 << 20;

namespace {
/// Writes fields, or reads them back in the same order. All processes run the
/// same build on the same kind of machine, so numbers keep their bytes.
class Writer {
public:
  template <typename T> void operator()(const T &value) {
    if constexpr (std::is_same_v<T, std::string>) {
      (*this)(static_cast<uint32_t>(value.size()));
      bytes += value;
    } else {
      static_assert(std::is_trivially_copyable_v<T>);
      bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
    }
  }
  std::string bytes;
};

class Reader {
public:
  explicit Reader(std::string_view bytes) : bytes(bytes) {}
  template <typename T> void operator()(T &value) {
    if constexpr (std::is_same_v<T, std::string>) {
      uint32_t length = 0;
      (*this)(length);
      value = std::string(next(length));
    } else {
      std::memcpy(&value, next(sizeof(value)).data(), sizeof(value));
    }
  }

private:
  std::string_view next(size_t length) {
    if (length > bytes.size())
      throw std::runtime_error("a message of the control link is too short");
    std::string_view taken = bytes.substr(0, length);
    bytes.remove_prefix(length);
    return taken;
  }
  std::string_view bytes;
};
} // namespace

/// The fields of a frame, for a writer or a reader.
template <typename Visitor, typename FrameType>
static void visit(Visitor &visitor, FrameType &frame) {
  visitor(frame.kind);
  visitor(frame.rank);
  visitor(frame.token);
  visitor(frame.error.rank);
  visitor(frame.error.step);
  visitor(frame.error.collectiveId);
  visitor(frame.error.collective);
  visitor(frame.error.message);
  visitor(frame.stall.waiter);
  visitor(frame.stall.step);
  visitor(frame.stall.channel);
  visitor(frame.stall.collectiveId);
  visitor(frame.stall.collective);
  visitor(frame.stall.limitSeconds);
  visitor(frame.status.rank);
  visitor(frame.status.step);
  visitor(frame.status.awaits);
  for (auto &channel : frame.status.channels) {
    visitor(channel.waitsFor);
    visitor(channel.collectiveId);
    visitor(channel.collective);
  }
}

std::string Frame::encode() const {
  Writer writer;
  visit(writer, *this);
  Writer framed;
  framed(writer.bytes); // a string is written with its length
  return framed.bytes;
}

std::optional<Frame> Frame::take(std::string &buffer) {
  uint32_t length = 0;
  if (buffer.size() < sizeof(length))
    return std::nullopt;
  std::memcpy(&length, buffer.data(), sizeof(length));
  if (length > maxFrameBytes)
    throw std::runtime_error("a message of the control link is too long");
  if (buffer.size() < sizeof(length) + length)
    return std::nullopt;
  Frame frame;
  Reader reader(std::string_view(buffer).substr(sizeof(length), length));
  visit(reader, frame);
  buffer.erase(0, sizeof(length) + length);
  return frame;
}
