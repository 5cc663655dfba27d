//===- MpiTransport.h - Messages over MPI -----------------------*- C++ -*-===//
//
// MPI launches the processes, one rank each, and carries messages between two
// of them. Everything else is the project's own: algorithms, failures.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_RUNTIME_MPI_MPITRANSPORT_H
#define AMSP_RUNTIME_MPI_MPITRANSPORT_H

#include "ControlLink.h"
#include "MpiEndpoint.h"
#include "ProcessesImpl.h"

#include <array>

namespace amsp::runtime {

class MpiTransport final : public ProcessTransport {
public:
  /// After MPI_Init. Called by all ranks; throws std::runtime_error.
  explicit MpiTransport(int64_t maxMessageBytes);
  /// Finalizes MPI.
  ~MpiTransport() override;

  int64_t world() const override { return size; }
  std::vector<int64_t> localRanks() const override { return {rank}; }
  Endpoint &endpoint(int64_t localRank, int32_t channel) override;
  void
  setStatusSource(std::function<std::vector<RankStatus>()> source) override {
    control->setStatusSource(std::move(source));
  }
  void reportStall(const Stall &stall) override { control->reportStall(stall); }
  int64_t reporter() const override { return control->reporter(); }
  void flushFailure() override { control->flush(); }

private:
  std::map<int64_t, Socket> connect();

  int rank = 0;
  int size = 1;
  std::array<MPI_Comm, numChannels + 1> communicators;
  std::unique_ptr<ControlLink> control;
  std::unique_ptr<ProgressThread> progress;
  std::array<std::unique_ptr<MpiEndpoint>, numChannels + 1> endpoints;
};

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_MPI_MPITRANSPORT_H
