//===- Executor.cpp - Executor files --------------------------------------===//

#include "amsp/Planner/Executor.h"
#include "amsp/Support/YamlFile.h"

using namespace llvm;
using namespace amsp;

LLVM_YAML_IS_SEQUENCE_VECTOR(amsp::ExecutorRule)
LLVM_YAML_IS_FLOW_SEQUENCE_VECTOR(amsp::ExecutorRule::When)

namespace {
/// A number of bytes or a share, which is not negative.
struct Amount {
  static constexpr double least = 0, most = 1e15;
  static constexpr const char *error = "expected a number from 0 to 1e15";
};
/// `os/p`
struct Group {
  State fine = State::None, coarse = State::None;
};
} // namespace

static std::optional<State> symbolizeState(StringRef text) {
  return StringSwitch<std::optional<State>>(text)
      .Case("p", State::Parameters)
      .Case("g", State::Gradients)
      .Case("os", State::OptimizerStates)
      .Case("all", State::All)
      .Default(std::nullopt);
}

namespace llvm::yaml {
template <> struct ScalarTraits<Group> {
  static void output(const Group &, void *, raw_ostream &) {}
  static StringRef input(StringRef text, void *, Group &group) {
    auto [fine, coarse] = text.split('/');
    auto first = symbolizeState(fine);
    auto second = text.contains('/') ? symbolizeState(coarse) : State::None;
    if (!first || !second || *second >= *first)
      return "a group is p, g, os or all, or a quotient of two of them such as "
             "os/p, the larger one first";
    group = {*first, *second};
    return "";
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct ScalarEnumerationTraits<ExecutorRule::Moves> {
  static void enumeration(IO &io, ExecutorRule::Moves &value) {
    io.enumCase(value, "parameters", ExecutorRule::Moves::Parameters);
    io.enumCase(value, "gradients", ExecutorRule::Moves::Gradients);
  }
};

template <> struct ScalarEnumerationTraits<TransferKind> {
  static void enumeration(IO &io, TransferKind &value) {
    for (TransferKind kind :
         {TransferKind::AllGather, TransferKind::ReduceScatter,
          TransferKind::AllReduce, TransferKind::Broadcast,
          TransferKind::AllToAll})
      io.enumCase(value, stringifyTransferKind(kind).data(), kind);
  }
};

template <> struct ScalarEnumerationTraits<ExecutorRule::When> {
  static void enumeration(IO &io, ExecutorRule::When &value) {
    io.enumCase(value, "forward", ExecutorRule::When::Forward);
    io.enumCase(value, "backward", ExecutorRule::When::Backward);
    io.enumCase(value, "last_backward", ExecutorRule::When::LastBackward);
    io.enumCase(value, "early_backward", ExecutorRule::When::EarlyBackward);
    io.enumCase(value, "first_forward", ExecutorRule::When::FirstForward);
    io.enumCase(value, "update", ExecutorRule::When::Update);
  }
};

template <> struct ScalarEnumerationTraits<ExecutorRule::By> {
  static void enumeration(IO &io, ExecutorRule::By &value) {
    io.enumCase(value, "tensor", ExecutorRule::By::Tensor);
    io.enumCase(value, "module", ExecutorRule::By::Module);
    io.enumCase(value, "layer", ExecutorRule::By::Layer);
    io.enumCase(value, "model", ExecutorRule::By::Model);
  }
};

static std::string validateRule(const ExecutorRule &rule) {
  using When = ExecutorRule::When;
  bool isOfGradients = rule.moves == ExecutorRule::Moves::Gradients;
  for (When when : rule.when) {
    bool isBackward = when == When::Backward || when == When::LastBackward ||
                      when == When::EarlyBackward;
    bool isOfEither = when == When::Backward;
    if (!isOfEither && isBackward != isOfGradients)
      return "gradients are moved in backward, last_backward or "
             "early_backward, parameters in forward, backward, first_forward "
             "or update";
  }
  if (rule.when.empty())
    return "'when' is empty";
  bool standsAlone = llvm::is_contained(rule.when, When::FirstForward) ||
                     llvm::is_contained(rule.when, When::Update);
  if (standsAlone && rule.when.size() > 1)
    return "first_forward and update stand alone in 'when'";
  if (rule.bucket && !isOfGradients)
    return "only gradients have a bucket";
  return "";
}

template <> struct MappingTraits<ExecutorRule> {
  static void mapping(IO &io, ExecutorRule &rule) {
    io.mapRequired("name", rule.name);
    io.mapRequired("moves", rule.moves);
    io.mapRequired("kind", rule.kind);
    Group group;
    io.mapRequired("group", group);
    rule.fine = group.fine;
    rule.coarse = group.coarse;
    io.mapRequired("when", rule.when);
    io.mapOptional("by", rule.by);
    mapOptionalMeasure<Amount>(io, "bucket", rule.bucket);
    io.mapOptional("overlap", rule.overlap);
    io.mapOptional("ahead", rule.ahead);
    io.mapOptional("channel", rule.channel);
    if (rule.channel.empty())
      rule.channel =
          rule.moves == ExecutorRule::Moves::Parameters ? "gather" : "reduce";
  }
  static std::string validate(IO &, ExecutorRule &rule) {
    if (rule.ahead < 0 || rule.ahead > 1000)
      return "'ahead' is a number from 0 to 1000";
    return validateRule(rule);
  }
};

template <> struct MappingTraits<Executor> {
  static void mapping(IO &io, Executor &executor) {
    io.mapOptional("name", executor.name);
    mapOptionalMeasure<Amount>(io, "parameter_bytes", executor.parameterBytes);
    mapOptionalMeasure<Amount>(io, "gradient_bytes", executor.gradientBytes);
    mapOptionalMeasure<Amount>(io, "state_bytes", executor.stateBytes);
    mapOptionalMeasure<Amount>(io, "update_bytes", executor.updateBytes);
    mapOptionalMeasure<Amount>(io, "recompute", executor.recompute);
    io.mapRequired("collectives", executor.rules);
  }
};
} // namespace llvm::yaml

Expected<Executor> amsp::parseExecutor(StringRef content, StringRef name) {
  return parseYaml<Executor>(content, name, "executor");
}
