//===- Failure.cpp - The failure that ends a world ------------------------===//

#include "Failure.h"

using namespace amsp::runtime;

void Failure::raise(RunError error) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (first)
      return;
    first = std::move(error);
    flag.store(true, std::memory_order_release);
  }
  for (Signal *signal : signals) {
    // Taking the mutex orders the flag before the sleeper's next look at it.
    std::lock_guard<std::mutex> lock(signal->mutex);
    signal->changed.notify_all();
  }
}

std::optional<RunError> Failure::error() const {
  std::lock_guard<std::mutex> lock(mutex);
  return first;
}
