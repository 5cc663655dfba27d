//===- Session.h - Steps on global arrays -----------------------*- C++ -*-===//

#ifndef AMSP_RUN_SESSION_H
#define AMSP_RUN_SESSION_H

#include "amsp/Run/Checkpoint.h"
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

  /// What an argument is to a file of inputs.
  enum class Need {
    Required,
    Ignored, // may be there, and is not read
    Refused
  };
  using Needs = llvm::function_ref<Need(const Value &)>;

  /// Checks a file's names, shapes and types, then cuts its arrays into the
  /// ranks' buffers.
  llvm::Error loadInputs(const NpzReader &file, Needs needs);

  /// Takes the state from a checkpoint, of which each rank reads its pieces.
  llvm::Error loadState(const CheckpointReader &checkpoint);
  /// Makes the state the checkpoint of a directory, piece by piece. With
  /// several processes rank 0 writes; all call it.
  llvm::Error saveState(llvm::StringRef directory, RunPosition position) const;

  std::optional<runtime::RunError> runStep();

  std::vector<ScalarResult> scalarResults() const;
  /// A result as a global array. All ranks must be in this process.
  std::vector<char> readResult(size_t index) const;

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
  llvm::Error checkInputs(const NpzReader &file, Needs needs) const;
  llvm::Error load(const NpzReader &file, BoundValue &argument);
  llvm::Error load(const CheckpointReader &checkpoint, llvm::StringRef name,
                   const BoundValue &argument);
  /// The arguments that are state, with their names in checkpoints.
  std::vector<std::pair<std::string, const BoundValue *>> namedState() const;
  llvm::Error writePieces(CheckpointWriter *writer) const;
  llvm::Error endWriting(llvm::Error error) const;
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
