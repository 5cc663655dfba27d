//===- Session.h - Steps on global arrays -----------------------*- C++ -*-===//

#ifndef AMSP_RUN_SESSION_H
#define AMSP_RUN_SESSION_H

#include "amsp/Run/Npz.h"
#include "amsp/Run/PieceLayout.h"
#include "amsp/Run/StepLibrary.h"
#include "amsp/Runtime/World.h"

namespace amsp::run {

/// The scalar float results of a step that are not state.
struct ScalarResult {
  std::string id;
  double value;
};

/// A step with the buffers of all its ranks. State stays in them from step to
/// step; no more than one global array exists at a time.
class Session {
public:
  static llvm::Expected<std::unique_ptr<Session>>
  create(const StepLibrary &library, const runtime::WorldOptions &options);

  /// Which arguments a file gives.
  enum class Inputs {
    All,
    BatchOptional, // the batch may be absent, and is not read
    BatchOnly
  };

  /// Checks a file's names, shapes and types; reads no data.
  llvm::Error checkInputs(const NpzReader &file, Inputs inputs) const;
  /// Checks the file, then cuts its arrays into the ranks' buffers.
  llvm::Error loadInputs(const NpzReader &file, Inputs inputs);

  std::optional<runtime::RunError> runStep();

  std::vector<ScalarResult> scalarResults() const;

  /// Writes all results, as global arrays.
  llvm::Error writeOutputs(llvm::StringRef path) const;

  const runtime::World &world() const { return *ranks; }

private:
  struct FreeDeleter {
    void operator()(char *memory) const;
  };
  /// The local buffers of a value, by rank.
  using LocalBuffers = std::vector<std::unique_ptr<char, FreeDeleter>>;

  /// A value of the manifest with its buffers (none for results that are
  /// state).
  struct BoundValue {
    const Value *value;
    PieceLayout layout;
    LocalBuffers buffers;

    llvm::MutableArrayRef<char> local(int64_t rank) const {
      return {buffers[rank].get(), static_cast<size_t>(layout.localBytes())};
    }
  };

  Session(const Manifest &manifest, bool poison)
      : manifest(manifest), poison(poison) {}
  llvm::Error bind(const std::vector<Value> &values, bool areResults,
                   std::vector<BoundValue> &bound);
  llvm::Error load(const NpzReader &file, BoundValue &argument);
  void poisonBuffers();

  const Manifest &manifest;
  const bool poison;
  std::vector<BoundValue> arguments;
  std::vector<BoundValue> results;
  std::vector<runtime::RankBuffers> rankBuffers;
  std::unique_ptr<runtime::World> ranks;
};

} // namespace amsp::run

#endif // AMSP_RUN_SESSION_H
