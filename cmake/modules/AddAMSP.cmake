# Wrappers that keep the CMakeLists.txt of a library or dialect to a few lines.

if(AMSP_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

# Options of everything that includes LLVM's or MLIR's headers.
add_library(AMSPCompilerOptions INTERFACE)
target_include_directories(AMSPCompilerOptions INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_include_directories(AMSPCompilerOptions SYSTEM INTERFACE
  ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_options(AMSPCompilerOptions INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti -fno-exceptions>
  $<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra
    -Wno-unused-parameter -Werror=return-type>>)
install(TARGETS AMSPCompilerOptions EXPORT AMSPTargets)
separate_arguments(AMSP_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(AMSPCompilerOptions INTERFACE ${AMSP_LLVM_DEFINITIONS})

# One precompiled header of MLIR's core serves every library: parsing it is
# most of what a translation unit costs.
file(WRITE ${PROJECT_BINARY_DIR}/pch/pch.cpp "")
add_library(AMSPPrecompiled OBJECT ${PROJECT_BINARY_DIR}/pch/pch.cpp)
target_link_libraries(AMSPPrecompiled PUBLIC AMSPCompilerOptions)
target_precompile_headers(AMSPPrecompiled PRIVATE
  ${PROJECT_SOURCE_DIR}/cmake/modules/AMSPPrecompiled.h)

# add_amsp_library(Name source... [DEPENDS tablegen-target...] [LINK_LIBS lib...])
# A static library of the compiler. MLIR and LLVM come from their shared
# libraries, linked once by each tool.
function(add_amsp_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC AMSPCompilerOptions ${ARG_LINK_LIBS})
  target_precompile_headers(${name} REUSE_FROM AMSPPrecompiled)
  if(NOT name STREQUAL AMSPStatistics)
    target_link_libraries(${name} PUBLIC AMSPStatistics)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  # Generated headers of every dialect may be included transitively.
  add_dependencies(${name} amsp-headers)
  set_property(GLOBAL APPEND PROPERTY AMSP_LIBRARIES ${name})
  install(TARGETS ${name} EXPORT AMSPTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

function(add_amsp_dialect_library name)
  add_amsp_library(${name} ${ARGN})
endfunction()

# add_amsp_tool(name source... [LINK_LIBS lib...])
function(add_amsp_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE AMSPCompilerOptions ${ARG_LINK_LIBS} MLIR LLVM)
  # Compiled as the precompiled header is: -fPIC, not -fPIE.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  target_precompile_headers(${name} REUSE_FROM AMSPPrecompiled)
  add_dependencies(${name} amsp-headers)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# add_amsp_tablegen(File.td output generator-option... ): one generated file.
macro(add_amsp_tablegen td output)
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${output} ${ARGN})
endmacro()

# add_amsp_passes(Name): Passes.h.inc of the directory's Passes.td. Its statistics
# are amsp::PassStatistic, as MLIR's count nothing in a packaged LLVM.
macro(add_amsp_passes name)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.tablegen -gen-pass-decls -name ${name})
  set(amsp_passes ${CMAKE_CURRENT_BINARY_DIR}/Passes.h.inc)
  set(amsp_script ${PROJECT_SOURCE_DIR}/cmake/modules/CountStatistics.cmake)
  add_custom_command(OUTPUT ${amsp_passes}
    COMMAND ${CMAKE_COMMAND} -DIN=${CMAKE_CURRENT_BINARY_DIR}/Passes.tablegen
      -DOUT=${amsp_passes} -P ${amsp_script}
    DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/Passes.tablegen ${amsp_script})
  list(APPEND TABLEGEN_OUTPUT ${amsp_passes})
endmacro()

# add_amsp_sharded_ops(variable Source.cpp count)
# Compiles one source file COUNT times, each time with the definitions of one
# shard of the ops (-op-shard-count): a dialect of 100 ops in one translation
# unit takes minutes. The files are listed in the variable.
function(add_amsp_sharded_ops variable source count)
  get_filename_component(stem ${source} NAME_WE)
  set(files)
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${stem}.${index}.cpp)
    file(GENERATE OUTPUT ${file} CONTENT
      "#define GET_OP_DEFS_${index}\n#include \"${CMAKE_CURRENT_SOURCE_DIR}/${source}\"\n")
    list(APPEND files ${file})
  endforeach()
  set(${variable} ${files} PARENT_SCOPE)
endfunction()
