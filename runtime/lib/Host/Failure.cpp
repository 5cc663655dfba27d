//===- Failure.cpp - The failure that ends a world ------------------------===//

#include "Failure.h"

#include <algorithm>

using namespace amsp::runtime;

void Failure::subscribe(Signal &signal) {
  std::lock_guard<std::mutex> lock(signalsMutex);
  signals.push_back(&signal);
}

void Failure::unsubscribe(Signal &signal) {
  std::lock_guard<std::mutex> lock(signalsMutex);
  signals.erase(std::remove(signals.begin(), signals.end(), &signal),
                signals.end());
}

void Failure::raise(RunError error) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (first)
      return;
    first = std::move(error);
    if (onRaise)
      onRaise(*first);
    flag.store(true, std::memory_order_release);
  }
  {
    std::lock_guard<std::mutex> lock(signalsMutex);
    for (Signal *signal : signals) {
      // Taking the mutex orders the flag before the sleeper's next look at it.
      std::lock_guard<std::mutex> signalLock(signal->mutex);
      signal->changed.notify_all();
    }
  }
}

std::optional<RunError> Failure::error() const {
  std::lock_guard<std::mutex> lock(mutex);
  return first;
}
