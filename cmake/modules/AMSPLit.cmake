# Suites of lit tests. lit comes with Debian's llvm-<version>-tools, as do
# FileCheck, not and split-file; or from a Python environment.

find_program(AMSP_LIT NAMES lit llvm-lit
  HINTS ${LLVM_TOOLS_BINARY_DIR} ${PROJECT_SOURCE_DIR}/.venv/bin)

# add_amsp_lit_suite(target name [DEPENDS target...])
# Runs the tests below the current folder. It holds lit.cfg.py and
# lit.site.cfg.py.in.
function(add_amsp_lit_suite target)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  configure_lit_site_cfg(
    ${CMAKE_CURRENT_SOURCE_DIR}/lit.site.cfg.py.in
    ${CMAKE_CURRENT_BINARY_DIR}/lit.site.cfg.py
    MAIN_CONFIG ${CMAKE_CURRENT_SOURCE_DIR}/lit.cfg.py)
  if(NOT AMSP_LIT)
    message(STATUS "lit not found: no target ${target}")
    return()
  endif()
  add_custom_target(${target}
    COMMAND ${AMSP_LIT} -sv ${CMAKE_CURRENT_BINARY_DIR}
    DEPENDS ${ARG_DEPENDS}
    USES_TERMINAL)
  add_test(NAME ${target} COMMAND ${AMSP_LIT} -sv ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
