#include "app/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <utility>

namespace vitascope::app {
namespace {

constexpr double kBarSeconds = 0.1;   // between two drawings of the bar
constexpr double kLineSeconds = 5.0;  // between two lines of a log
constexpr std::size_t kBarColumns = 24;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string duration_text(double seconds) {
  const long whole = std::lround(seconds);
  if (whole < 100) return fmt::format("{} s", whole);
  if (whole < 6000) return fmt::format("{} min", (whole + 30) / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string progress_text(std::size_t done, std::size_t total, double seconds) {
  std::string text = fmt::format("{}/{}", done, total);
  if (done == 0 || seconds <= 0) return text;
  const double rate = static_cast<double>(done) / seconds;
  text +=
      rate < 1 ? fmt::format(", {:.1f} s each", 1 / rate) : fmt::format(", {:.1f} a second", rate);
  if (done < total)
    text += ", " + duration_text(static_cast<double>(total - done) / rate) + " left";
  return text;
}

Progress::Progress(std::size_t total, bool quiet)
    : Progress(total, quiet ? nullptr : stderr, isatty(STDERR_FILENO) == 1, steady_seconds) {}

Progress::Progress(std::size_t total, std::FILE* stream, bool terminal,
                   std::function<double()> clock)
    : total_(total),
      stream_(stream),
      terminal_(terminal),
      clock_(std::move(clock)),
      start_(clock_()),
      last_(start_) {}

void Progress::show(std::size_t done) {
  show(done, [&] { return progress_text(done, total_, clock_() - start_); });
}

void Progress::show(std::size_t done, const std::function<std::string()>& text_of) {
  if (stream_ == nullptr || total_ < 2) return;
  const double now = clock_();
  if (now - last_ < (terminal_ ? kBarSeconds : kLineSeconds)) return;
  last_ = now;
  const std::string text = text_of();
  if (!terminal_) {
    std::fprintf(stream_, "vitascope: %s\n", text.c_str());
    return;
  }
  std::string bar;
  for (std::size_t i = 0; i < kBarColumns; ++i) bar += i * total_ < done * kBarColumns ? "█" : "░";
  std::fprintf(stream_, "\r\033[K%s %s", bar.c_str(), text.c_str());
  std::fflush(stream_);
  drawn_ = true;
}

void Progress::clear() {
  if (!drawn_) return;
  std::fputs("\r\033[K", stream_);
  std::fflush(stream_);
  drawn_ = false;
}

}  // namespace vitascope::app
