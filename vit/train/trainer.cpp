#include "vit/train/trainer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "vit/error.h"
#include "vit/json.h"
#include "vit/train/allocation_peak.h"

namespace vitascope::train {
namespace {

constexpr std::size_t kNamedSamples = 16;  // of a batch in a message; more help nobody

void validate(const TrainerOptions& options) {
  const auto require = [](bool holds, const std::string& message) {
    if (!holds) throw UsageError(message);
  };
  require(options.epochs >= 1, fmt::format("{} epochs: expected 1 or more", options.epochs));
  require(options.accumulation >= 1,
          fmt::format("{} batches to one update: expected 1 or more", options.accumulation));
  require(options.clip_norm >= 0,
          fmt::format("gradients clipped at {}: expected 0 or more", options.clip_norm));
  require(options.patience >= 0,
          fmt::format("a patience of {}: expected 0 or more", options.patience));
  validate(options.schedule);
}

[[noreturn]] void fail_not_finite(const std::string& what, double value, std::int64_t step,
                                  const std::vector<Batch>& batches) {
  std::vector<std::string> names;
  std::size_t count = 0;
  for (const Batch& batch : batches) {
    count += batch.names.size();
    for (const std::string& name : batch.names) {
      if (names.size() < kNamedSamples) names.push_back(name);
    }
  }
  throw FailureError(fmt::format(
      "{} is {} in step {}, so the run stops as it was before that step; a lower learning rate, a "
      "longer warm-up or clipping may help, unless one of these samples is broken: {}{}",
      what, value, step + 1, fmt::join(names, ", "),
      count > names.size() ? fmt::format(" and {} more", count - names.size()) : ""));
}

/// The parameters as they compute.
NamedTensors values_of(const std::vector<Parameter>& parameters) {
  NamedTensors values;
  for (const Parameter& parameter : parameters) {
    values.emplace(parameter.name, parameter.tensor.detach());
  }
  return values;
}

const NamedTensors& tensors_of(const Checkpoint& state, const std::string& part) {
  static const NamedTensors none;
  const auto found = state.tensors.find(part);
  return found == state.tensors.end() ? none : found->second;
}

}  // namespace

Trainer::Trainer(Learner& learner, const TrainerOptions& options, TrainerHooks hooks)
    : learner_(&learner),
      options_((validate(options), options)),
      hooks_(std::move(hooks)),
      optimizer_(learner.parameters(), options.method),
      random_(options.seed) {
  if (options_.ema) ema_.emplace(optimizer_.weights(), *options_.ema);
  if (hooks_.group != nullptr)
    buckets_ = std::make_unique<GradientBuckets>(optimizer_.parameters(), *hooks_.group);
}

Ending Trainer::run() {
  go_on_from_first();
  while (progress_.epoch < options_.epochs) {
    if (out_of_patience()) return Ending::early;
    if (!train_step()) finish_epoch();
    const Request request = agreed_request();
    if (request == Request::none) continue;
    hooks_.save(state(), progress_.step);
    if (request == Request::stop) return Ending::interrupted;
  }
  return Ending::finished;
}

/// All processes take over what the first one holds, bit by bit.
void Trainer::go_on_from_first() {
  if (hooks_.group == nullptr) return;
  Checkpoint first = state();
  for (const auto& [part, tensors] : first.tensors) {
    for (const auto& [name, tensor] : tensors) hooks_.group->broadcast(tensor);
  }
  for (auto& [name, text] : first.texts) text = hooks_.group->broadcast(text);
  restore(first);
}

Request Trainer::agreed_request() {
  const Request own = hooks_.request();
  if (hooks_.group == nullptr) return own;
  std::array<double, 2> wishes{own == Request::save ? 1.0 : 0, own == Request::stop ? 1.0 : 0};
  hooks_.group->sum(wishes);
  return wishes[1] > 0 ? Request::stop : wishes[0] > 0 ? Request::save : Request::none;
}

/// One update from as many batches as there are to it. \return whether the epoch goes on
bool Trainer::train_step() {
  std::vector<Batch> batches;
  std::vector<std::int64_t> sizes;
  batches.reserve(static_cast<std::size_t>(options_.accumulation));
  bool goes_on = true;
  while (goes_on && std::ssize(batches) < options_.accumulation) {
    std::optional<Batch> batch = hooks_.next();
    goes_on = batch.has_value();
    if (!goes_on) break;
    sizes.push_back(batch->inputs.size(0));
    batches.push_back(std::move(*batch));
  }
  const std::vector<BatchPart> parts = parts_of(sizes, hooks_.group);
  StepReport report{.epoch = progress_.epoch, .rate = rate_at(options_.schedule, progress_.step)};
  for (const BatchPart& part : parts) report.samples += part.total;
  if (report.samples == 0) return goes_on;

  backward_all(batches, parts, report);
  optimizer_.step(report.rate);
  optimizer_.clear_gradients();
  if (ema_) ema_->update();
  report.step = ++progress_.step;
  progress_.rate = report.rate;
  hooks_.on_step(report);
  return goes_on;
}

/// Clipped gradients of an update, the same in all processes; loss and norm go into the report.
void Trainer::backward_all(std::vector<Batch>& batches, const std::vector<BatchPart>& parts,
                           StepReport& report) {
  at::Tensor total_weight = at::zeros({1}, at::kFloat);
  std::size_t last = batches.size();  // the batch that completes the gradients
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (parts[i].total == 0) continue;
    learner_->prepare(batches[i], random_);
    total_weight += loss_weights(batches[i]).sum();
    if (parts[i].size > 0) last = i;
  }
  if (hooks_.group != nullptr) hooks_.group->sum(total_weight);
  EpochSums sums;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (parts[i].total == 0) continue;
    if (buckets_ && i == last) buckets_->begin();
    const double loss = backward(batches[i], parts[i], total_weight, sums);
    if (!std::isfinite(loss)) fail_not_finite("the loss", loss, progress_.step, batches);
    report.loss += loss;
  }
  if (buckets_) buckets_->finish();
  report.gradient_norm = clip();
  if (!std::isfinite(report.gradient_norm)) {
    fail_not_finite("the norm of the gradients", report.gradient_norm, progress_.step, batches);
  }
  if (hooks_.group != nullptr) {
    std::array<double, 6> all{report.loss,
                              sums.loss,
                              sums.weight,
                              static_cast<double>(sums.samples),
                              static_cast<double>(sums.right),
                              static_cast<double>(sums.answers)};
    hooks_.group->sum(all);
    report.loss = all[0];
    sums = {.loss = all[1],
            .weight = all[2],
            .samples = static_cast<std::int64_t>(all[3]),
            .right = static_cast<std::int64_t>(all[4]),
            .answers = static_cast<std::int64_t>(all[5])};
  }
  progress_.sums.loss += sums.loss;
  progress_.sums.weight += sums.weight;
  progress_.sums.samples += sums.samples;
  progress_.sums.right += sums.right;
  progress_.sums.answers += sums.answers;
}

