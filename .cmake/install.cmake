# cmake --install build --prefix P: the program, the library with its public headers for
# find_package(Vitascope), and the part of LibTorch that they need, so that P can be moved anywhere.
#   P/bin/vitascope
#   P/lib/libvitascope.so, libvitascope_cuda.so
#   P/lib/vitascope/            LibTorch in the layout of its wheel, whose RPATHs rely on it
#   P/lib/cmake/Vitascope/      Vitascope::vitascope
#   P/include/vitascope/        so that "vit/classifier.h" is found
#   P/share/vitascope/labels/   class names of ImageNet
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
get_filename_component(torch_folder ${VITASCOPE_TORCH_ROOT} NAME)

# `lib` even where the distribution says lib64: the paths below and inside LibTorch count on it.
set(libraries $ORIGIN/vitascope/${torch_folder}/lib)
set_target_properties(vitascope_library PROPERTIES INSTALL_RPATH "$ORIGIN;${libraries}")
string(REPLACE "$ORIGIN" "$ORIGIN/../lib" program_rpath "$ORIGIN;${libraries}")
set_target_properties(vitascope PROPERTIES INSTALL_RPATH "${program_rpath}")
install(TARGETS vitascope RUNTIME DESTINATION bin)
install(TARGETS vitascope_library LIBRARY DESTINATION lib)
if(TARGET vitascope_cuda)
  # LibTorch's CUDA part is not copied (3 GB with NVIDIA's wheels): it is used where it was built with.
  set_target_properties(vitascope_cuda PROPERTIES
    INSTALL_RPATH "$ORIGIN;${libraries};${VITASCOPE_TORCH_ROOT}/lib")
  install(TARGETS vitascope_cuda LIBRARY DESTINATION lib)
endif()

foreach(floor kernels vit datasets)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/${floor} DESTINATION include/vitascope
          FILES_MATCHING PATTERN *.h)
endforeach()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/build/share/labels DESTINATION share/vitascope
        OPTIONAL FILES_MATCHING PATTERN *.txt)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION share/vitascope)

# What libvitascope.so loads out of LibTorch's environment, found as the loader would find it.
set(VITASCOPE_INSTALL_LIBRARY $<TARGET_FILE:vitascope_library>)
configure_file(${CMAKE_SOURCE_DIR}/.cmake/install_torch.cmake.in
               ${CMAKE_BINARY_DIR}/install_torch.cmake.in @ONLY)
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/install_torch.cmake
     INPUT ${CMAKE_BINARY_DIR}/install_torch.cmake.in)
install(SCRIPT ${CMAKE_BINARY_DIR}/install_torch.cmake)

configure_package_config_file(${CMAKE_SOURCE_DIR}/.cmake/VitascopeConfig.cmake.in
  ${CMAKE_BINARY_DIR}/VitascopeConfig.cmake INSTALL_DESTINATION lib/cmake/Vitascope)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/VitascopeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/VitascopeConfig.cmake
              ${CMAKE_BINARY_DIR}/VitascopeConfigVersion.cmake
        DESTINATION lib/cmake/Vitascope)
