//===- Collectives.h - The algorithms of collectives ------------*- C++ -*-===//

#ifndef AMSP_RUNTIME_HOST_COLLECTIVES_H
#define AMSP_RUNTIME_HOST_COLLECTIVES_H

#include "Transport.h"
#include "amsp-c/Step.h"
#include "amsp/Runtime/Group.h"

#include <string>

namespace amsp::runtime {

/// One run of a collective by one member of its group.
struct CollectiveRun {
  const amsp_collective &collective;
  const Group &group;
  const std::vector<const void *> &sources;
  const std::vector<void *> &destinations;
  int64_t number; // how many collectives this channel ran before
};

/// Empty if the runtime can run the collective in a world of `world` ranks,
/// else what is wrong with its description.
std::string checkCollective(const amsp_collective &collective, int64_t world);

/// Empty if the buffers of a checked collective lie as its description says:
/// those of a contiguous one behind each other. Else what is wrong.
std::string checkAddresses(const amsp_collective &collective,
                           const void *const *sources,
                           void *const *destinations);

/// Runs a checked collective: posts, receives, combines, and returns when the
/// destinations are complete and the sources may be written again.
void runCollective(Endpoint &endpoint, const CollectiveRun &run);

/// The collective in a group of one: a copy.
void copySourcesToDestinations(const CollectiveRun &run);

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_HOST_COLLECTIVES_H
