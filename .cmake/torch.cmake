# LibTorch as imported targets of our own. find_package(Torch) would demand a CUDA toolkit, and
# linking libtorch.so would pull in libtorch_cuda and two gigabytes of wheels.
#   torch::headers  include directories and the flags that its ABI needs
#   torch::cpu      libtorch_cpu and libc10
#   torch::cuda     libtorch_cuda and libc10_cuda, only where the wheel has them
#   torch::openmp   the OpenMP library that LibTorch itself runs on: a second one would have threads
#                   of its own
if(VITASCOPE_TORCH)
  set(torch_root ${VITASCOPE_TORCH})
else()
  file(GLOB found ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
  list(POP_BACK found torch_root)
endif()
if(NOT EXISTS "${torch_root}/lib/libtorch_cpu.so" OR NOT EXISTS "${torch_root}/include/ATen/ATen.h")
  message(FATAL_ERROR
    "LibTorch was not found in '${torch_root}'. Run app/setup.sh, which installs it into .venv, "
    "or name one that you have: -DVITASCOPE_TORCH=<...>/site-packages/torch "
    "(python3 -c 'import torch; print(torch.__path__[0])' prints it).")
endif()
get_filename_component(torch_root ${torch_root} ABSOLUTE)
set(VITASCOPE_TORCH_ROOT ${torch_root})
get_filename_component(VITASCOPE_SITE_PACKAGES ${torch_root} DIRECTORY)

file(READ ${torch_root}/version.py torch_version)
string(REGEX MATCH "__version__ = '([0-9.]+)" _ "${torch_version}")
set(VITASCOPE_TORCH_VERSION ${CMAKE_MATCH_1})
message(STATUS "LibTorch ${VITASCOPE_TORCH_VERSION} in ${torch_root}")

add_library(torch::headers INTERFACE IMPORTED GLOBAL)
target_include_directories(torch::headers SYSTEM INTERFACE
  ${torch_root}/include ${torch_root}/include/torch/csrc/api/include)
# The wheel's fmt is used header-only: its compiled symbols are hidden inside libtorch.
target_compile_definitions(torch::headers INTERFACE _GLIBCXX_USE_CXX11_ABI=1 FMT_HEADER_ONLY)

function(vitascope_import name file)
  add_library(${name} SHARED IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${torch_root}/lib/${file}
                                           IMPORTED_NO_SONAME FALSE)
  target_link_libraries(${name} INTERFACE torch::headers)
  # What LibTorch itself needs (CUDA's runtime among it) is found by its own RPATH.
  target_link_options(${name} INTERFACE -Wl,--allow-shlib-undefined
                                        -Wl,--unresolved-symbols=ignore-in-shared-libs)
endfunction()

file(GLOB torch_openmp ${torch_root}/lib/libgomp*.so*)
if(torch_openmp)
  list(GET torch_openmp 0 torch_openmp)
  get_filename_component(torch_openmp ${torch_openmp} NAME)
  vitascope_import(torch::openmp ${torch_openmp})
else()
  add_library(torch::openmp INTERFACE IMPORTED GLOBAL)
  target_link_libraries(torch::openmp INTERFACE gomp)
endif()
vitascope_import(torch::c10 libc10.so)
vitascope_import(torch::cpu libtorch_cpu.so)
target_link_libraries(torch::cpu INTERFACE torch::c10 torch::openmp Threads::Threads)
if(EXISTS ${torch_root}/lib/libtorch_cuda.so)
  vitascope_import(torch::c10_cuda libc10_cuda.so)
  vitascope_import(torch::cuda libtorch_cuda.so)
  target_link_libraries(torch::cuda INTERFACE torch::c10_cuda torch::cpu)
  # Loading it is what counts, also for a library that calls nothing in it.
  target_link_options(torch::cuda INTERFACE -Wl,--no-as-needed)
endif()
