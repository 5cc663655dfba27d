//===- World.cpp - Runs a compiled step on ranks --------------------------===//

#include "amsp/Runtime/World.h"

#include "Gemm.h"
#include "ProcessesImpl.h"
#include "RankContext.h"
#include "ThreadsTransport.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <sstream>
#include <thread>

using namespace amsp::runtime;

static constexpr size_t arenaAlignment = 64;

/// How long a failed world waits for ranks that compute. Where each rank has a
/// process, little depends on it, and a launcher may soon kill them all.
static constexpr std::chrono::milliseconds stuckLimit{1000};
static constexpr std::chrono::milliseconds stuckProcessLimit{100};

/// A hash is compared in a field of this many bytes.
static constexpr int64_t hashBytes = 64;

namespace {
struct FreeDeleter {
  void operator()(std::byte *memory) const { std::free(memory); }
};

/// One rank: its context, its arena and the thread that runs its steps.
struct RankRunner {
  RankProgram program;
  std::string paddedHash; // peers may read it while this rank gives up
  std::unique_ptr<std::byte, FreeDeleter> arena;
  std::unique_ptr<RankContext> context;
  std::thread thread;
};
} // namespace

/// Shared by the world and the ranks' threads, so that a thread that never
/// comes back leaves nothing dangling.
struct World::State {
  State(std::shared_ptr<Transport> transport, const WorldOptions &options)
      : options(options), transport(std::move(transport)),
        numbers(this->transport->localRanks()),
        environment{*this->transport, this->transport->failure,
                    options.stallLimit, options.faults},
        ranks(numbers.size()), finishedStep(numbers.size(), 0) {
    environment.failure.subscribe(signal);
  }
  ~State() {
    transport->setStatusSource(nullptr);
    environment.failure.unsubscribe(signal);
  }

  void loop(size_t local);
  bool compareHashes(RankRunner &runner);
  std::vector<int64_t> unfinishedRanks() const;
  std::vector<RankStatus> statuses() const;

  const WorldOptions options;
  const std::shared_ptr<Transport> transport;
  const std::vector<int64_t> numbers; // of the local ranks
  RankEnvironment environment;
  std::vector<RankRunner> ranks; // as all that follows, of the local ranks

  Signal signal; // guards what follows
  int64_t step = 0;
  /// A copy: a stuck rank outlives the caller's.
  std::vector<RankBuffers> buffers;
  std::vector<int64_t> finishedStep;
  bool stopping = false;
};

/// Every rank learns every hash and compares it with rank 0's.
bool World::State::compareHashes(RankRunner &runner) {
  RankContext &context = *runner.context;
  int64_t world = transport->world();
  amsp_digit digit = {1, world};
  amsp_collective_operand operand = {1, world * hashBytes, hashBytes};
  amsp_collective collective = {-1,
                                AMSP_ALL_GATHER,
                                AMSP_SUM,
                                AMSP_U8,
                                AMSP_CHANNEL_GATHER,
                                1,
                                1,
                                &digit,
                                &operand,
                                "program hash",
                                0};
  std::string all(world * hashBytes, '\0');
  const void *source = runner.paddedHash.data();
  void *destination = all.data();
  bool gathered = context.start(collective, &source, &destination) &&
                  context.await(collective);
  for (auto &worker : context.workers)
    worker->drain(); // `all` is this function's
  context.forget(collective);
  if (!gathered)
    return false;
  for (int64_t rank = 1; rank < world; ++rank) {
    if (all.compare(rank * hashBytes, hashBytes, all, 0, hashBytes) == 0)
      continue;
    auto text = [&](int64_t of) {
      return std::string(all.c_str() + of * hashBytes,
                         strnlen(all.c_str() + of * hashBytes, hashBytes));
    };
    // The lists of ranks in other processes are not known here.
    bool isLocal = static_cast<int64_t>(ranks.size()) == world;
    std::string problem =
        isLocal ? explainDifference(ranks[rank].program.identity,
                                    ranks[0].program.identity)
                : explainDifference({text(rank), {}}, {text(0), {}});
    environment.failure.raise({rank, 0, -1, "", problem, {}});
    return false;
  }
  return true;
}

void World::State::loop(size_t local) {
  RankRunner &runner = ranks[local];
  RankContext &context = *runner.context;
  std::unique_lock<std::mutex> lock(signal.mutex);
  while (true) {
    signal.changed.wait(lock,
                        [&] { return stopping || step > finishedStep[local]; });
    if (stopping)
      return;
    int64_t current = step;
    const RankBuffers &own = buffers[local];
    lock.unlock();
    bool canRun = current > 1 || compareHashes(runner);
    if (canRun) {
      context.stepNumber = current;
      if (options.poisonArena)
        std::memset(runner.arena.get(), 0xFF, runner.program.arenaBytes);
      context.runStep(*runner.program.step, runner.arena.get(),
                      own.arguments.data(), own.results.data());
    }
    lock.lock();
    finishedStep[local] = current;
    signal.changed.notify_all();
  }
}

std::vector<int64_t> World::State::unfinishedRanks() const {
  std::vector<int64_t> unfinished;
  for (size_t local = 0; local < finishedStep.size(); ++local)
    if (finishedStep[local] < step)
      unfinished.push_back(numbers[local]);
  return unfinished;
}

std::vector<RankStatus> World::State::statuses() const {
  std::vector<RankStatus> statuses;
  for (const RankRunner &runner : ranks)
    statuses.push_back(runner.context->status());
  return statuses;
}

