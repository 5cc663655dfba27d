# The reference in docs/reference, which mlir-tblgen writes from the .td files, and
# the tools' --help.
# It is committed, for reading without a build: the target amsp-doc renews it,
# and a test of check-amsp compares the two.
set(AMSP_REFERENCE_DIR ${PROJECT_BINARY_DIR}/docs/reference)
set(amsp_reference_pages)

# add_amsp_doc(page File.td generator-option...), the file below include/amsp
macro(add_amsp_doc page td)
  set(LLVM_TARGET_DEFINITIONS ${PROJECT_SOURCE_DIR}/include/amsp/${td})
  tablegen(MLIR docs/tablegen/${page}.md ${ARGN})
  list(APPEND amsp_reference_pages ${PROJECT_BINARY_DIR}/docs/tablegen/${page}.md)
endmacro()

file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/docs/tablegen ${AMSP_REFERENCE_DIR})
add_amsp_doc(amsp-dialect Dialect/AMSP/IR/AMSPOps.td -gen-dialect-doc -dialect=amsp)
add_amsp_doc(amsp-buffer-ops Dialect/AMSP/IR/AMSPBufferOps.td -gen-op-doc)
add_amsp_doc(stablehlo-dialect Dialect/StableHLO/IR/StableHLOOps.td
  -gen-dialect-doc -dialect=stablehlo)
add_amsp_doc(chlo-dialect Dialect/StableHLO/IR/CHLOOps.td -gen-dialect-doc -dialect=chlo)
add_amsp_doc(partition-passes Dialect/AMSP/Transforms/Passes.td -gen-pass-doc)
add_amsp_doc(stablehlo-passes Dialect/StableHLO/Transforms/Passes.td -gen-pass-doc)
add_amsp_doc(planning-passes Compile/Passes.td -gen-pass-doc)
add_amsp_doc(communication-passes Communication/Passes.td -gen-pass-doc)
add_amsp_doc(conversion-passes Conversion/Passes.td -gen-pass-doc)
add_amsp_doc(cpu-passes Target/CPU/Passes.td -gen-pass-doc)

find_package(Python3 REQUIRED COMPONENTS Interpreter)
foreach(tool amsp-compile amsp-plan amsp-profile amsp-run)
  set(page ${PROJECT_BINARY_DIR}/docs/tools/${tool}.md)
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/docs/tools
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/scripts/tool_page.py
      $<TARGET_FILE:${tool}> ${page}
    DEPENDS ${tool} ${PROJECT_SOURCE_DIR}/scripts/tool_page.py)
  list(APPEND amsp_reference_pages ${page})
endforeach()

# tablegen leaves lists of dependencies beside its outputs; the pages by
# themselves are compared with the committed ones.
add_custom_target(amsp-reference
  COMMAND ${CMAKE_COMMAND} -E copy_if_different ${amsp_reference_pages} ${AMSP_REFERENCE_DIR}
  DEPENDS ${amsp_reference_pages})
add_custom_target(amsp-doc
  COMMAND ${CMAKE_COMMAND} -E copy_if_different ${amsp_reference_pages}
    ${PROJECT_SOURCE_DIR}/docs/reference
  DEPENDS ${amsp_reference_pages})
