//===- Element.h - Elements of buffers as numbers ---------------*- C++ -*-===//

#ifndef AMSP_RUN_ELEMENT_H
#define AMSP_RUN_ELEMENT_H

#include "amsp-c/Step.h"

namespace amsp::run {

bool isFloat(amsp_dtype dtype);

/// The element at `data`; integers beyond 2^53 are rounded.
double readElement(amsp_dtype dtype, const char *data);

} // namespace amsp::run

#endif // AMSP_RUN_ELEMENT_H
