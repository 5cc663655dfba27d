//===- Processes.h - One rank in each of several processes ------*- C++ -*-===//
//
// What a program that is started once per rank does between steps: agree,
// collect what the other ranks hold, and fail together. All calls are made by
// all processes in one order.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_RUNTIME_PROCESSES_H
#define AMSP_RUNTIME_PROCESSES_H

#include "amsp/Runtime/Error.h"

#include <memory>
#include <optional>
#include <string>

namespace amsp::runtime {

class Processes {
public:
  /// Joins the processes that an MPI launcher started; MPI is loaded only now.
  /// Null and `error` set where it is not installed or does not start. Called
  /// once in a process, before it starts threads.
  static std::unique_ptr<Processes> joinMpi(std::string &error);
  ~Processes();
  Processes(const Processes &) = delete;
  Processes &operator=(const Processes &) = delete;

  int64_t rank() const;
  int64_t size() const;

  /// Waits for all processes, and tells the first error of any rank in order
  /// of their numbers: `error` is this rank's, empty if it has none. A failed
  /// run is told as well.
  std::string agree(const std::string &error);

  /// The lowest rank whose text differs from rank 0's, and both texts.
  struct Difference {
    int64_t rank;
    std::string text;
    std::string expected;
  };
  std::optional<Difference> compare(const std::string &text);

  /// Copies bytes of one rank into another's memory. False once the run has
  /// failed.
  bool transfer(int64_t from, int64_t to, const void *source, void *destination,
                int64_t bytes);

  /// A rank's text, on rank 0.
  bool sendToFirst(int64_t from, const std::string &text,
                   std::string &received);

  /// Ends the run of all ranks with an error of this one's.
  void fail(const std::string &message);

  /// The failure of the run, if there is one.
  std::optional<RunError> error() const;

  /// Ends all processes after a failure, with exit status 1. One of them, the
  /// lowest that can, gets true and tells the error before it calls
  /// exitAfterFailure; in the others this does not return.
  bool isReporter() const;
  [[noreturn]] void exitAfterFailure();

  struct Impl;
  explicit Processes(std::unique_ptr<Impl> impl);
  Impl &impl() { return *state; }

private:
  std::unique_ptr<Impl> state;
};

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_PROCESSES_H
