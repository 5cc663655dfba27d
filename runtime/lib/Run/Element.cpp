//===- Element.cpp - Elements of buffers as numbers -----------------------===//

#include "amsp/Run/Element.h"

#include "amsp/Runtime/DType.h"

#include "llvm/ADT/APFloat.h"

#include <cstring>

using namespace amsp;
using namespace amsp::run;
using namespace llvm;

bool run::isFloat(amsp_dtype dtype) { return dtype <= AMSP_F16; }

double run::readElement(amsp_dtype dtype, const char *data) {
  auto width = static_cast<unsigned>(runtime::bytesOf(dtype));
  uint64_t bits = 0;
  std::memcpy(&bits, data, width);
  APInt integer(width * 8, bits);
  if (!isFloat(dtype))
    return integer.roundToDouble(/*isSigned=*/dtype <= AMSP_I8);
  const fltSemantics &semantics = dtype == AMSP_F64    ? APFloat::IEEEdouble()
                                  : dtype == AMSP_F32  ? APFloat::IEEEsingle()
                                  : dtype == AMSP_BF16 ? APFloat::BFloat()
                                                       : APFloat::IEEEhalf();
  APFloat value(semantics, integer);
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}
