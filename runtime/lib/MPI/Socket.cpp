//===- Socket.cpp - Connections between processes -------------------------===//

#include "Socket.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sstream>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

using namespace amsp;
using namespace amsp::runtime;

Socket::~Socket() {
  if (descriptor >= 0)
    close(descriptor);
}

bool Socket::send(const std::string &bytes) const {
  for (size_t sent = 0; sent < bytes.size();) {
    ssize_t count = ::send(descriptor, bytes.data() + sent, bytes.size() - sent,
                           MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR)
      return false;
    if (count > 0)
      sent += count;
  }
  return true;
}

bool Socket::receive(std::string &bytes) const {
  char chunk[4096];
  ssize_t count;
  do
    count = recv(descriptor, chunk, sizeof(chunk), 0);
  while (count < 0 && errno == EINTR);
  if (count <= 0)
    return false;
  bytes.append(chunk, count);
  return true;
}

[[noreturn]] static void fail(const std::string &what) {
  throw std::runtime_error("the control link: " + what + ": " +
                           std::strerror(errno));
}

std::string SocketAddress::str() const {
  std::string text = std::to_string(port);
  for (const std::string &host : hosts)
    text += " " + host;
  return text;
}

SocketAddress SocketAddress::parse(const std::string &text) {
  SocketAddress address;
  std::istringstream stream(text);
  stream >> address.port;
  for (std::string host; stream >> host;)
    address.hosts.push_back(host);
  return address;
}

/// Those that other machines may know first, the loopback last.
static std::vector<std::string> addressesOfThisMachine() {
  std::vector<std::string> hosts;
  ifaddrs *list = nullptr;
  if (getifaddrs(&list) == 0) {
    for (ifaddrs *each = list; each; each = each->ifa_next) {
      if (!each->ifa_addr || each->ifa_addr->sa_family != AF_INET)
        continue;
      auto *address = reinterpret_cast<sockaddr_in *>(each->ifa_addr);
      char text[INET_ADDRSTRLEN];
      inet_ntop(AF_INET, &address->sin_addr, text, sizeof(text));
      if (address->sin_addr.s_addr != htonl(INADDR_LOOPBACK))
        hosts.emplace_back(text);
    }
    freeifaddrs(list);
  }
  hosts.emplace_back("127.0.0.1");
  return hosts;
}

Socket runtime::listenOnAnyPort(SocketAddress &address) {
  Socket listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in any = {};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t length = sizeof(any);
  auto *generic = reinterpret_cast<sockaddr *>(&any);
  if (!listener.isOpen() || bind(listener.get(), generic, length) != 0 ||
      listen(listener.get(), SOMAXCONN) != 0 ||
      getsockname(listener.get(), generic, &length) != 0)
    fail("cannot listen");
  address = {addressesOfThisMachine(), ntohs(any.sin_port)};
  return listener;
}

static bool waitFor(int descriptor, short events,
                    std::chrono::milliseconds limit) {
  pollfd entry = {descriptor, events, 0};
  int count;
  do
    count = poll(&entry, 1, static_cast<int>(limit.count()));
  while (count < 0 && errno == EINTR);
  if (count == 0)
    errno = ETIMEDOUT;
  return count > 0;
}

/// Frames are small and urgent.
static void sendAtOnce(const Socket &socket) {
  int on = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

Socket runtime::acceptFrom(const Socket &listener,
                           std::chrono::milliseconds limit) {
  if (!waitFor(listener.get(), POLLIN, limit))
    fail("a rank does not connect");
  Socket socket(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.isOpen())
    fail("cannot accept a connection");
  sendAtOnce(socket);
  timeval time = {limit.count() / 1000, 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
  return socket;
}

static bool connectToHost(const Socket &socket, const std::string &host,
                          int port, std::chrono::milliseconds limit) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  fcntl(socket.get(), F_SETFL, O_NONBLOCK);
  if (connect(socket.get(), reinterpret_cast<sockaddr *>(&address),
              sizeof(address)) != 0) {
    if (errno != EINPROGRESS || !waitFor(socket.get(), POLLOUT, limit))
      return false;
    int code = 0;
    socklen_t length = sizeof(code);
    getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &code, &length);
    errno = code;
    if (code != 0)
      return false;
  }
  fcntl(socket.get(), F_SETFL, 0);
  return true;
}

Socket runtime::connectTo(const SocketAddress &address,
                          std::chrono::milliseconds limit) {
  for (const std::string &host : address.hosts) {
    Socket attempt(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (attempt.isOpen() && connectToHost(attempt, host, address.port, limit)) {
      sendAtOnce(attempt);
      return attempt;
    }
  }
  fail("cannot connect to rank 0 at " + address.str());
}
