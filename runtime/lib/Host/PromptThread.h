//===- PromptThread.h - Threads that run as soon as they wake ---*- C++ -*-===//

#ifndef AMSP_RUNTIME_HOST_PROMPTTHREAD_H
#define AMSP_RUNTIME_HOST_PROMPTTHREAD_H

namespace amsp::runtime {

/// Asks that the calling thread, which sleeps most of the time, takes a core
/// from threads that compute as soon as it wakes: what it does is short, and
/// links stand still or a rank waits until it is done. Under a realtime policy
/// it gets the next higher priority, else the shortest slice of time, which
/// needs no privilege. Where the system cannot do so nothing changes.
void becomePrompt();

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_HOST_PROMPTTHREAD_H
