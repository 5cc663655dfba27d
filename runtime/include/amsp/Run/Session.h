//===- Session.h - Steps on global arrays -----------------------*- C++ -*-===//

#ifndef AMSP_RUN_SESSION_H
#define AMSP_RUN_SESSION_H

#include "amsp/Run/Npz.h"
#include "amsp/Run/PieceLayout.h"
#include "amsp/Run/StepLibrary.h"
#include "amsp/Runtime/Processes.h"
#include "amsp/Runtime/World.h"

namespace amsp::run {

/// The scalar float results of a step that are not state.
struct ScalarResult {
  std::string id;
  double value;
};

/// A step with the buffers of its ranks: all of them, or one in each of several
/// processes. State stays in them from step to step; no more than one global
/// array exists at a time.
class Session {
public:
  static llvm::Expected<std::unique_ptr<Session>>
  create(const StepLibrary &library, const runtime::WorldOptions &options,
         runtime::Processes *processes = nullptr);

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

  /// Writes all results, as global arrays. With several processes rank 0
  /// does, and collects the pieces of one array after the other; all call it.
  llvm::Error writeOutputs(llvm::StringRef path) const;

  const runtime::World &world() const { return *ranks; }

private:
  struct FreeDeleter {
    void operator()(char *memory) const;
  };
  /// The local buffers of a value, one for each rank of this process.
  using LocalBuffers = std::vector<std::unique_ptr<char, FreeDeleter>>;

  /// A value of the manifest with its buffers (none for results that are
  /// state).
  struct BoundValue {
    const Value *value;
    PieceLayout layout;
    LocalBuffers buffers;

    /// `index`: among the ranks of this process.
    llvm::MutableArrayRef<char> local(size_t index) const {
      return {buffers[index].get(), static_cast<size_t>(layout.localBytes())};
    }
  };

  Session(const Manifest &manifest, bool poison, runtime::Processes *processes);
  llvm::Error bind(const std::vector<Value> &values, bool areResults,
                   std::vector<BoundValue> &bound);
  llvm::Error load(const NpzReader &file, BoundValue &argument);
  void poisonBuffers();
  const BoundValue &holderOf(const BoundValue &result) const;
  llvm::Error writeArchive(NpzWriter &writer) const;
  bool collect(const BoundValue &value,
               llvm::MutableArrayRef<char> global) const;

  const Manifest &manifest;
  const bool poison;
  runtime::Processes *const processes;
  std::vector<int64_t> localRanks;
  std::vector<BoundValue> arguments;
  std::vector<BoundValue> results;
  std::vector<runtime::RankBuffers> rankBuffers;
  std::unique_ptr<runtime::World> ranks;
};

} // namespace amsp::run

#endif // AMSP_RUN_SESSION_H
