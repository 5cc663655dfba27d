//===- Units.h - Parts of a model that share a strategy ---------*- C++ -*-===//

#ifndef AMSP_PLACEMENT_UNITS_H
#define AMSP_PLACEMENT_UNITS_H

#include "mlir/IR/Value.h"
#include <string>

namespace amsp {

/// The unit of a parameter, from the path in its location's name: the path up
/// to its first number (`params['h'][3]['mlp']['w']` is in unit `h.3`), which
/// is a layer; without a number, `embeddings` if rows of it are looked up, else
/// `rest`. A parameter without a name is a unit of its own, `arg3`.
std::string getUnitName(mlir::BlockArgument parameter);

} // namespace amsp

#endif // AMSP_PLACEMENT_UNITS_H
