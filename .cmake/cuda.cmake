# VITASCOPE_CUDA: build libvitascope_cuda.so. On where nvcc and a CUDA build of LibTorch are found.
find_program(vitascope_nvcc nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
set(cuda_default OFF)
if(vitascope_nvcc AND TARGET torch::cuda)
  set(cuda_default ON)
endif()
option(VITASCOPE_CUDA "Build the CUDA kernels" ${cuda_default})
if(VITASCOPE_CUDA)
  if(NOT TARGET torch::cuda)
    message(FATAL_ERROR "VITASCOPE_CUDA is ON, but the LibTorch in ${VITASCOPE_TORCH_ROOT} was built "
                        "without CUDA. Install the torch wheel of PyPI or pass -DVITASCOPE_CUDA=OFF.")
  endif()
  # CMake 3.25 fails at generate for CUDA_STANDARD 20, and takes its default architecture when
  # this is set after the language is enabled.
  set(CMAKE_CUDA_ARCHITECTURES "80;89;90;100;120" CACHE STRING "GPU architectures")
  if(vitascope_nvcc AND NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER ${vitascope_nvcc})
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit 12.8 REQUIRED)
endif()
