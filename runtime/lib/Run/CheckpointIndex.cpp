//===- CheckpointIndex.cpp - The index of a checkpoint --------------------===//

#include "CheckpointIndex.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace amsp;
using namespace amsp::run;
using namespace llvm;

static constexpr StringLiteral filePrefix = "state-g";
static constexpr StringLiteral fileSuffix = ".safetensors";
static constexpr int64_t formatVersion = 1;

std::string run::checkpointFileName(int64_t generation, size_t number,
                                    size_t count) {
  return formatv("{0}{1}-{2:5}-of-{3:5}{4}", filePrefix, generation, number,
                 count, fileSuffix);
}

bool run::isCheckpointFileName(StringRef name) {
  if (name.starts_with(filePrefix) && name.ends_with(fileSuffix))
    return true;
  // An index that a process was killed over.
  return name.consume_front(CheckpointIndex::fileName) &&
         name.starts_with(".") && name.ends_with(".tmp");
}

std::vector<std::string> CheckpointIndex::files() const {
  std::vector<std::string> names;
  for (const auto &[tensor, file] : fileOfTensor)
    names.push_back(file);
  llvm::sort(names);
  names.erase(llvm::unique(names), names.end());
  return names;
}

std::string CheckpointIndex::print() const {
  json::Object map;
  for (const auto &[tensor, file] : fileOfTensor)
    map[tensor] = file;
  json::Object metadata{
      {"format", checkpointFormat},  {"version", formatVersion},
      {"generation", generation},    {"steps", position.steps},
      {"batches", position.batches}, {"total_size", totalBytes}};
  json::Value index = json::Object{{"metadata", std::move(metadata)},
                                   {"weight_map", std::move(map)}};
  return formatv("{0:2}\n", index);
}

static bool parseIndex(const json::Value &from, CheckpointIndex &to,
                       json::Path path) {
  json::ObjectMapper object(from, path);
  if (!object || !object.map("weight_map", to.fileOfTensor))
    return false;
  const json::Value *metadata = from.getAsObject()->get("metadata");
  json::Path metadataPath = path.field("metadata");
  if (!metadata) {
    metadataPath.report("is missing");
    return false;
  }
  std::string format;
  int64_t version = 0;
  json::ObjectMapper fields(*metadata, metadataPath);
  if (!fields || !fields.map("format", format) ||
      !fields.map("version", version))
    return false;
  if (format != checkpointFormat || version != formatVersion) {
    metadataPath.report("expected format amsp-checkpoint, version 1");
    return false;
  }
  return fields.map("generation", to.generation) &&
         fields.map("steps", to.position.steps) &&
         fields.map("batches", to.position.batches) &&
         fields.map("total_size", to.totalBytes);
}

Expected<CheckpointIndex> CheckpointIndex::read(StringRef directory) {
  SmallString<128> path(directory);
  sys::path::append(path, fileName);
  auto text = MemoryBuffer::getFile(path);
  if (!text)
    return createStringError(text.getError(),
                             directory + ": is no checkpoint: " + fileName +
                                 ": " + text.getError().message());
  Expected<json::Value> parsed = json::parse((*text)->getBuffer());
  if (!parsed)
    return createStringError(path + ": " + toString(parsed.takeError()));
  CheckpointIndex index;
  json::Path::Root root("index");
  if (!parseIndex(*parsed, index, root))
    return createStringError(path + ": " + toString(root.getError()));
  return index;
}
