//===- HostConstants.cpp - Constant data of a compiled step ---------------===//

#include "HostConstants.h"
#include "amsp/Target/DataTypes.h"

using namespace mlir;
using namespace amsp;

HostConstants::HostConstants(ModuleOp module)
    : builder(OpBuilder::atBlockEnd(module.getBody())), loc(module.getLoc()),
      pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

FlatSymbolRefAttr HostConstants::addText(StringRef name, StringRef text) {
  std::string terminated = (text + Twine('\0')).str();
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), terminated.size());
  LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                         LLVM::Linkage::Private, name,
                         builder.getStringAttr(terminated));
  return FlatSymbolRefAttr::get(builder.getContext(), name);
}

FlatSymbolRefAttr HostConstants::addNumbers(const Twine &name,
                                            ArrayRef<int64_t> values) {
  if (values.empty())
    return {};
  auto type = LLVM::LLVMArrayType::get(builder.getI64Type(), values.size());
  std::string symbol = name.str();
  LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                         LLVM::Linkage::Private, symbol,
                         builder.getI64TensorAttr(values));
  return FlatSymbolRefAttr::get(builder.getContext(), symbol);
}

FlatSymbolRefAttr HostConstants::addStruct(StringRef name,
                                           ArrayRef<ConstantField> fields,
                                           bool isExported) {
  SmallVector<Type> types;
  for (const ConstantField &field : fields)
    types.push_back(field.type);
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  auto global = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                       isExported ? LLVM::Linkage::External
                                                  : LLVM::Linkage::Private,
                                       name, Attribute());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&global.getInitializerRegion());
  Value value = LLVM::PoisonOp::create(builder, loc, type);
  for (auto [index, field] : llvm::enumerate(fields)) {
    Value element;
    if (field.address)
      element = LLVM::AddressOfOp::create(builder, loc, pointer, field.address);
    else if (isa<LLVM::LLVMPointerType>(field.type))
      element = LLVM::ZeroOp::create(builder, loc, field.type);
    else
      element =
          LLVM::ConstantOp::create(builder, loc, field.type, field.number);
    value = LLVM::InsertValueOp::create(builder, loc, value, element,
                                        static_cast<int64_t>(index));
  }
  LLVM::ReturnOp::create(builder, loc, value);
  return FlatSymbolRefAttr::get(builder.getContext(), name);
}

FlatSymbolRefAttr HostConstants::addCollective(CollectiveInfoAttr info,
                                               Type elementType,
                                               bool contiguous) {
  std::string name = ("collective_" + Twine(info.getId())).str();
  SmallVector<int64_t> digits, operands;
  for (const Digit &digit : info.getGroup().getDigits())
    digits.append({digit.stride, digit.size});
  for (auto [rows, full, piece] :
       llvm::zip_equal(info.getRows(), info.getFull(), info.getPiece()))
    operands.append({rows, full, piece});
  bool isGather = info.getKind() == CollectiveKind::AllGather;
  int64_t numDigits = info.getGroup().getDigits().size();
  int64_t numOperands = info.getRows().size();
  return addStruct(
      name,
      {i32(info.getId()), i32(static_cast<int64_t>(info.getKind())),
       i32(static_cast<int64_t>(info.getReduction())),
       i32(*getDataType(elementType)),
       i32(isGather ? AMSP_CHANNEL_GATHER : AMSP_CHANNEL_REDUCE),
       i32(numDigits), i32(numOperands),
       address(addNumbers(name + "_digits", digits)),
       address(addNumbers(name + "_operands", operands)),
       address(addText(name + "_name", info.getName())), i32(contiguous)});
}

FlatSymbolRefAttr HostConstants::addGemm(const GemmShape &shape,
                                         Type elementType) {
  bool accumulate = shape.accumulate;
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto printList = [&](ArrayRef<int64_t> list) {
    stream << " [";
    llvm::interleaveComma(list, stream);
    stream << "]";
  };
  stream << "gemm " << elementType << " " << shape.m << "x" << shape.n << "x"
         << shape.k << (shape.transposeA ? " T" : " N")
         << (shape.transposeB ? "T" : "N") << (accumulate ? " accumulate" : "")
         << " ld " << shape.lda << " " << shape.ldb << " " << shape.ldc;
  if (!shape.batchSizes.empty()) {
    stream << " batch";
    printList(shape.batchSizes);
    printList(shape.batchStridesA);
    printList(shape.batchStridesB);
    printList(shape.batchStridesC);
  }
  auto [entry, isNew] = gemms.try_emplace(text);
  if (!isNew)
    return entry->second;
  std::string name = ("gemm_" + Twine(gemms.size() - 1)).str();
  entry->second = addStruct(
      name, {i32(*getDataType(elementType)), i32(shape.transposeA),
             i32(shape.transposeB), i32(accumulate), i64(shape.m), i64(shape.n),
             i64(shape.k), i64(shape.lda), i64(shape.ldb), i64(shape.ldc),
             i32(shape.batchSizes.size()),
             address(addNumbers(name + "_sizes", shape.batchSizes)),
             address(addNumbers(name + "_strides_a", shape.batchStridesA)),
             address(addNumbers(name + "_strides_b", shape.batchStridesB)),
             address(addNumbers(name + "_strides_c", shape.batchStridesC)),
             address(addText(name + "_name", text))});
  return entry->second;
}

void HostConstants::addStep(StringRef manifest, StringRef execute) {
  addStruct(AMSP_STEP_SYMBOL,
            {i32(AMSP_STEP_ABI_VERSION), address(addText("manifest", manifest)),
             address(FlatSymbolRefAttr::get(builder.getContext(), execute))},
            /*isExported=*/true);
}
