# Headers, and the CMake package that find_package(amsp) finds. Libraries and
# tools name their own rules where they are made.
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/amsp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/amsp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.inc"
  PATTERN "CMakeFiles" EXCLUDE)

set(AMSP_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/amsp)
install(EXPORT AMSPTargets FILE amspTargets.cmake NAMESPACE amsp::
  DESTINATION ${AMSP_PACKAGE_DIR})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/amspConfig.cmake.in
  ${PROJECT_BINARY_DIR}/amspConfig.cmake
  INSTALL_DESTINATION ${AMSP_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/amspConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/amspConfig.cmake
  ${PROJECT_BINARY_DIR}/amspConfigVersion.cmake
  DESTINATION ${AMSP_PACKAGE_DIR})
