//===- MpiTransport.cpp - Messages over MPI -------------------------------===//

#include "MpiTransport.h"

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>

using namespace amsp::runtime;

/// A message is cut into parts of this size: small enough that a part is
/// combined from cache while the next arrives.
static constexpr int64_t defaultChunkBytes = 1 << 20;
/// MPI counts with int.
static constexpr int64_t largestChunkBytes = 1 << 30;
static constexpr const char *chunkVariable = "AMSP_MPI_CHUNK_BYTES";

static constexpr std::chrono::seconds connectLimit{20};

static int64_t chunkBytes() {
  const char *text = std::getenv(chunkVariable);
  if (!text || !*text)
    return defaultChunkBytes;
  int64_t bytes = 0;
  const char *end = text + std::strlen(text);
  auto [rest, code] = std::from_chars(text, end, bytes);
  // 8: the largest element.
  if (code != std::errc() || rest != end || bytes < 8 ||
      bytes > largestChunkBytes)
    throw std::runtime_error(std::string(chunkVariable) + "=" + text +
                             ": expected a number of bytes from 8 to " +
                             std::to_string(largestChunkBytes));
  return bytes;
}

static std::string makeToken() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 4; ++i)
    token += std::to_string(random()) + ".";
  return token;
}

/// Rank 0's text on all ranks.
static std::string broadcast(std::string text) {
  auto length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  text.resize(length);
  MPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  return text;
}

/// Waits for the first frame of a new connection, which tells whose it is.
static std::optional<int64_t> greet(const Socket &socket,
                                    const std::string &token) {
  std::string received;
  while (socket.receive(received))
    if (std::optional<Frame> frame = Frame::take(received))
      return frame->kind == Frame::Kind::Hello && frame->token == token
                 ? std::optional<int64_t>(frame->rank)
                 : std::nullopt;
  return std::nullopt;
}

/// The connections of the control link: all others to rank 0.
std::map<int64_t, Socket> MpiTransport::connect() {
  std::map<int64_t, Socket> peers;
  Socket listener;
  SocketAddress address;
  if (rank == 0)
    listener = listenOnAnyPort(address);
  std::string token = broadcast(rank == 0 ? makeToken() : "");
  address = SocketAddress::parse(broadcast(address.str()));
  if (rank != 0) {
    Frame hello;
    hello.kind = Frame::Kind::Hello;
    hello.rank = rank;
    hello.token = token;
    peers[0] = connectTo(address, connectLimit);
    peers[0].send(hello.encode());
    return peers;
  }
  while (static_cast<int>(peers.size()) < size - 1) {
    Socket socket = acceptFrom(listener, connectLimit);
    // Anybody may connect; who does not know the token is none of us.
    if (std::optional<int64_t> peer = greet(socket, token))
      peers[*peer] = std::move(socket);
  }
  return peers;
}

MpiTransport::MpiTransport(int64_t maxMessageBytes) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  control = std::make_unique<ControlLink>(rank, size, failure, connect());
  failure.onRaise = [this](const RunError &error) { control->announce(error); };
  for (MPI_Comm &communicator : communicators) {
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
    MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  origin = std::chrono::steady_clock::now();
  // From here on, no other thread calls MPI.
  progress = std::make_unique<ProgressThread>();
  for (size_t channel = 0; channel < endpoints.size(); ++channel)
    endpoints[channel] = std::make_unique<MpiEndpoint>(
        *progress, failure, communicators[channel], size, maxMessageBytes);
}

MpiTransport::~MpiTransport() {
  for (std::unique_ptr<MpiEndpoint> &endpoint : endpoints)
    endpoint.reset();
  progress.reset();
  control.reset();
  for (MPI_Comm &communicator : communicators)
    MPI_Comm_free(&communicator);
  MPI_Finalize();
}

Endpoint &MpiTransport::endpoint(int64_t /*localRank*/, int32_t channel) {
  return *endpoints[channel];
}

/// Threads inherit it, so this comes before any is started.
static void blockTermination() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

extern "C" ProcessTransport *amsp_runtime_join(std::string &error) {
  try {
    int64_t bytes = chunkBytes();
    blockTermination();
    int provided = MPI_THREAD_SINGLE;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) !=
        MPI_SUCCESS)
      throw std::runtime_error("MPI does not start");
    if (provided < MPI_THREAD_SERIALIZED)
      throw std::runtime_error("this MPI serves only one thread");
    return new MpiTransport(bytes);
  } catch (const std::exception &problem) {
    error = problem.what();
    return nullptr;
  }
}
