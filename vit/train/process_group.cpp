// The only file that includes Gloo's headers. They are older than the Gloo inside LibTorch, so that
// nothing of Gloo may be instantiated here; a test looks for that.
#ifndef USE_C10D_GLOO
#define USE_C10D_GLOO
#endif
#include "vit/train/process_group.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <utility>

#include "vit/error.h"

namespace vitascope::train {
namespace {

// Others wait while the first process writes a checkpoint or validates: ProcessWatch finds out who
// is gone long before.
constexpr std::chrono::hours kTimeout{24};

bool is_loopback(const std::string& host) {
  return host == "localhost" || host.starts_with("127.") || host == "::1";
}

}  // namespace

struct PendingSum::Work {
  c10::intrusive_ptr<c10d::Work> work;
  std::vector<at::Tensor> tensors;  // that must live until it is done
  std::shared_ptr<ProcessWatch> watch;
};

PendingSum::PendingSum(std::unique_ptr<Work> work) : work_(std::move(work)) {}
PendingSum::~PendingSum() = default;
PendingSum::PendingSum(PendingSum&&) noexcept = default;

void PendingSum::wait() {
  try {
    work_->work->wait();
  } catch (const std::exception& error) {
    work_->watch->await_loss();
    const std::string message = error.what();
    throw FailureError("the connection between the processes broke: " +
                       message.substr(0, message.find('\n')));
  }
}

struct ProcessGroup::Gloo {
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group;
};

ProcessGroup::ProcessGroup(const StorePlace& place, Seat seat,
                           std::function<void(const std::string&)> on_lost)
    : seat_(seat), store_(std::make_unique<ProcessStore>(place)), gloo_(std::make_unique<Gloo>()) {
  StorePlace served = place;
  served.port = store_->port();
  try {
    watch_ = std::make_shared<ProcessWatch>(served, seat, std::move(on_lost));
    const auto options = c10d::ProcessGroupGloo::Options::create(kTimeout);
    const char* interface = std::getenv("GLOO_SOCKET_IFNAME");  // as PyTorch reads it
    options->devices = {
        interface != nullptr      ? c10d::ProcessGroupGloo::createDeviceForInterface(interface)
        : is_loopback(place.host) ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")
                                  : c10d::ProcessGroupGloo::createDefaultDevice()};
    gloo_->group = c10::make_intrusive<c10d::ProcessGroupGloo>(store_->native(), seat.rank,
                                                               seat.processes, options);
  } catch (const std::exception& error) {
    const std::string message = error.what();
    throw UsageError(fmt::format("the {} processes did not come together: {}", seat.processes,
                                 message.substr(0, message.find('\n'))));
  }
}

ProcessGroup::~ProcessGroup() = default;

PendingSum ProcessGroup::begin_sum(const at::Tensor& tensor) {
  auto work = std::make_unique<PendingSum::Work>();
  work->tensors = {tensor};
  work->watch = watch_;
  try {
    work->work = gloo_->group->allreduce(work->tensors);
  } catch (const std::exception& error) {
    watch_->await_loss();
    throw FailureError(fmt::format("the processes can't be reached: {}", error.what()));
  }
  return PendingSum(std::move(work));
}

void ProcessGroup::sum(const at::Tensor& tensor) {
  const at::Tensor here = tensor.detach().cpu().contiguous();
  begin_sum(here.view({-1})).wait();
  if (!here.is_same(tensor)) tensor.detach().copy_(here);
}

void ProcessGroup::sum(std::span<double> numbers) {
  begin_sum(at::from_blob(numbers.data(), {std::ssize(numbers)}, at::kDouble)).wait();
}

at::Tensor ProcessGroup::gathered(const at::Tensor& rows) {
  const std::int64_t own = rows.size(0);
  const BatchPart part = parts_of({&own, 1}, this).front();
  std::vector<std::int64_t> shape = rows.sizes().vec();
  shape[0] = part.total;
  at::Tensor all = at::zeros(shape, rows.options().device(at::kCPU));
  all.narrow(0, part.begin, part.size).copy_(rows);
  sum(all);
  return all;
}

void ProcessGroup::broadcast(const at::Tensor& tensor) {
  // Zeros of the others leave the first one's bytes as they are.
  const at::Tensor here = tensor.detach().cpu().contiguous();
  const at::Tensor bytes = here.numel() == 0 ? here : here.view({-1}).view(at::kByte).clone();
  if (bytes.numel() == 0) return;
  if (!first()) bytes.zero_();
  begin_sum(bytes).wait();
  tensor.detach().copy_(bytes.view(tensor.scalar_type()).view(tensor.sizes()));
}

std::string ProcessGroup::broadcast(const std::string& text) {
  at::Tensor size = at::full({1}, static_cast<std::int64_t>(text.size()), at::kLong);
  broadcast(size);
  at::Tensor bytes = at::zeros({size.item<std::int64_t>()}, at::kByte);
  if (first()) std::memcpy(bytes.mutable_data_ptr(), text.data(), text.size());
  broadcast(bytes);
  return {static_cast<const char*>(bytes.const_data_ptr()),
          static_cast<std::size_t>(bytes.numel())};
}

std::vector<BatchPart> parts_of(std::span<const std::int64_t> sizes, ProcessGroup* group) {
  std::vector<BatchPart> parts;
  parts.reserve(sizes.size());
  for (const std::int64_t size : sizes) parts.push_back({.size = size, .total = size});
  if (group == nullptr || parts.empty()) return parts;
  const auto [rank, processes] = group->seat();
  const at::Tensor all = at::zeros({std::ssize(sizes), processes}, at::kLong);
  auto table = all.accessor<std::int64_t, 2>();
  for (std::int64_t i = 0; i < std::ssize(sizes); ++i)
    table[i][rank] = sizes[static_cast<std::size_t>(i)];
  group->sum(all);
  for (std::int64_t i = 0; i < std::ssize(sizes); ++i) {
    BatchPart& part = parts[static_cast<std::size_t>(i)];
    part.begin = all[i].slice(0, 0, rank).sum().item<std::int64_t>();
    part.total = all[i].sum().item<std::int64_t>();
  }
  return parts;
}

}  // namespace vitascope::train