static std::string checkPrograms(const std::vector<RankProgram> &programs) {
  if (programs.empty())
    return "a world needs at least one rank";
  for (const RankProgram &program : programs) {
    if (!program.step || !program.step->execute)
      return "a rank has no program";
    if (program.step->abi_version != AMSP_STEP_ABI_VERSION)
      return "the step has ABI version " +
             std::to_string(program.step->abi_version) +
             ", this runtime runs version " +
             std::to_string(AMSP_STEP_ABI_VERSION);
    if (program.identity.hash.size() > hashBytes)
      return "a program hash is longer than " + std::to_string(hashBytes) +
             " characters";
    if (program.arenaBytes < 0)
      return "the size of an arena is negative";
  }
  return {};
}

static std::string checkLinks(const WorldOptions &options, int64_t ranks,
                              bool hasProcesses) {
  if (!options.links)
    return {};
  if (hasProcesses)
    return "only the threads transport slows its links";
  int64_t world = 1;
  for (const LinkLevel &level : options.links->levels)
    world *= level.size;
  if (world != ranks)
    return "links are described for " + std::to_string(world) + " ranks, not " +
           std::to_string(ranks);
  return {};
}

static std::string makeArena(RankRunner &runner) {
  auto bytes = static_cast<size_t>(runner.program.arenaBytes);
  bytes = std::max((bytes + arenaAlignment - 1) / arenaAlignment, size_t{1}) *
          arenaAlignment;
  runner.arena.reset(
      static_cast<std::byte *>(std::aligned_alloc(arenaAlignment, bytes)));
  if (runner.arena)
    return {};
  return "no memory for an arena of " + std::to_string(bytes) + " bytes";
}

std::unique_ptr<World> World::create(std::vector<RankProgram> programs,
                                     const WorldOptions &options,
                                     std::string &error, Processes *processes) {
  error = checkPrograms(programs);
  if (error.empty())
    error = checkLinks(options, static_cast<int64_t>(programs.size()),
                       processes != nullptr);
  if (!error.empty())
    return nullptr;
  useSingleThreadedBlas();
  auto size = static_cast<int64_t>(programs.size());
  std::shared_ptr<Transport> transport;
  if (processes)
    transport = processes->impl().transport;
  else
    transport = std::make_shared<ThreadsTransport>(size, options.links);
  auto state = std::make_shared<State>(std::move(transport), options);
  if (size != static_cast<int64_t>(state->numbers.size())) {
    error = "a process runs " + std::to_string(state->numbers.size()) +
            " ranks, not " + std::to_string(size);
    return nullptr;
  }
  for (int64_t local = 0; local < size; ++local) {
    RankRunner &runner = state->ranks[local];
    runner.program = programs[local];
    runner.paddedHash = runner.program.identity.hash;
    runner.paddedHash.resize(hashBytes);
    error = makeArena(runner);
    if (!error.empty())
      return nullptr;
    runner.context = std::make_unique<RankContext>(
        state->numbers[local], state->environment, options.trace);
  }
  // The source does not own the state: its destructor takes the source away.
  state->transport->setStatusSource(
      [running = state.get()] { return running->statuses(); });
  for (int64_t local = 0; local < size; ++local)
    state->ranks[local].thread =
        std::thread([state, local] { state->loop(local); });
  return std::unique_ptr<World>(new World(std::move(state)));
}

World::World(std::shared_ptr<State> state) : state(std::move(state)) {}

World::~World() {
  std::vector<int64_t> unfinished;
  {
    std::lock_guard<std::mutex> lock(state->signal.mutex);
    state->stopping = true;
    state->signal.changed.notify_all();
    unfinished = state->unfinishedRanks();
  }
  // A stuck rank's thread keeps the state, which it uses, for good.
  bool isStuck = !unfinished.empty();
  for (RankRunner &runner : state->ranks) {
    if (isStuck)
      runner.thread.detach();
    else
      runner.thread.join();
  }
}

int64_t World::size() const { return state->transport->world(); }

std::optional<RunError>
World::runStep(const std::vector<RankBuffers> &buffers) {
  Failure &failure = state->environment.failure;
  if (failure.raised())
    return failure.error();
  std::unique_lock<std::mutex> lock(state->signal.mutex);
  state->buffers = buffers;
  ++state->step;
  state->signal.changed.notify_all();
  auto allFinished = [&] { return state->unfinishedRanks().empty(); };
  state->signal.changed.wait(lock,
                             [&] { return allFinished() || failure.raised(); });
  if (!failure.raised())
    return std::nullopt;
  // The others end at their next call of the runtime; compiled code that
  // never makes one is given up.
  bool hasProcesses = size() > static_cast<int64_t>(state->numbers.size());
  state->signal.changed.wait_for(
      lock, hasProcesses ? stuckProcessLimit : stuckLimit, allFinished);
  std::optional<RunError> error = failure.error();
  error->stuckRanks = state->unfinishedRanks();
  return error;
}

int64_t World::numCommunicators() const {
  int64_t most = 0;
  for (const RankRunner &runner : state->ranks)
    most = std::max(most, runner.context->numCommunicators());
  return most;
}

std::string World::traceEvents() const {
  std::ostringstream stream;
  bool isFirst = true;
  for (const RankRunner &runner : state->ranks) {
    const RankContext &context = *runner.context;
    context.trace.write(stream, context.number, 0, state->transport->origin,
                        state->options.labels, isFirst);
    for (int32_t channel = 0; channel < numChannels; ++channel)
      context.workers[channel]->trace.write(stream, context.number, 1 + channel,
                                            state->transport->origin,
                                            state->options.labels, isFirst);
  }
  return stream.str();
}

void World::writeTrace(std::ostream &stream) const {
  if (state->options.trace)
    stream << "{\"traceEvents\": [" << traceEvents() << "\n]}\n";
}
