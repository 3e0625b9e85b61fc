#include "app/device.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <utility>

#include "app/output.h"
#include "app/values.h"
#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

/// Number of GPUs that the driver sees, or why there is none.
struct Driver {
  int devices = 0;
  std::string problem;
};

Driver ask_driver() {
  // Never closed: LibTorch's CUDA part goes on using it.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {0, "there is no NVIDIA driver (libcuda.so.1 can't be opened)"};
  const auto initialise = reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"));
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(library, "cuDeviceGetCount"));
  if (initialise == nullptr || count == nullptr) {
    return {0, "libcuda.so.1 is not an NVIDIA driver's"};
  }
  if (const int code = initialise(0); code != 0) {
    return {0, fmt::format("the NVIDIA driver finds no usable GPU (cuInit gave error {})", code)};
  }
  int devices = 0;
  if (count(&devices) != 0 || devices == 0) return {0, "the NVIDIA driver reports no GPU"};
  return {devices, ""};
}

/// The library is built beside the program and installed in the lib folder beside the program's.
std::string cuda_library() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  for (const char* place : {"libvitascope_cuda.so", "../lib/libvitascope_cuda.so"}) {
    const auto path = program.parent_path() / place;
    if (std::filesystem::exists(path, error)) return path.string();
  }
  return "";
}

/// Opens the CUDA part; returns why it can't be used, or "".
std::string load_cuda(int index) {
  const std::string library = cuda_library();
  if (library.empty()) {
    return "this build has no CUDA kernels (libvitascope_cuda.so is missing beside the program); "
           "configure with -DVITASCOPE_CUDA=ON";
  }
  const Driver driver = ask_driver();
  if (driver.devices == 0) return driver.problem;
  if (index >= driver.devices) {
    return fmt::format("there is no GPU {}; this machine has {}, counted from 0", index,
                       driver.devices);
  }
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    const char* reason = dlerror();
    return missing_library(reason == nullptr ? "unknown reason" : reason);
  }
  return "";
}

}  // namespace

int parse_device(const std::string& name) {
  if (name == "cuda") return 0;
  const std::string prefix = "cuda:";
  if (name.starts_with(prefix)) {
    int index = 0;
    const char* end = name.data() + name.size();
    const auto result = std::from_chars(name.data() + prefix.size(), end, index);
    // c10::Device keeps the index in 8 bits.
    if (result.ec == std::errc() && result.ptr == end && index >= 0 && index < 128) return index;
  } else if (name == "cpu" || name == "auto") {
    return 0;
  }
  throw UsageError(in_quotes(name) +
                   " is no device; expected auto, cpu, cuda or cuda:N, as in cuda:1");
}

std::string missing_library(const std::string& reason) {
  // The start of a library's name and the wheel that carries it.
  static constexpr std::array<std::pair<const char*, const char*>, 18> kWheels = {{
      {"libcudnn", "nvidia-cudnn-cu13"},
      {"libcublas", "nvidia-cublas"},
      {"libcudart", "nvidia-cuda-runtime"},
      {"libcupti", "nvidia-cuda-cupti"},
      {"libnvrtc", "nvidia-cuda-nvrtc"},
      {"libcufft", "nvidia-cufft"},
      {"libcufile", "nvidia-cufile"},
      {"libcurand", "nvidia-curand"},
      {"libcusolver", "nvidia-cusolver"},
      {"libcusparseLt", "nvidia-cusparselt-cu13"},
      {"libcusparse", "nvidia-cusparse"},
      {"libnccl", "nvidia-nccl-cu13"},
      {"libnvshmem", "nvidia-nvshmem-cu13"},
      {"libnvJitLink", "nvidia-nvjitlink"},
      {"libnvToolsExt", "nvidia-nvtx"},
      {"libnvtx", "nvidia-nvtx"},
      {"libtorch_cuda", "torch==2.11.0"},
      {"libc10_cuda", "torch==2.11.0"},
  }};
  for (const auto& [library, wheel] : kWheels) {
    if (!reason.starts_with(library)) continue;
    return fmt::format(
        "{} is missing; 'pip install {}' in the environment that LibTorch comes from "
        "brings it ('pip install torch==2.11.0' brings everything)",
        printable(reason.substr(0, reason.find(':'))), wheel);
  }
  return "the CUDA part can't be opened: " + printable(reason);
}

at::Device open_device(const std::string& name, bool verbose) {
  const int index = parse_device(name);
  if (name == "cpu") return at::kCPU;
  const std::string problem = load_cuda(index);
  const at::Device gpu(at::kCUDA, static_cast<c10::DeviceIndex>(index));
  if (name != "auto") {
    if (!problem.empty()) throw UsageError("--device " + name + ": " + problem);
    return gpu;
  }
  if (verbose) {
    output::note("device: " + (problem.empty() ? gpu.str() : "cpu, because " + problem));
  }
  return problem.empty() ? gpu : at::Device(at::kCPU);
}

void move_to(model::VisionTransformer& network, at::Device device) {
  if (device.is_cpu()) return;
  for (auto& [name, parameter] : network.parameters()) {
    if (parameter->defined()) *parameter = parameter->to(device);
  }
}

at::Device device_of(const model::VisionTransformer& network) {
  model::VisionTransformer handles = network;  // parameters() hands out slots to write to
  for (const auto& [name, parameter] : handles.parameters()) {
    if (parameter->defined()) return parameter->device();
  }
  return at::kCPU;
}

}  // namespace vitascope::app
