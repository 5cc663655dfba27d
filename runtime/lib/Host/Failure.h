//===- Failure.h - The failure that ends a world ----------------*- C++ -*-===//

#ifndef AMSP_RUNTIME_HOST_FAILURE_H
#define AMSP_RUNTIME_HOST_FAILURE_H

#include "amsp/Runtime/Error.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace amsp::runtime {

/// What a thread of the runtime sleeps on.
struct Signal {
  std::mutex mutex;
  std::condition_variable changed;
};

/// Thrown in a rank's channel thread when another part of the world failed.
struct Aborted : std::exception {
  const char *what() const noexcept override { return "the run was aborted"; }
};

/// The first error of a world; raising it wakes everything that sleeps.
class Failure {
public:
  void subscribe(Signal &signal);
  void unsubscribe(Signal &signal);

  bool raised() const { return flag.load(std::memory_order_acquire); }

  /// Called once, before anybody can know of the error. Set before the threads
  /// start; must not ask for the error.
  std::function<void(const RunError &)> onRaise;

  /// The first error wins. The caller must hold no signal's mutex.
  void raise(RunError error);

  std::optional<RunError> error() const;

private:
  mutable std::mutex mutex;
  std::atomic<bool> flag{false};
  std::optional<RunError> first;
  std::mutex signalsMutex; // taken before any signal's
  std::vector<Signal *> signals;
};

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_HOST_FAILURE_H
