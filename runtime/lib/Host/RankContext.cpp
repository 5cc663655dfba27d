//===- RankContext.cpp - The state of one rank in a run -------------------===//

#include "RankContext.h"

#include "Collectives.h"
#include "Gemm.h"

#include <thread>

using namespace amsp::runtime;

amsp_rank::amsp_rank(int64_t number, RankEnvironment &environment, bool traces)
    : number(number), environment(environment) {
  environment.failure.subscribe(signal);
  trace.enabled = traces;
  for (int32_t channel = 0; channel < numChannels; ++channel) {
    workers[channel] = std::make_unique<ChannelWorker>(
        number, environment.transport.endpoint(number, channel),
        environment.failure, signal, stepNumber);
    workers[channel]->trace.enabled = traces;
  }
}

amsp_rank::~amsp_rank() {
  for (std::unique_ptr<ChannelWorker> &worker : workers)
    worker.reset(); // it uses the signal
  environment.failure.unsubscribe(signal);
}

RankStatus amsp_rank::status() const {
  RankStatus status;
  status.rank = number;
  status.step = stepNumber;
  status.awaits = awaitedChannel;
  for (int32_t channel = 0; channel < numChannels; ++channel)
    status.channels[channel] = workers[channel]->status();
  return status;
}

bool amsp_rank::fail(const std::string &message,
                     const amsp_collective *collective) {
  RunError error;
  error.rank = number;
  error.step = stepNumber;
  if (collective) {
    error.collectiveId = collective->id;
    error.collective = collective->name ? collective->name : "";
  }
  error.message = message;
  environment.failure.raise(std::move(error));
  return false;
}

const Group &amsp_rank::communicator(const amsp_collective &collective) {
  Group group =
      groupOf(number, Digits(collective.digits,
                             collective.digits + collective.num_digits));
  auto key = std::make_pair(collective.channel, group.members);
  return communicators.try_emplace(key, std::move(group)).first->second;
}

/// The job of a description, checked and made at its first start; null after
/// a failure.
CollectiveJob *amsp_rank::prepare(const amsp_collective &collective) {
  std::unique_ptr<CollectiveJob> &job = jobs[&collective];
  if (job)
    return job.get();
  std::string problem =
      checkCollective(collective, environment.transport.world());
  if (!problem.empty()) {
    fail(problem, &collective);
    return nullptr;
  }
  job = std::make_unique<CollectiveJob>();
  job->collective = &collective;
  job->group = &communicator(collective);
  for (const Fault &fault : environment.faults)
    if (fault.kind == Fault::Kind::Lag && fault.hits(number, collective))
      job->lag = fault.delay;
  // The runtime's own collectives (no id) take no time of the step.
  const LinkModel *links = environment.transport.links();
  if (links && collective.id >= 0)
    job->linkSeconds = links->seconds(collective);
  double limit = std::chrono::duration<double>(environment.stallLimit).count();
  if (job->linkSeconds > limit) {
    fail("takes " + shortNumber(job->linkSeconds) +
             " s over links as slow as these, longer than the stall limit of " +
             shortNumber(limit) + " s",
         &collective);
    return nullptr;
  }
  return job.get();
}

/// False when this rank is to fail here.
bool amsp_rank::injectFaults(const amsp_collective &collective) {
  for (const Fault &fault : environment.faults) {
    if (!fault.hits(number, collective))
      continue;
    switch (fault.kind) {
    case Fault::Kind::Delay:
      std::this_thread::sleep_for(fault.delay);
      break;
    case Fault::Kind::Fail:
      return fail("injected failure", &collective);
    case Fault::Kind::Lag:
      break; // its job's
    case Fault::Kind::Stall: {
      std::unique_lock<std::mutex> lock(signal.mutex);
      signal.changed.wait(lock,
                          [this] { return environment.failure.raised(); });
      return false;
    }
    }
  }
  return true;
}

bool amsp_rank::start(const amsp_collective &collective,
                      const void *const *sources, void *const *destinations) {
  Clock::time_point begin = Clock::now();
  if (environment.failure.raised() || !injectFaults(collective))
    return false;
  CollectiveJob *job = prepare(collective);
  if (!job)
    return false;
  if (job->inFlight)
    return fail("started again before it was awaited", &collective);
  std::string problem = checkAddresses(collective, sources, destinations);
  if (!problem.empty())
    return fail(problem, &collective);
  job->sources.assign(sources, sources + collective.num_operands);
  job->destinations.assign(destinations,
                           destinations + collective.num_operands);
  job->inFlight = true;
  ++jobsInFlight;
  if (job->group->size() == 1) {
    copySourcesToDestinations(
        {collective, *job->group, job->sources, job->destinations, 0});
    job->done = true;
  } else {
    job->done = false;
    workers[collective.channel]->enqueue(*job);
  }
  trace.record(collective, "start", begin);
  return true;
}

bool amsp_rank::reportStall(const amsp_collective &collective) {
  environment.transport.reportStall(
      {number, stepNumber, collective.channel, collective.id,
       collective.name ? collective.name : "",
       std::chrono::duration<double>(environment.stallLimit).count()});
  return false;
}

bool amsp_rank::waitForJob(CollectiveJob &job) {
  const amsp_collective &collective = *job.collective;
  awaitedChannel = collective.channel;
  bool woken;
  {
    std::unique_lock<std::mutex> lock(signal.mutex);
    woken = signal.changed.wait_for(lock, environment.stallLimit, [&] {
      return job.done.load() || environment.failure.raised();
    });
  }
  if (!woken)
    return reportStall(collective);
  awaitedChannel = -1;
  return !environment.failure.raised();
}

bool amsp_rank::await(const amsp_collective &collective) {
  Clock::time_point begin = Clock::now();
  auto found = jobs.find(&collective);
  if (found == jobs.end() || !found->second->inFlight)
    return fail("awaited, but not started", &collective);
  CollectiveJob &job = *found->second;
  if (!job.done.load() && !waitForJob(job))
    return false;
  job.inFlight = false;
  --jobsInFlight;
  trace.record(collective, "await", begin);
  return true;
}

bool amsp_rank::gemm(const amsp_gemm &gemm, const void *a, const void *b,
                     void *c) {
  Clock::time_point begin = Clock::now();
  std::string problem = runGemm(gemm, a, b, c);
  if (!problem.empty())
    return fail("gemm '" + std::string(gemm.name ? gemm.name : "") +
                "': " + problem);
  trace.record(gemm.name, "gemm", begin);
  return true;
}

/// The started collective of the lowest id.
const amsp_collective *amsp_rank::firstInFlight() const {
  const amsp_collective *first = nullptr;
  for (const auto &[collective, job] : jobs) // any order: a minimum is taken
    if (job->inFlight && (!first || collective->id < first->id))
      first = collective;
  return first;
}

bool amsp_rank::runStep(const amsp_step &step, void *arena,
                        void *const *arguments, void *const *results) {
  Clock::time_point begin = Clock::now();
  if (setjmp(leavePoint) == 0) {
    step.execute(this, arena, arguments, results);
    if (jobsInFlight > 0)
      fail("the step ended before it was awaited", firstInFlight());
  }
  for (const std::unique_ptr<ChannelWorker> &worker : workers)
    worker->drain();
  trace.record("step", "step", begin);
  return !environment.failure.raised();
}