/// \return the norm before. Of several processes the first one's counts: machines that round
/// otherwise would drift apart
double Trainer::clip() {
  std::array<double, 1> norm{gradient_norm(optimizer_.parameters())};
  if (hooks_.group != nullptr) {
    if (!hooks_.group->first()) norm[0] = 0;
    hooks_.group->sum(norm);
  }
  if (options_.clip_norm > 0) {
    scale_gradients(optimizer_.parameters(), norm[0], options_.clip_norm);
  }
  return norm[0];
}

/// Weights of the losses of a batch's samples.
at::Tensor Trainer::loss_weights(const Batch& batch) const {
  const at::Tensor weights = learner_->weights(batch);
  return batch.weights.defined() ? weights * batch.weights.to(weights.options()) : weights;
}

/// Adds the gradients of a batch, and what was seen of it to `sums`. \return its share of the
/// update's loss
double Trainer::backward(const Batch& batch, const BatchPart& part, const at::Tensor& total_weight,
                         EpochSums& sums) {
  const Lesson lesson = learner_->learn(batch, part, random_);
  if (part.size == 0) return 0;
  at::Tensor losses = lesson.losses;
  if (batch.weights.defined()) losses = losses * batch.weights.to(losses.options());
  const at::Tensor sum = losses.sum();
  const double loss = sum.item<double>() / total_weight.item<double>();
  if (!std::isfinite(loss)) return loss;
  (sum / total_weight.to(sum.device())).sum().backward();

  const c10::AutoGradMode no_gradient(false);
  sums.loss += sum.item<double>();
  sums.weight += loss_weights(batch).sum().item<double>();
  sums.samples += part.size;
  sums.right += lesson.right;
  sums.answers += lesson.answers;
  return loss;
}

