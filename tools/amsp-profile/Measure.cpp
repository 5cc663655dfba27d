//===- Measure.cpp - Times of collectives and of computation --------------===//

#include "Measure.h"
#include "amsp/Runtime/Processes.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace amsp;
using namespace amsp::profile;
using namespace llvm;
using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

namespace {
/// What a rank runs: arguments[0] of the step below.
struct Task {
  const std::function<void(amsp_rank *, std::byte *)> *body;
  const amsp_collective *barrier;
  int64_t repeats;
  double *seconds; // of each repeat
};
} // namespace

/// Left by longjmp when a rank fails, so it holds nothing that must be freed.
static void executeTask(amsp_rank *rank, void *arena, void *const *arguments,
                        void *const *) {
  const Task &task = *static_cast<const Task *>(arguments[0]);
  auto *memory = static_cast<std::byte *>(arena);
  const void *source = memory;
  void *destination = memory;
  for (int64_t i = 0; i < task.repeats; ++i) {
    amsp_collective_start(rank, task.barrier, &source, &destination);
    amsp_collective_await(rank, task.barrier);
    Clock::time_point begin = Clock::now();
    (*task.body)(rank, memory);
    task.seconds[i] = secondsSince(begin);
  }
}

static constexpr amsp_step measuredStep = {AMSP_STEP_ABI_VERSION, "",
                                           executeTask};

/// Of a collective's two sides, a piece of at least an element for each rank;
/// of three matrices of f64; of three arrays.
int64_t Measurement::arenaBytes() const {
  int64_t sides = 2 * (options.maxBytes + 4 * options.ranks + 64);
  int64_t matrices = 3 * options.maxGemm * options.maxGemm * 8;
  return std::max({sides, 3 * options.maxBytes, matrices}) + 64;
}

Expected<std::unique_ptr<Measurement>>
Measurement::create(const MeasureOptions &options,
                    runtime::Processes *processes) {
  std::unique_ptr<Measurement> made(new Measurement(options));
  made->localRanks = processes ? 1 : options.ranks;
  made->hasFirstRank = !processes || processes->rank() == 0;
  runtime::WorldOptions worldOptions;
  worldOptions.stallLimit = std::chrono::minutes(1);
  std::string error;
  made->world = runtime::World::create(
      std::vector<runtime::RankProgram>(
          made->localRanks,
          {&measuredStep, {"amsp-profile", {}}, made->arenaBytes()}),
      worldOptions, error, processes);
  if (!made->world)
    return createStringError(error);
  return made;
}

Error Measurement::runOnce(const Body &body, int64_t repeats,
                           std::vector<double> &seconds) {
  std::vector<std::vector<double>> times(localRanks,
                                         std::vector<double>(repeats));
  const amsp_collective *barrier = describe(AMSP_ALL_REDUCE, options.ranks, 4);
  std::vector<Task> tasks;
  for (std::vector<double> &own : times)
    tasks.push_back({&body, barrier, repeats, own.data()});
  std::vector<runtime::RankBuffers> buffers;
  for (Task &task : tasks)
    buffers.push_back({{&task}, {}});
  if (std::optional<runtime::RunError> failure = world->runStep(buffers))
    return createStringError(failure->str());
  seconds = times.front();
  return Error::success();
}

Expected<double> Measurement::time(const Body &body) {
  // The number of repeats must be one on all ranks: it follows from a fixed
  // series, ended by what every rank knows.
  std::vector<double> seconds;
  if (Error error = runOnce(body, 2, seconds)) // also warms up
    return std::move(error);
  double estimate = hasFirstRank ? std::max(seconds.back(), 1e-7) : 0;
  // Rank 0 tells the others by a maximum over the ranks.
  float shared = estimate;
  const amsp_collective *maximum = describe(AMSP_ALL_REDUCE, options.ranks, 4);
  const Body agree = [&](amsp_rank *rank, std::byte *arena) {
    void *place = arena;
    const void *source = arena;
    float own = amsp_rank_number(rank) == 0 ? estimate : 0;
    std::memcpy(arena, &own, sizeof(own));
    amsp_collective_start(rank, maximum, &source, &place);
    amsp_collective_await(rank, maximum);
    if (amsp_rank_number(rank) == 0 || localRanks == 1)
      std::memcpy(&shared, arena, sizeof(shared));
  };
  std::vector<double> unused;
  if (Error error = runOnce(agree, 1, unused))
    return std::move(error);
  auto repeats = std::clamp<int64_t>(options.seconds / shared, 3, 1000);
  if (Error error = runOnce(body, repeats, seconds))
    return std::move(error);
  auto *middle = seconds.data() + seconds.size() / 2;
  std::nth_element(seconds.data(), middle, seconds.data() + seconds.size());
  return std::max(*middle, 1e-9);
}

