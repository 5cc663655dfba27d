//===- count-collectives.cpp - A tool outside the project's tree ----------===//
//
// Prints how many collectives a program on standard input has.
//
//===----------------------------------------------------------------------===//

#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

int main() {
  mlir::MLIRContext context;
  context.loadDialect<amsp::AMSPDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>("-", &context);
  if (!module)
    return 1;
  int64_t count = 0;
  module->walk([&](mlir::Operation *op) {
    count +=
        mlir::isa<amsp::AllGatherOp, amsp::ReduceScatterOp, amsp::AllReduceOp>(
            op);
  });
  llvm::outs() << count << " collectives\n";
  return 0;
}
