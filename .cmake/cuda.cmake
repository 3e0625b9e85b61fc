# VITASCOPE_CUDA: build libvitascope_cuda.so. On where nvcc 12.8 or newer and a CUDA build of LibTorch
# are found; nvcc may be an installed toolkit's or the one that app/setup.sh --cuda puts into .venv.
set(cuda_release 12.8)
file(GLOB cuda_wheels ${VITASCOPE_SITE_PACKAGES}/nvidia/cu13/bin
                      ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/cu13/bin)
if(CMAKE_CUDA_COMPILER)
  set(vitascope_nvcc ${CMAKE_CUDA_COMPILER})
else()
  find_program(vitascope_nvcc nvcc HINTS $ENV{CUDA_HOME}/bin PATHS /usr/local/cuda/bin ${cuda_wheels})
endif()

set(cuda_default OFF)
if(vitascope_nvcc AND TARGET torch::cuda)
  execute_process(COMMAND ${vitascope_nvcc} --version OUTPUT_VARIABLE nvcc_version ERROR_QUIET)
  string(REGEX MATCH "release ([0-9.]+)" _ "${nvcc_version}")
  set(nvcc_release "${CMAKE_MATCH_1}")
  if(nvcc_release VERSION_GREATER_EQUAL cuda_release)
    set(cuda_default ON)
  else()
    message(STATUS "CUDA off: ${vitascope_nvcc} is release ${nvcc_release}, ${cuda_release} is needed")
  endif()
endif()

option(VITASCOPE_CUDA "Build the CUDA kernels" ${cuda_default})
if(VITASCOPE_CUDA)
  if(NOT TARGET torch::cuda)
    message(FATAL_ERROR "VITASCOPE_CUDA is ON, but the LibTorch in ${VITASCOPE_TORCH_ROOT} was built "
                        "without CUDA. Install the torch wheel of PyPI or pass -DVITASCOPE_CUDA=OFF.")
  endif()
  if(NOT vitascope_nvcc)
    message(FATAL_ERROR "VITASCOPE_CUDA is ON, but there is no nvcc. Run app/setup.sh --cuda, name one "
                        "(-DCMAKE_CUDA_COMPILER=<...>/bin/nvcc), or pass -DVITASCOPE_CUDA=OFF.")
  endif()
  if(nvcc_release VERSION_LESS cuda_release)
    message(FATAL_ERROR "VITASCOPE_CUDA is ON, but ${vitascope_nvcc} is release ${nvcc_release}, and "
                        "${cuda_release} is needed. Name a newer one (-DCMAKE_CUDA_COMPILER=<...>/bin/nvcc), "
                        "or pass -DVITASCOPE_CUDA=OFF.")
  endif()
  # Before the language is enabled: later, CMake has put its own default here.
  set(CMAKE_CUDA_ARCHITECTURES "80;89;90;100;120" CACHE STRING "GPU architectures")
  if(NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER ${vitascope_nvcc})
  endif()
  enable_language(CUDA)
  # CMake 3.25 does not know that nvcc speaks C++20.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  find_package(CUDAToolkit ${cuda_release} REQUIRED)
endif()
