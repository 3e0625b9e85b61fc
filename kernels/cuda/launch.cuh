#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#ifndef VITASCOPE_SIMT
#include <cuda_runtime.h>
#endif

/// \file
/// How a kernel is started, on a GPU or, in tests/simt, on the CPU.
namespace vitascope::kernels::cuda {

#ifdef VITASCOPE_SIMT

/// Work is done at once.
using Stream = void*;

/// \return nullptr when it was started, else why not
template <class... Parameters>
const char* start(void (*kernel)(Parameters...), std::int64_t blocks, unsigned threads,
                  std::int64_t shared_bytes, Stream,
                  const std::type_identity_t<Parameters>&... arguments) {
  simt::launch({static_cast<unsigned>(blocks)}, {threads}, static_cast<std::size_t>(shared_bytes),
               [&] { kernel(arguments...); });
  return nullptr;
}

#else

/// Where work queues.
using Stream = cudaStream_t;

/// \return nullptr when it was started, else why not
template <class... Parameters>
const char* start(void (*kernel)(Parameters...), std::int64_t blocks, unsigned threads,
                  std::int64_t shared_bytes, Stream stream,
                  const std::type_identity_t<Parameters>&... arguments) {
  // Above 48 KB a kernel has to be told what it may use.
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(shared_bytes));
  if (error == cudaSuccess) {
    void* values[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
    error =
        cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(static_cast<unsigned>(blocks)),
                         dim3(threads), values, static_cast<std::size_t>(shared_bytes), stream);
  }
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

#endif

}  // namespace vitascope::kernels::cuda
