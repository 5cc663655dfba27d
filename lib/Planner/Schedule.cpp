//===- Schedule.cpp - Streams of a rank, to be simulated ------------------===//

#include "amsp/Planner/Schedule.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace amsp;

unsigned Schedule::addBlock() {
  blocks.emplace_back();
  return blocks.size() - 1;
}

unsigned Schedule::addTransfer(ScheduledTransfer transfer) {
  if (transfer.id < 0)
    transfer.id = static_cast<int64_t>(transfers.size());
  transfers.push_back(std::move(transfer));
  return transfers.size() - 1;
}

unsigned Schedule::addChannel(std::string name) {
  channels.push_back(std::move(name));
  return channels.size() - 1;
}

unsigned Schedule::addLabel(StringRef label) {
  auto found = llvm::find(labels, label);
  if (found != labels.end())
    return std::distance(labels.begin(), found);
  labels.push_back(label.str());
  return labels.size() - 1;
}

void Schedule::compute(unsigned block, double seconds, unsigned label) {
  if (seconds <= 0)
    return;
  ActionBlock &actions = blocks[block];
  if (!actions.empty() && actions.back().kind == Action::Kind::Compute &&
      actions.back().label == label) {
    actions.back().seconds += seconds;
    return;
  }
  Action &action = actions.emplace_back();
  action.seconds = seconds;
  action.label = label;
}

void Schedule::start(unsigned block, unsigned transfer, unsigned slot) {
  Action &action = blocks[block].emplace_back();
  action.kind = Action::Kind::Start;
  action.transfer = transfer;
  action.slot = slot;
}

void Schedule::await(unsigned block, unsigned slot) {
  Action &action = blocks[block].emplace_back();
  action.kind = Action::Kind::Await;
  action.slot = slot;
}

void Schedule::move(unsigned block, unsigned from, unsigned slot) {
  if (from == slot)
    return;
  Action &action = blocks[block].emplace_back();
  action.kind = Action::Kind::Move;
  action.from = from;
  action.slot = slot;
}

void Schedule::repeat(unsigned block, unsigned body, int64_t trips) {
  if (trips <= 0 || blocks[body].empty())
    return;
  Action &action = blocks[block].emplace_back();
  action.kind = Action::Kind::Repeat;
  action.block = body;
  action.trips = trips;
}
