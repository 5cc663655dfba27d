//===- Manifest.h - What a compiled step says of itself ---------*- C++ -*-===//

#ifndef AMSP_RUN_MANIFEST_H
#define AMSP_RUN_MANIFEST_H

#include "amsp-c/Step.h"
#include "amsp/Runtime/Group.h"
#include "amsp/Runtime/ProgramIdentity.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace amsp::run {

/// How the local buffers of a value relate to its global value.
struct Placement {
  enum class Kind { Replicated, Split, Flat };
  Kind kind = Kind::Replicated;
  int64_t dim = 0;   // split
  int64_t keep = 0;  // flat
  int64_t piece = 0; // flat
  runtime::Digits digits;
};

/// An argument or a result.
struct Value {
  std::string id;   // `arg0`, `out3`: its name in npz files
  std::string name; // from the exported program; may be empty
  std::string role;
  amsp_dtype dtype = AMSP_F32;
  std::vector<int64_t> shape;
  std::vector<int64_t> localShape;
  Placement placement;
  /// State only: an argument's index among the results, or the reverse.
  std::optional<int64_t> partner;

  bool isBatch() const { return role == "batch"; }
  /// Lives from step to step (frozen parameters do, unchanged).
  bool isState() const {
    return role == "param" || role == "opt_state" || role == "state";
  }
  /// `arg0 ('params.w')`, for messages.
  std::string describe() const;
};

struct Collective {
  int64_t id = 0;
  std::string name;
  std::string kind;
  std::string dtype;
  std::string unit; // may be empty
  runtime::Digits digits;
  int64_t bytes = 0; // of the full buffers, padded

  /// `'gather.w' (id 0, all_gather of f32, 32 bytes over [[2, 2], [1, 2]])`
  std::string describe() const;
};

/// The part of the manifest that running a step needs.
struct Manifest {
  std::string name;
  std::string programHash;
  std::vector<int64_t> levels;
  int64_t world = 1;
  int64_t arenaBytes = 0;
  int64_t stateBytes = 0;
  std::vector<Value> arguments;
  std::vector<Value> results;
  std::vector<Collective> collectives;

  runtime::ProgramIdentity identity() const;
  /// Bytes of a rank: of the local values of all arguments, and of the results
  /// that are no new state.
  int64_t interfaceBytes() const;
  /// Those and the arena: all memory that a step of a rank needs.
  int64_t memoryBytes() const { return interfaceBytes() + arenaBytes; }
};

/// Parses and checks a manifest: sizes, digits, and that state arguments and
/// results belong together.
llvm::Expected<Manifest> parseManifest(llvm::StringRef json);

} // namespace amsp::run

#endif // AMSP_RUN_MANIFEST_H
