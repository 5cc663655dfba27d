//===- Socket.h - Connections between processes -----------------*- C++ -*-===//

#ifndef AMSP_RUNTIME_MPI_SOCKET_H
#define AMSP_RUNTIME_MPI_SOCKET_H

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace amsp::runtime {

/// Owns a file descriptor.
class Socket {
public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor(descriptor) {}
  ~Socket();
  Socket(Socket &&other) noexcept
      : descriptor(std::exchange(other.descriptor, -1)) {}
  Socket &operator=(Socket &&other) noexcept {
    std::swap(descriptor, other.descriptor);
    return *this;
  }

  int get() const { return descriptor; }
  bool isOpen() const { return descriptor >= 0; }

  /// False where the other end is gone.
  bool send(const std::string &bytes) const;
  /// Appends what has arrived, waiting for some; false at the end.
  bool receive(std::string &bytes) const;

private:
  int descriptor = -1;
};

/// Where to connect to: the addresses of this machine, and a port.
struct SocketAddress {
  std::vector<std::string> hosts; // IPv4
  int port = 0;

  std::string str() const;
  static SocketAddress parse(const std::string &text);
};

/// Failures throw std::runtime_error. `limit` bounds the wait for a connection
/// and, on an accepted one, for each message.
Socket listenOnAnyPort(SocketAddress &address);
Socket acceptFrom(const Socket &listener, std::chrono::milliseconds limit);
Socket connectTo(const SocketAddress &address, std::chrono::milliseconds limit);

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_MPI_SOCKET_H
