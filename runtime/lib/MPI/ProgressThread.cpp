//===- ProgressThread.cpp - The thread that talks to MPI ------------------===//

#include "ProgressThread.h"

#include "PromptThread.h"

#include <algorithm>
#include <chrono>
#include <sched.h>

using namespace amsp::runtime;

/// How often MPI is asked before the thread sleeps between two questions: ranks
/// often outnumber cores, and the time belongs to who computes.
static constexpr int eagerRounds = 20;
static constexpr std::chrono::microseconds shortestSleep{5};
static constexpr std::chrono::microseconds longestSleep{100};

ProgressThread::ProgressThread() : thread([this] { loop(); }) {}

ProgressThread::~ProgressThread() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
    changed.notify_one();
  }
  thread.join();
}

void ProgressThread::submit(MpiOperation &operation) {
  operation.done = false;
  operation.problem.clear();
  std::lock_guard<std::mutex> lock(mutex);
  submitted.push_back(&operation);
  changed.notify_one();
}

static std::string describe(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
    return "MPI failed with code " + std::to_string(code);
  return "MPI failed: " + std::string(text, length);
}

/// The blocks as one MPI type with absolute addresses. Messages are shorter
/// than 2^31 bytes, so no count overflows.
static MPI_Datatype makeType(const std::vector<Block> &blocks) {
  std::vector<int> counts(blocks.size(), 1);
  std::vector<MPI_Aint> addresses(blocks.size());
  std::vector<MPI_Datatype> rows(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    MPI_Get_address(blocks[i].data, &addresses[i]);
    MPI_Type_create_hvector(static_cast<int>(blocks[i].rows),
                            static_cast<int>(blocks[i].rowBytes),
                            blocks[i].strideBytes, MPI_BYTE, &rows[i]);
  }
  MPI_Datatype type;
  MPI_Type_create_struct(static_cast<int>(blocks.size()), counts.data(),
                         addresses.data(), rows.data(), &type);
  MPI_Type_commit(&type);
  for (MPI_Datatype &row : rows)
    MPI_Type_free(&row);
  return type;
}

void ProgressThread::start(MpiOperation &operation) {
  const std::vector<Block> &blocks = operation.blocks;
  // Also an empty message, which only tells that its sender has come so far.
  bool isDense = blocks.empty() || (blocks.size() == 1 && blocks[0].isDense());
  MPI_Datatype type = isDense ? MPI_BYTE : makeType(blocks);
  void *memory =
      isDense && !blocks.empty() ? blocks[0].writableRow(0) : MPI_BOTTOM;
  int count = isDense ? static_cast<int>(bytesOf(blocks)) : 1;
  MPI_Request request = MPI_REQUEST_NULL;
  int code = operation.isSend
                 ? MPI_Isend(memory, count, type, operation.peer, operation.tag,
                             operation.communicator, &request)
                 : MPI_Irecv(memory, count, type, operation.peer, MPI_ANY_TAG,
                             operation.communicator, &request);
  if (!isDense)
    MPI_Type_free(&type); // MPI keeps it until the message is done
  if (code != MPI_SUCCESS)
    return finish(operation, code, operation.tag);
  requests.push_back(request);
  active.push_back(&operation);
}

void ProgressThread::finish(MpiOperation &operation, int code, int tag) {
  std::string problem;
  // A message that is longer than expected is another one; its tag tells.
  int errorClass = MPI_SUCCESS;
  if (code != MPI_SUCCESS)
    MPI_Error_class(code, &errorClass);
  if (errorClass != MPI_SUCCESS && errorClass != MPI_ERR_TRUNCATE)
    problem = describe(code);
  std::lock_guard<std::mutex> lock(operation.signal->mutex);
  operation.tag = tag;
  operation.problem = std::move(problem);
  operation.done = true;
  operation.signal->changed.notify_all();
}

/// Whether anything ended.
bool ProgressThread::testActive() {
  int count = 0;
  auto size = static_cast<int>(requests.size());
  completed.resize(size);
  statuses.resize(size);
  int code = MPI_Testsome(size, requests.data(), &count, completed.data(),
                          statuses.data());
  if (count == MPI_UNDEFINED || count == 0)
    return false;
  for (int i = 0; i < count; ++i) {
    int index = completed[i];
    finish(*active[index],
           code == MPI_ERR_IN_STATUS ? statuses[i].MPI_ERROR : MPI_SUCCESS,
           active[index]->isSend ? active[index]->tag : statuses[i].MPI_TAG);
    active[index] = nullptr;
  }
  size_t kept = 0;
  for (size_t i = 0; i < active.size(); ++i)
    if (active[i]) {
      requests[kept] = requests[i];
      active[kept++] = active[i];
    }
  requests.resize(kept);
  active.resize(kept);
  return true;
}

/// Waits for work, or a moment where some is under way; false at the end.
bool ProgressThread::takeSubmitted(int idleRounds) {
  std::vector<MpiOperation *> batch;
  {
    std::unique_lock<std::mutex> lock(mutex);
    auto hasNews = [this] { return stopping || !submitted.empty(); };
    if (active.empty()) {
      changed.wait(lock, hasNews);
    } else if (idleRounds > eagerRounds) {
      auto pause = shortestSleep * (1 << std::min(idleRounds - eagerRounds, 8));
      changed.wait_for(lock, std::min(pause, longestSleep), hasNews);
    }
    if (stopping && submitted.empty() && active.empty())
      return false;
    batch.swap(submitted);
  }
  for (MpiOperation *operation : batch)
    start(*operation);
  return true;
}

void ProgressThread::loop() {
  becomePrompt();
  int idleRounds = 0;
  while (takeSubmitted(idleRounds)) {
    if (testActive()) {
      idleRounds = 0;
      continue;
    }
    if (++idleRounds <= eagerRounds)
      sched_yield();
  }
}
