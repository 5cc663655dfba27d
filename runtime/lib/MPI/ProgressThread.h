//===- ProgressThread.h - The thread that talks to MPI ----------*- C++ -*-===//
//
// MPI's messages move only while somebody calls MPI. One thread per process
// does: it starts what the channels submit, and tests what is under way. So
// transfers proceed while the rank computes, and MPI needs no locks of its own
// (MPI_THREAD_SERIALIZED).
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_RUNTIME_MPI_PROGRESSTHREAD_H
#define AMSP_RUNTIME_MPI_PROGRESSTHREAD_H

#include "Block.h"
#include "Failure.h"

#include <mpi.h>

#include <string>
#include <thread>

namespace amsp::runtime {

/// A message under way. Whoever submits it owns it, and leaves it alone until
/// it is done.
struct MpiOperation {
  bool isSend = false;
  MPI_Comm communicator = MPI_COMM_NULL;
  int peer = 0;
  int tag = 0; // received messages: set when done
  std::vector<Block> blocks;
  Signal *signal = nullptr; // the submitter's; notified when done

  bool done = false;   // guarded by the signal
  std::string problem; // set where MPI failed, when done
};

class ProgressThread {
public:
  ProgressThread();
  /// Everything submitted must be done.
  ~ProgressThread();

  void submit(MpiOperation &operation);

private:
  void loop();
  bool takeSubmitted(int idleRounds);
  void start(MpiOperation &operation);
  bool testActive();
  void finish(MpiOperation &operation, int code, int tag);

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<MpiOperation *> submitted;
  bool stopping = false;

  // The thread's own; requests and operations by the same index.
  std::vector<MPI_Request> requests;
  std::vector<MpiOperation *> active;
  std::vector<int> completed;
  std::vector<MPI_Status> statuses;

  std::thread thread;
};

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_MPI_PROGRESSTHREAD_H
