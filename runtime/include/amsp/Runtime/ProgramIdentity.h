//===- ProgramIdentity.h - What tells programs of ranks apart ---*- C++ -*-===//

#ifndef AMSP_RUNTIME_PROGRAMIDENTITY_H
#define AMSP_RUNTIME_PROGRAMIDENTITY_H

#include <cstdint>
#include <string>
#include <vector>

namespace amsp::runtime {

struct ProgramIdentity {
  std::string hash;
  /// One line for each collective, in program order: what an error tells of the
  /// first one that differs. May be empty.
  std::vector<std::string> collectives;
};

/// Why a rank is refused whose program is not rank 0's: the first difference in
/// the order of their collectives, and both hashes.
std::string explainDifference(const ProgramIdentity &program,
                              const ProgramIdentity &ofFirstRank);

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_PROGRAMIDENTITY_H
