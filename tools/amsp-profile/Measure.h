//===- Measure.h - Times of collectives and of computation ------*- C++ -*-===//

#ifndef AMSP_TOOLS_AMSP_PROFILE_MEASURE_H
#define AMSP_TOOLS_AMSP_PROFILE_MEASURE_H

#include "amsp/Runtime/World.h"
#include "llvm/Support/Error.h"

#include <deque>
#include <functional>

namespace amsp::profile {

struct MeasureOptions {
  int64_t ranks = 2;
  int64_t minBytes = 4096;     // of a collective's full buffer
  int64_t maxBytes = 64 << 20; // likewise
  int64_t maxGemm = 1024;      // rows of the largest square contraction
  double seconds = 0.2;        // for each number, about
};

struct CollectiveTime {
  const char *kind; // as tables spell it
  int64_t ranks;    // of a group; its siblings run at the same time
  int64_t bytes;    // of the full buffer
  double seconds;
};

struct GemmRate {
  int64_t operations;
  double rate; // operations/s of a rank, while all ranks compute
};

struct Profile {
  std::vector<CollectiveTime> collectives;
  std::vector<GemmRate> f32, f64;
  double memoryBandwidth = 0; // bytes/s of a rank, read and written
  /// Seconds of each further tensor of a collective; of more than one rank.
  double tensorOverhead = 0;
};

/// Measures on ranks that are threads of this process, or one in each of
/// several. Every number is the median of runs that all ranks begin together,
/// as rank 0 sees it.
class Measurement {
public:
  static llvm::Expected<std::unique_ptr<Measurement>>
  create(const MeasureOptions &options, runtime::Processes *processes);

  llvm::Expected<Profile> run();

private:
  explicit Measurement(const MeasureOptions &options) : options(options) {}

  using Body = std::function<void(amsp_rank *, std::byte *arena)>;
  /// The median time of `body` on rank 0.
  llvm::Expected<double> time(const Body &body);
  llvm::Error runOnce(const Body &body, int64_t repeats,
                      std::vector<double> &seconds);

  /// `tensors` of that many bytes each.
  const amsp_collective *describe(int32_t kind, int64_t ranks, int64_t bytes,
                                  int64_t tensors = 1);
  llvm::Error measureCollectives(Profile &profile);
  llvm::Expected<double> timeTensors(int32_t kind, int64_t tensors,
                                     int64_t bytes);
  llvm::Expected<double> measureTensorsOf(int32_t kind, int64_t tensors,
                                          int64_t bytes);
  llvm::Error measureTensors(Profile &profile);
  llvm::Error measureGemm(int32_t dtype, std::vector<GemmRate> &rates);
  llvm::Error measureMemory(Profile &profile);
  int64_t arenaBytes() const;

  const MeasureOptions options;
  std::unique_ptr<runtime::World> world;
  int64_t localRanks = 0;
  bool hasFirstRank = true;
  struct Description {
    amsp_digit digit;
    std::vector<amsp_collective_operand> operands;
    amsp_collective collective;
  };
  std::deque<Description> descriptions; // the runtime keeps their addresses
};

} // namespace amsp::profile

#endif // AMSP_TOOLS_AMSP_PROFILE_MEASURE_H