const amsp_collective *Measurement::describe(int32_t kind, int64_t ranks,
                                             int64_t bytes, int64_t tensors) {
  Description &made = descriptions.emplace_back();
  int64_t full = bytes / 4, piece = full;
  if (kind != AMSP_ALL_REDUCE)
    piece = (full + ranks - 1) / ranks;
  if (kind == AMSP_ALL_TO_ALL) // knows no padding
    full = piece * ranks;
  made.digit = {1, ranks};
  made.operands.assign(tensors, {1, full, piece});
  amsp_collective &collective = made.collective;
  collective = {};
  collective.id = static_cast<int32_t>(descriptions.size() - 1);
  collective.kind = kind;
  collective.reduction = AMSP_SUM;
  collective.dtype = AMSP_F32;
  collective.channel =
      kind == AMSP_ALL_GATHER ? AMSP_CHANNEL_GATHER : AMSP_CHANNEL_REDUCE;
  collective.num_digits = 1;
  collective.num_operands = static_cast<int32_t>(tensors);
  collective.digits = &made.digit;
  collective.operands = made.operands.data();
  collective.name = "profile";
  return &collective;
}

Error Measurement::measureCollectives(Profile &profile) {
  static constexpr std::pair<int32_t, const char *> kinds[] = {
      {AMSP_ALL_GATHER, "all_gather"},
      {AMSP_REDUCE_SCATTER, "reduce_scatter"},
      {AMSP_ALL_REDUCE, "all_reduce"},
      {AMSP_ALL_TO_ALL, "all_to_all"}};
  for (auto [kind, name] : kinds)
    for (int64_t ranks = 2; ranks <= options.ranks; ++ranks) {
      if (options.ranks % ranks != 0)
        continue;
      for (int64_t bytes = options.minBytes; bytes <= options.maxBytes;
           bytes *= 4) {
        const amsp_collective *collective = describe(kind, ranks, bytes);
        int64_t fullBytes = (collective->operands[0].full * 4 + 63) / 64 * 64;
        // The other side: a piece, or what an all_to_all delivers.
        bool isOtherSource = kind == AMSP_ALL_GATHER;
        bool isOtherDestination =
            kind == AMSP_REDUCE_SCATTER || kind == AMSP_ALL_TO_ALL;
        const Body body = [=](amsp_rank *rank, std::byte *arena) {
          void *full = arena, *other = arena + fullBytes;
          const void *source = isOtherSource ? other : full;
          void *destination = isOtherDestination ? other : full;
          amsp_collective_start(rank, collective, &source, &destination);
          amsp_collective_await(rank, collective);
        };
        Expected<double> seconds = time(body);
        if (!seconds)
          return seconds.takeError();
        profile.collectives.push_back({name, ranks, bytes, *seconds});
      }
    }
  return Error::success();
}

static constexpr int64_t kManyTensors = 64;
/// Of the times that are compared: one alone may be anything.
static constexpr int kRounds = 5;

/// A collective over all ranks of up to kManyTensors tensors whose full sides
/// have so many bytes.
Expected<double> Measurement::timeTensors(int32_t kind, int64_t tensors,
                                          int64_t bytes) {
  const amsp_collective *collective =
      describe(kind, options.ranks, bytes, tensors);
  int64_t piece = collective->operands[0].piece * 4;
  bool isGather = kind == AMSP_ALL_GATHER;
  const Body body = [=](amsp_rank *rank, std::byte *arena) {
    // Nobody reads what comes out, so the tensors may lie anyhow.
    std::array<const void *, kManyTensors> sources;
    std::array<void *, kManyTensors> destinations;
    for (int64_t i = 0; i < tensors; ++i) {
      std::byte *full = arena + i * bytes;
      std::byte *other = arena + tensors * bytes + i * piece;
      sources[i] = isGather ? other : full;
      destinations[i] = isGather ? full : other;
    }
    amsp_collective_start(rank, collective, sources.data(),
                          destinations.data());
    amsp_collective_await(rank, collective);
  };
  return time(body);
}