void Trainer::rehearse(const Batch& batch) {
  const RandomNumbers random = random_;
  const std::string remembered = learner_->state();
  const std::int64_t samples = batch.inputs.size(0);
  // The second batch of an update finds the gradients of the first.
  for (std::int64_t i = 0; i < std::min<std::int64_t>(options_.accumulation, 2); ++i) {
    EpochSums unused;
    backward(batch, {.size = samples, .total = samples}, loss_weights(batch).sum().view(1), unused);
  }
  optimizer_.clear_gradients();
  random_ = random;
  learner_->restore(remembered);
}

std::int64_t Trainer::step_bytes(const Batch& batch) {
  const auto peak = [&](std::int64_t count) {
    const Batch part{.inputs = batch.inputs.narrow(0, 0, count),
                     .targets = batch.targets.narrow(0, 0, count)};
    const AllocationPeak measured;
    rehearse(part);
    return measured.bytes();
  };
  // Of very few samples the peak lies elsewhere, and what is allocated once and kept does not grow.
  const std::int64_t all = batch.inputs.size(0);
  const std::int64_t few = std::min<std::int64_t>(all, 4);
  peak(1);
  std::int64_t bytes = peak(few);
  if (all > few) bytes += (bytes - peak(few / 2)) * (all - few) / (few - few / 2);
  return bytes;
}

void Trainer::finish_epoch() {
  const c10::AutoGradMode no_gradient(false);
  const NamedTensors weights = ema_ ? ema_->average() : values_of(optimizer_.parameters());
  EpochReport report{.epoch = progress_.epoch,
                     .step = progress_.step,
                     .sums = progress_.sums,
                     .rate = progress_.rate,
                     .metrics = hooks_.validate(weights),
                     .weights = weights};
  const auto found = report.metrics.find(options_.metric);
  if (found == report.metrics.end()) {
    std::vector<std::string> names;
    names.reserve(report.metrics.size());
    for (const auto& [name, value] : report.metrics) names.push_back(name);
    throw UsageError(
        fmt::format("there is no figure '{}' to choose the best epoch by: expected "
                    "one of {}",
                    options_.metric, fmt::join(names, ", ")));
  }
  const double sign = options_.lower_is_better ? -1 : 1;
  report.best = !progress_.best || sign * found->second > sign * *progress_.best;
  if (report.best) progress_.best = found->second;
  progress_.waited = report.best ? 0 : progress_.waited + 1;
  progress_.sums = {};
  ++progress_.epoch;
  hooks_.on_epoch(report);
  hooks_.save(state(), progress_.step);
}

bool Trainer::out_of_patience() const {
  return options_.patience > 0 && progress_.waited >= options_.patience;
}

Checkpoint Trainer::state() const {
  Checkpoint checkpoint;
  checkpoint.tensors["weights"] = values_of(optimizer_.parameters());
  checkpoint.tensors["optimizer"] = optimizer_.state();
  if (ema_) checkpoint.tensors["ema"] = ema_->state();
  checkpoint.texts["random"] = random_.state();
  checkpoint.texts["learner"] = learner_->state();
  // Numbers are written so that they are read back bit by bit.
  checkpoint.texts["progress"] = Json{
      {"epoch", progress_.epoch},
      {"step", progress_.step},
      {"loss", progress_.sums.loss},
      {"weight", progress_.sums.weight},
      {"samples", progress_.sums.samples},
      {"right", progress_.sums.right},
      {"answers", progress_.sums.answers},
      {"rate", progress_.rate},
      {"best", progress_.best ? Json(*progress_.best) : Json()},
      {"waited", progress_.waited}}.dump();
  return checkpoint;
}

void Trainer::restore(const Checkpoint& state) {
  try {
    restore_values(tensors_of(state, "weights"), values_of(optimizer_.parameters()));
    optimizer_.restore(tensors_of(state, "optimizer"));
    if (ema_) ema_->restore(tensors_of(state, "ema"));
    random_.restore(state.text("random"));
    learner_->restore(state.text("learner"));
    const Json saved = parse_json(state.text("progress"), "progress");
    progress_ = {.epoch = saved.at("epoch"),
                 .step = saved.at("step"),
                 .sums = {.loss = saved.at("loss"),
                          .weight = saved.at("weight"),
                          .samples = saved.at("samples"),
                          .right = saved.at("right"),
                          .answers = saved.at("answers")},
                 .rate = saved.at("rate"),
                 .best = saved.at("best").is_null()
                             ? std::nullopt
                             : std::optional<double>(saved.at("best").get<double>()),
                 .waited = saved.at("waited")};
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("the checkpoint is of another run: {}", error.what()));
  } catch (const Json::exception& error) {
    throw UsageError(
        fmt::format("the checkpoint's progress is of another version: {}", error.what()));
  }
}

}  // namespace vitascope::train
