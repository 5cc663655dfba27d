//===- ModelConfig.cpp - A language model by its numbers ------------------===//

#include "amsp/Planner/ModelConfig.h"
#include "amsp/Planner/OpCosts.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace amsp;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Reads positive numbers of a configuration; keeps the first error.
class ConfigReader {
public:
  ConfigReader(const json::Object &object, StringRef file)
      : object(object), file(file) {}

  int64_t get(StringRef key, std::optional<int64_t> missing = {}) {
    const json::Value *value = object.get(key);
    if ((!value || value->getAsNull()) && missing)
      return *missing;
    std::optional<int64_t> number =
        value ? value->getAsInteger() : std::nullopt;
    if (number && *number > 0 && *number <= kMost)
      return *number;
    fail("'" + key + "' is no number from 1 to " + Twine(kMost));
    return 1;
  }
  bool getFlag(StringRef key, bool missing) {
    return object.getBoolean(key).value_or(missing);
  }
  void fail(const Twine &text) {
    if (message.empty())
      message = (file + ": " + text).str();
  }
  const std::string &getError() const { return message; }

private:
  static constexpr int64_t kMost = 1 << 30;
  const json::Object &object;
  StringRef file;
  std::string message;
};
} // namespace

static void readLlama(ConfigReader &reader, ModelConfig &config) {
  config.hidden = reader.get("hidden_size");
  config.heads = reader.get("num_attention_heads");
  config.keyValueHeads = reader.get("num_key_value_heads", config.heads);
  config.layers = reader.get("num_hidden_layers");
  config.inner = reader.get("intermediate_size");
  config.isGated = true;
  config.isTied = reader.getFlag("tie_word_embeddings", false);
}

static void readGPT2(ConfigReader &reader, ModelConfig &config) {
  config.hidden = reader.get("n_embd");
  config.heads = config.keyValueHeads = reader.get("n_head");
  config.layers = reader.get("n_layer");
  config.inner = reader.get("n_inner", 4 * config.hidden);
  config.positions = reader.get("n_positions");
  config.isTied = reader.getFlag("tie_word_embeddings", true);
}

static void readMPT(ConfigReader &reader, ModelConfig &config) {
  config.hidden = reader.get("d_model");
  config.heads = config.keyValueHeads = reader.get("n_heads");
  config.layers = reader.get("n_layers");
  config.inner = reader.get("expansion_ratio", 4) * config.hidden;
  config.positions = reader.get("max_seq_len");
  config.isTied = reader.getFlag("tie_word_embeddings", true);
}

