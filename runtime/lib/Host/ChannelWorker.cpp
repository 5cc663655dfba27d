//===- ChannelWorker.cpp - Progress of one channel of a rank --------------===//

#include "ChannelWorker.h"

#include "Collectives.h"
#include "PromptThread.h"
#include "amsp/Runtime/LinkModel.h"

using namespace amsp::runtime;

ChannelWorker::ChannelWorker(int64_t rank, Endpoint &endpoint, Failure &failure,
                             Signal &rankSignal,
                             const std::atomic<int64_t> &step)
    : rank(rank), endpoint(endpoint), failure(failure), rankSignal(rankSignal),
      step(step), thread([this] { loop(); }) {}

ChannelWorker::~ChannelWorker() {
  {
    std::lock_guard<std::mutex> lock(queueSignal.mutex);
    stopping = true;
    queueSignal.changed.notify_all();
  }
  thread.join();
}

void ChannelWorker::enqueue(CollectiveJob &job) {
  std::lock_guard<std::mutex> lock(queueSignal.mutex);
  queue.push_back(&job);
  queueSignal.changed.notify_all();
}

void ChannelWorker::drain() {
  std::unique_lock<std::mutex> lock(queueSignal.mutex);
  queueSignal.changed.wait(lock, [this] { return queue.empty(); });
}

void ChannelWorker::loop() {
  becomePrompt();
  std::unique_lock<std::mutex> lock(queueSignal.mutex);
  while (true) {
    queueSignal.changed.wait(lock,
                             [this] { return stopping || !queue.empty(); });
    if (queue.empty())
      return;
    CollectiveJob &job = *queue.front();
    lock.unlock();
    if (!failure.raised())
      run(job);
    lock.lock();
    queue.pop_front();
    if (queue.empty())
      queueSignal.changed.notify_all();
  }
}

RankStatus::Channel ChannelWorker::status() const {
  RankStatus::Channel status;
  status.waitsFor = endpoint.waitsFor();
  if (const amsp_collective *current = running.load()) {
    status.collectiveId = current->id;
    status.collective = current->name ? current->name : "";
  }
  return status;
}

void ChannelWorker::run(CollectiveJob &job) {
  const amsp_collective &collective = *job.collective;
  Clock::time_point begin = Clock::now();
  running.store(&collective);
  try {
    if (job.lag.count() > 0)
      std::this_thread::sleep_for(job.lag);
    endpoint.begin(job.linkSeconds);
    runCollective(endpoint, {collective, *job.group, job.sources,
                             job.destinations, runs++});
    endpoint.end();
  } catch (const Aborted &) {
    return; // `running` stays: it tells where this rank was
  } catch (const std::exception &error) {
    failure.raise(
        {rank, step.load(), collective.id, collective.name, error.what(), {}});
    return;
  }
  running.store(nullptr);
  trace.record(collective, "transfer", begin, job.linkSeconds);
  std::lock_guard<std::mutex> lock(rankSignal.mutex);
  job.done.store(true);
  rankSignal.changed.notify_all();
}
