# Declarations of passes, IN, with statistics that count in every build of LLVM.
file(READ ${IN} text)
string(REPLACE "::mlir::Pass::Statistic " "::amsp::PassStatistic " text "${text}")
file(WRITE ${OUT} "${text}")