Expected<ModelConfig> amsp::parseModelConfig(StringRef content,
                                             StringRef name) {
  Expected<json::Value> value = json::parse(content);
  if (!value)
    return createStringError(name + ": " + toString(value.takeError()));
  const json::Object *object = value->getAsObject();
  if (!object)
    return createStringError(name + ": expected a JSON object");
  StringRef type = object->getString("model_type").value_or("");
  ConfigReader reader(*object, name);
  ModelConfig config;
  if (type == "llama")
    readLlama(reader, config);
  else if (type == "gpt2")
    readGPT2(reader, config);
  else if (type == "mpt")
    readMPT(reader, config);
  else
    reader.fail("model_type is '" + type + "', expected llama, gpt2 or mpt");
  config.vocabulary = reader.get("vocab_size");
  if (reader.getError().empty() && config.hidden % config.heads != 0)
    reader.fail("the hidden size is no multiple of the number of heads");
  if (!reader.getError().empty())
    return createStringError(reader.getError());
  return config;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

namespace {
class ModelDescriber {
public:
  ModelDescriber(const ModelConfig &config, const Device &device,
                 int64_t sequences, int64_t length)
      : config(config), device(device), sequences(toDouble(sequences)),
        length(toDouble(length)), tokens(toDouble(sequences * length)),
        hidden(toDouble(config.hidden)), inner(toDouble(config.inner)) {}

  std::vector<ModelPart> describe();

private:
  static double toDouble(int64_t number) { return static_cast<double>(number); }
  ModelPart &add(const Twine &name, double elements);
  /// A product of the tokens with a matrix, and those that give its gradients.
  void addProduct(ModelPart &part, double rows, double columns);
  void addAttention(ModelPart &part);
  /// Elements per token that are read and written in bf16.
  void addElementwise(ModelPart &part, double forward, double backward);
  /// Elements per token that are kept for backward, in bf16.
  void save(ModelPart &part, double elements) {
    part.saved += 2 * tokens * elements;
  }
  double getProductSeconds(double rows, double columns) const;
  void describeAttention(int64_t number);
  void describeMLP(int64_t number);
  void describeEmbedding();
  void describeHead();

  const ModelConfig &config;
  const Device &device;
  double sequences, length, tokens, hidden, inner;
  unsigned layer = 0, module = 0;
  std::vector<ModelPart> parts;
};
} // namespace

ModelPart &ModelDescriber::add(const Twine &name, double elements) {
  ModelPart &part = parts.emplace_back();
  part.name = name.str();
  part.layer = layer;
  part.module = module;
  part.elements = elements;
  return part;
}

double ModelDescriber::getProductSeconds(double rows, double columns) const {
  double operations = 2 * tokens * rows * columns;
  double bytes = 2 * (tokens * rows + rows * columns + tokens * columns);
  double rate = *device.peakBF16 * getAchievedShare(device, operations);
  return std::max(operations / rate, bytes / *device.memoryBandwidth);
}

void ModelDescriber::addProduct(ModelPart &part, double rows, double columns) {
  double seconds = getProductSeconds(rows, columns);
  part.forward += seconds;
  part.backward += 2 * seconds;
}

void ModelDescriber::addElementwise(ModelPart &part, double forward,
                                    double backward) {
  double seconds = 2 * tokens / *device.memoryBandwidth;
  part.forward += forward * seconds;
  part.backward += backward * seconds;
}

void ModelDescriber::addAttention(ModelPart &part) {
  double operations = 2 * sequences * length * length * hidden;
  part.forward +=
      operations / (*device.peakBF16 * device.attentionForward.value_or(1));
  part.backward += 2.5 * operations /
                   (*device.peakBF16 * device.attentionBackward.value_or(1));
}

void ModelDescriber::describeAttention(int64_t number) {
  double narrow =
      toDouble(config.keyValueHeads) * toDouble(config.getHeadWidth());
  std::string name = formatv("layer {0} ", number);
  ModelPart &query = add(name + "q", hidden * hidden + hidden);
  addProduct(query, hidden, hidden);
  // A norm, which reads its input again backward.
  addElementwise(query, 2 * hidden, 3 * hidden);
  save(query, 2 * hidden); // input and output of the norm
  addProduct(add(name + "k", hidden * narrow), hidden, narrow);
  ModelPart &value = add(name + "v", hidden * narrow);
  addProduct(value, hidden, narrow);
  // The rotary embedding of queries and keys.
  if (config.positions == 0)
    addElementwise(value, 2 * (hidden + narrow), 2 * (hidden + narrow));
  addAttention(value);
  save(value, 2 * hidden + 2 * narrow); // queries, keys, values, result
  ModelPart &out = add(name + "out", hidden * hidden);
  addProduct(out, hidden, hidden);
  addElementwise(out, 3 * hidden, 3 * hidden); // residual
}

void ModelDescriber::describeMLP(int64_t number) {
  std::string name = formatv("layer {0} ", number);
  ModelPart &up = add(name + "up", hidden * inner + hidden);
  addProduct(up, hidden, inner);
  addElementwise(up, 2 * hidden, 3 * hidden); // norm
  save(up, 2 * hidden);
  if (config.isGated)
    addProduct(add(name + "gate", hidden * inner), hidden, inner);
  ModelPart &down = add(name + "down", hidden * inner);
  addProduct(down, inner, hidden);
  // The activation, with its factor if gated, and the residual.
  double gated = config.isGated ? 1 : 0;
  addElementwise(down, (2 + 2 * gated) * inner + 3 * hidden,
                 (3 + 2 * gated) * inner + 3 * hidden);
  save(down, (2 + gated) * inner); // operands and result of the activation
}

void ModelDescriber::describeEmbedding() {
  double rows = toDouble(config.vocabulary) + toDouble(config.positions);
  ModelPart &part = add("embedding", rows * hidden);
  addElementwise(part, 2 * hidden, 3 * hidden);
}

void ModelDescriber::describeHead() {
  auto vocabulary = toDouble(config.vocabulary);
  ModelPart &part =
      add("head", config.isTied ? hidden : vocabulary * hidden + hidden);
  addProduct(part, hidden, vocabulary);
  // The logits are cast, reduced twice and read once more; backward, they are
  // read, made gradients and cast back. f32 counts as two of bf16.
  addElementwise(part, 7 * vocabulary, 7 * vocabulary);
  save(part, 2 * hidden + 5 * vocabulary); // logits, also in f32; gradient
}

std::vector<ModelPart> ModelDescriber::describe() {
  describeEmbedding();
  for (int64_t number = 0; number < config.layers; ++number) {
    ++layer;
    ++module;
    describeAttention(number);
    ++module;
    describeMLP(number);
  }
  ++layer;
  ++module;
  describeHead();
  return std::move(parts);
}

std::vector<ModelPart> amsp::describeModel(const ModelConfig &config,
                                           const Device &device,
                                           int64_t sequences, int64_t length) {
  return ModelDescriber(config, device, sequences, length).describe();
}
