# The environment's lit first: it is the pinned one.
find_program(AMSP_LIT lit HINTS ${PROJECT_SOURCE_DIR}/.venv/bin ${LLVM_TOOLS_BINARY_DIR})
find_program(AMSP_PYTHON python3 HINTS ${PROJECT_SOURCE_DIR}/.venv/bin NO_CACHE)

# add_amsp_lit_suite(target [DEPENDS target...])
# A target that runs the lit tests of this directory. Directories of results
# mirror those of the tests in the build.
function(add_amsp_lit_suite target)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  configure_file(${CMAKE_CURRENT_SOURCE_DIR}/lit.site.cfg.py.in
    ${CMAKE_CURRENT_BINARY_DIR}/lit.site.cfg.py @ONLY)
  add_custom_target(${target}
    COMMAND ${AMSP_LIT} -sv ${CMAKE_CURRENT_BINARY_DIR}
    DEPENDS ${ARG_DEPENDS} USES_TERMINAL)
endfunction()