/// What many small tensors of a collective take longer than one with all their
/// bytes, for each: the fastest rounds compared, and 0 if that is less than the
/// rounds differ by themselves.
Expected<double> Measurement::measureTensorsOf(int32_t kind, int64_t tensors,
                                               int64_t bytes) {
  std::vector<double> apart, together;
  for (int round = 0; round < kRounds; ++round) {
    for (auto [times, count] :
         {std::pair(&apart, tensors), std::pair(&together, int64_t(1))}) {
      Expected<double> seconds =
          timeTensors(kind, count, tensors * bytes / count);
      if (!seconds)
        return seconds.takeError();
      times->push_back(*seconds);
    }
  }
  llvm::sort(apart);
  llvm::sort(together);
  double more = apart.front() - together.front();
  double noise = together[kRounds / 2] - together.front();
  return more > noise ? more / static_cast<double>(tensors - 1) : 0;
}

/// The least of the kinds of collectives: what is packed for it is packed for
/// all of them.
Error Measurement::measureTensors(Profile &profile) {
  if (options.ranks < 2)
    return Error::success();
  int64_t bytes = 4 * options.ranks;
  int64_t tensors =
      std::clamp<int64_t>(options.maxBytes / bytes, 1, kManyTensors);
  if (tensors < 2)
    return Error::success();
  profile.tensorOverhead = std::numeric_limits<double>::infinity();
  for (int32_t kind : {AMSP_ALL_GATHER, AMSP_REDUCE_SCATTER, AMSP_ALL_REDUCE}) {
    Expected<double> seconds = measureTensorsOf(kind, tensors, bytes);
    if (!seconds)
      return seconds.takeError();
    profile.tensorOverhead = std::min(profile.tensorOverhead, *seconds);
  }
  return Error::success();
}

Error Measurement::measureGemm(int32_t dtype, std::vector<GemmRate> &rates) {
  for (int64_t n = std::min<int64_t>(64, options.maxGemm); n <= options.maxGemm;
       n *= 2) {
    amsp_gemm gemm = {};
    gemm.dtype = dtype;
    gemm.m = gemm.n = gemm.k = gemm.lda = gemm.ldb = gemm.ldc = n;
    gemm.name = "profile";
    int64_t bytes = n * n * (dtype == AMSP_F64 ? 8 : 4);
    const Body body = [&gemm, bytes](amsp_rank *rank, std::byte *arena) {
      amsp_gemm_run(rank, &gemm, arena, arena + bytes, arena + 2 * bytes);
    };
    Expected<double> seconds = time(body);
    if (!seconds)
      return seconds.takeError();
    int64_t operations = 2 * n * n * n;
    rates.push_back({operations, operations / *seconds});
  }
  return Error::success();
}

/// c = a + s * b over arrays as large as the largest buffer.
Error Measurement::measureMemory(Profile &profile) {
  int64_t count = options.maxBytes / 4;
  const Body body = [count](amsp_rank *, std::byte *arena) {
    auto *a = reinterpret_cast<float *>(arena);
    float *b = a + count, *c = b + count;
    for (int64_t i = 0; i < count; ++i)
      c[i] = a[i] + 1.5f * b[i];
  };
  Expected<double> seconds = time(body);
  if (!seconds)
    return seconds.takeError();
  profile.memoryBandwidth = 3 * 4.0 * count / *seconds;
  return Error::success();
}

Expected<Profile> Measurement::run() {
  int64_t bytes = arenaBytes();
  const Body clear = [bytes](amsp_rank *, std::byte *arena) {
    std::memset(arena, 0, bytes);
  };
  std::vector<double> unused;
  if (Error error = runOnce(clear, 1, unused))
    return std::move(error);
  Profile profile;
  if (Error error = measureCollectives(profile))
    return std::move(error);
  if (Error error = measureTensors(profile))
    return std::move(error);
  if (Error error = measureGemm(AMSP_F32, profile.f32))
    return std::move(error);
  if (Error error = measureGemm(AMSP_F64, profile.f64))
    return std::move(error);
  if (Error error = measureMemory(profile))
    return std::move(error);
  return profile;
}
