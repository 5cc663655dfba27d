//===- PassStatistic.cpp - Numbers that a pass counts ---------------------===//

#include "amsp/Support/PassStatistic.h"
#include "llvm/ADT/DenseMap.h"
#include <mutex>

using namespace mlir;
using namespace amsp;

namespace {
/// MLIR's passes do not tell of what kind their statistics are.
struct Registry {
  std::mutex mutex;
  llvm::DenseMap<const Pass *, llvm::SmallVector<PassStatistic *, 4>> entries;
};
} // namespace

static Registry &getRegistry() {
  static auto *registry = new Registry; // passes may outlive other statics
  return *registry;
}

PassStatistic::PassStatistic(Pass *owner, const char *name,
                             const char *description)
    : Statistic(owner, name, description), owner(owner), name(name),
      description(description) {
  Registry &registry = getRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  registry.entries[owner].push_back(this);
}

PassStatistic::~PassStatistic() {
  Registry &registry = getRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  registry.entries.erase(owner);
}

PassStatistic &PassStatistic::operator+=(uint64_t number) {
  value += number;
  return *this;
}

PassStatistic &PassStatistic::operator=(uint64_t number) {
  value = number;
  stated = true;
  return *this;
}

llvm::SmallVector<PassStatistic *, 4> amsp::getStatistics(const Pass *pass) {
  Registry &registry = getRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  return registry.entries.lookup(pass);
}
