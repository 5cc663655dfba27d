//===- Error.cpp - How a run fails ----------------------------------------===//

#include "amsp/Runtime/Error.h"

using namespace amsp::runtime;

std::string RunError::str() const {
  std::string text = "rank " + std::to_string(rank);
  if (!collective.empty()) {
    text += ", collective '" + collective + "'";
    if (collectiveId >= 0)
      text += " (id " + std::to_string(collectiveId) + ")";
  }
  if (step > 0)
    text += ", step " + std::to_string(step);
  return text + ": " + message;
}
