//===- Processes.cpp - One rank in each of several processes --------------===//

#include "amsp/Runtime/Processes.h"

#include "ProcessesImpl.h"

#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <thread>
#include <unistd.h>

using namespace amsp::runtime;

static constexpr const char *mpiLibrary = "libamsp_runtime_mpi.so";

/// How long a process lives after a failure that another one tells.
static constexpr std::chrono::seconds reportLimit{3};

/// The path of a library that lies beside this one.
static std::string besideThisLibrary(const std::string &name) {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&besideThisLibrary), &info))
    return name;
  std::string own = info.dli_fname;
  return own.substr(0, own.rfind('/') + 1) + name;
}

std::unique_ptr<Processes> Processes::joinMpi(std::string &error) {
  // Global: MPI loads parts of itself that look for its symbols.
  void *handle =
      dlopen(besideThisLibrary(mpiLibrary).c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!handle) {
    error = std::string("MPI is not available: ") + dlerror();
    return nullptr;
  }
  auto join = reinterpret_cast<JoinFunction>(dlsym(handle, joinSymbol));
  if (!join) {
    error = std::string(mpiLibrary) + " has no " + joinSymbol;
    return nullptr;
  }
  auto impl = std::make_unique<Impl>();
  impl->transport.reset(join(error));
  if (!impl->transport)
    return nullptr;
  impl->rank = impl->transport->localRanks().front();
  return std::make_unique<Processes>(std::move(impl));
}

Processes::Processes(std::unique_ptr<Impl> impl) : state(std::move(impl)) {}
Processes::~Processes() = default;

int64_t Processes::rank() const { return state->rank; }
int64_t Processes::size() const { return state->transport->world(); }

void Processes::fail(const std::string &message) {
  state->transport->failure.raise({rank(), 0, -1, "", message, {}});
}

std::optional<RunError> Processes::error() const {
  return state->transport->failure.error();
}

bool Processes::transfer(int64_t from, int64_t to, const void *source,
                         void *destination, int64_t bytes) {
  MessageTag tag{-2, 0, state->messages++};
  if (from == to) {
    if (rank() == from)
      std::memcpy(destination, source, bytes);
    return !state->transport->failure.raised();
  }
  Endpoint &endpoint = state->transport->endpoint(rank(), hostChannel);
  auto messagesAt = [&](const void *memory) {
    Block block{static_cast<const std::byte *>(memory), 1, bytes, bytes};
    return cutBlocks({block}, endpoint.maxMessageBytes(), 1);
  };
  try {
    if (rank() == from) {
      for (const std::vector<Block> &message : messagesAt(source))
        endpoint.post(to, tag, message);
      endpoint.flush();
    } else if (rank() == to) {
      auto messages = messagesAt(destination);
      for (const std::vector<Block> &message : messages)
        endpoint.expect(from, tag, message);
      for (size_t i = 0; i < messages.size(); ++i) {
        endpoint.acquire(from, tag);
        endpoint.release(from);
      }
    }
  } catch (const Aborted &) {
  } catch (const std::exception &problem) {
    state->transport->failure.raise({rank(), 0, -1, "", problem.what(), {}});
  }
  return !state->transport->failure.raised();
}

/// A rank's text, on another rank.
static bool transferText(Processes &processes, int64_t from, int64_t to,
                         const std::string &text, std::string &received) {
  int64_t length = static_cast<int64_t>(text.size());
  int64_t receivedLength = 0;
  if (!processes.transfer(from, to, &length, &receivedLength, sizeof(length)))
    return false;
  if (processes.rank() == to)
    received.resize(receivedLength);
  int64_t bytes = processes.rank() == to ? receivedLength : length;
  return processes.transfer(from, to, text.data(), received.data(), bytes);
}

bool Processes::sendToFirst(int64_t from, const std::string &text,
                            std::string &received) {
  return transferText(*this, from, 0, text, received);
}

/// Rank 0's text, on all ranks.
static bool shareOfFirst(Processes &processes, std::string &text) {
  for (int64_t to = 1; to < processes.size(); ++to) {
    std::string received;
    if (!transferText(processes, 0, to, text, received))
      return false;
    if (processes.rank() == to)
      text = received;
  }
  return true;
}

std::string Processes::agree(const std::string &own) {
  std::string verdict = own;
  bool isAlive = true;
  for (int64_t from = 1; isAlive && from < size(); ++from) {
    std::string theirs;
    isAlive = sendToFirst(from, own, theirs);
    if (rank() == 0 && verdict.empty())
      verdict = theirs;
  }
  isAlive = isAlive && shareOfFirst(*this, verdict);
  return isAlive ? verdict : error()->str();
}

std::optional<Processes::Difference>
Processes::compare(const std::string &text) {
  std::string expected = text;
  if (!shareOfFirst(*this, expected))
    return std::nullopt; // the failure tells more
  // Who differs, as text; agree() takes the first in order.
  std::string first = agree(text == expected ? "" : std::to_string(rank()));
  if (first.empty() || error())
    return std::nullopt;
  Difference difference{std::stoll(first), text, expected};
  std::string theirs;
  if (sendToFirst(difference.rank, text, theirs) && rank() == 0)
    difference.text = theirs;
  return difference;
}

bool Processes::isReporter() const {
  return rank() == state->transport->reporter();
}

void Processes::exitAfterFailure() {
  state->transport->flushFailure();
  // The first process that ends makes the launcher kill the rest.
  if (!isReporter())
    std::this_thread::sleep_for(reportLimit);
  _exit(1);
}
