// What libvitascope_cuda.so is asked first, and the reason why opening it is enough: it is linked
// with libtorch_cuda.so, whose CUDA hooks and operators register themselves as it is loaded.
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime.h>

namespace {

/// Leaves a value that only a kernel compiled for the device at hand can leave.
__global__ void leave_mark(int* mark) { *mark = 42; }

const char* run_probe(int* mark) {
  leave_mark<<<1, 1>>>(mark);
  int value = 0;
  // Copying waits for the kernel, so that a launch without code for this device is seen here.
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) {
    error = cudaMemcpy(&value, mark, sizeof value, cudaMemcpyDeviceToHost);
  }
  if (error != cudaSuccess) return cudaGetErrorString(error);
  return value == 42 ? nullptr : "a kernel ran and left a wrong value";
}

}  // namespace

extern "C" {

/// GPUs that LibTorch sees; 0 when there is no driver.
int vitascope_cuda_devices() { return c10::cuda::device_count(); }

/// Runs a kernel of this library on a device.
/// \return nullptr when it ran, else CUDA's words for why not; a GPU older than the architectures
///         compiled for gives "no kernel image is available for execution on the device"
const char* vitascope_cuda_probe(int device) {
  int* mark = nullptr;
  cudaError_t error = cudaSetDevice(device);
  if (error == cudaSuccess) error = cudaMalloc(&mark, sizeof *mark);
  if (error != cudaSuccess) return cudaGetErrorString(error);
  const char* problem = run_probe(mark);
  cudaFree(mark);
  return problem;
}

}  // extern "C"
