//===- ModelConfig.h - A language model by its numbers ----------*- C++ -*-===//
//
// For the simulation of other systems, whose programs there are not: the parts
// of a transformer with their parameters and times, from a configuration in the
// style of Hugging Face.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_PLANNER_MODELCONFIG_H
#define AMSP_PLANNER_MODELCONFIG_H

#include "amsp/Placement/Cluster.h"

namespace amsp {

struct ModelConfig {
  int64_t hidden = 0, heads = 0, keyValueHeads = 0, layers = 0;
  int64_t inner = 0; // width of the MLP
  int64_t vocabulary = 0;
  int64_t positions = 0; // learned ones; 0: none
  bool isGated = false;  // MLP of three matrices
  bool isTied = false;   // head and embedding are one matrix

  int64_t getHeadWidth() const { return hidden / heads; }
};

/// Reads the content of a `config.json` of the types llama, gpt2 and mpt; other
/// keys than those used are ignored. `name` is for errors.
llvm::Expected<ModelConfig> parseModelConfig(llvm::StringRef content,
                                             llvm::StringRef name);

/// A weight with what computes with it, in the order of the forward pass.
struct ModelPart {
  std::string name;
  unsigned layer = 0;  // embedding and head are layers of their own
  unsigned module = 0; // attention and MLP are modules
  double elements = 0;
  /// Seconds of a microbatch.
  double forward = 0, backward = 0;
  /// Bytes of a microbatch that backward reads.
  double saved = 0;
};

/// The parts of a model for microbatches of `sequences` sequences of `length`
/// tokens in bf16 on a device that gives a peak rate for it.
///
/// A matrix product takes its operations at the achieved rate, or its bytes at
/// the memory's bandwidth, and twice as many products run backward. Attention
/// is fused and causal: 2 s² h operations per sequence forward, 5 s² h
/// backward, at the device's rates for it. What is elementwise passes through
/// memory once for each op (norms, residuals, rotary embedding, activation),
/// the logits in f32.
std::vector<ModelPart> describeModel(const ModelConfig &config,
                                     const Device &device, int64_t sequences,
                                     int64_t length);

} // namespace amsp

#endif // AMSP_PLANNER_MODELCONFIG_H
