#include "app/event_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "events.out.tfevents.";
constexpr const char* kSuffix = ".vitascope";
constexpr std::uint32_t kPolynomial = 0x82F63B78;  // Castagnoli's, bits in reverse

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? kPolynomial : 0);
    table[byte] = sum;
  }
  return table;
}

/// The number's bytes, lowest first.
template <typename Number>
void append_fixed(std::string& bytes, Number number) {
  static_assert(std::endian::native == std::endian::little);
  char raw[sizeof(number)];
  std::memcpy(raw, &number, sizeof(number));
  bytes.append(raw, sizeof(number));
}

/// Seven bits a byte, lowest first; the top bit says that more follow.
void append_varint(std::string& bytes, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>((number & 0x7F) | 0x80);
  bytes += static_cast<char>(number);
}

/// How the value of a field is written.
enum class Wire { varint = 0, fixed64 = 1, length = 2, fixed32 = 5 };

void append_key(std::string& bytes, std::uint64_t field, Wire wire) {
  append_varint(bytes, field << 3 | static_cast<std::uint64_t>(wire));
}

void append_text(std::string& bytes, std::uint64_t field, std::string_view text) {
  append_key(bytes, field, Wire::length);
  append_varint(bytes, text.size());
  bytes += text;
}

std::uint32_t masked(std::uint32_t sum) { return std::rotr(sum, 15) + 0xA282EAD8U; }

std::string record(std::string_view data) {
  std::string bytes;
  append_fixed(bytes, std::uint64_t{data.size()});
  append_fixed(bytes, masked(crc32c(bytes)));
  bytes += data;
  append_fixed(bytes, masked(crc32c(data)));
  return bytes;
}

std::string wall_time_field(double wall_time) {
  std::string event;
  append_key(event, 1, Wire::fixed64);
  append_fixed(event, wall_time);
  return event;
}

std::string host_name() {
  char name[256] = "";
  return gethostname(name, sizeof(name) - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> table = make_table();
  std::uint32_t sum = 0xFFFFFFFFU;
  for (const char byte : bytes) {
    sum = table[(sum ^ static_cast<unsigned char>(byte)) & 0xFF] ^ (sum >> 8);
  }
  return ~sum;
}

std::string event_record(const ScalarEvent& event) {
  std::string summary;
  for (const auto& [tag, number] : event.values) {
    std::string value;
    append_text(value, 1, tag);
    append_key(value, 2, Wire::fixed32);
    append_fixed(value, static_cast<float>(number));
    append_text(summary, 1, value);
  }
  std::string bytes = wall_time_field(event.wall_time);
  append_key(bytes, 2, Wire::varint);
  append_varint(bytes, static_cast<std::uint64_t>(event.step));
  append_text(bytes, 5, summary);
  return record(bytes);
}

std::string event_version_record(double wall_time) {
  std::string bytes = wall_time_field(wall_time);
  append_text(bytes, 3, "brain.Event:2");
  return record(bytes);
}

void EventFile::begin(const std::vector<ScalarEvent>& events) {
  const double now = seconds_now();
  path_ =
      fmt::format("{}/{}{:010.0f}.{}.{}{}", folder_, kPrefix, now, host_name(), getpid(), kSuffix);
  std::string bytes = event_version_record(events.empty() ? now : events.front().wall_time);
  for (const ScalarEvent& event : events) bytes += event_record(event);
  write_file(path_, /*force=*/true, bytes);
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(kSuffix) && entry.path() != path_) {
      old.push_back(entry.path());
    }
  }
  std::error_code ignored;  // one that stays shows epochs twice: no reason to stop a run
  for (const fs::path& path : old) fs::remove(path, ignored);
}

void EventFile::add(const ScalarEvent& event) const {
  std::ofstream file(path_, std::ios::binary | std::ios::app);
  file << event_record(event) << std::flush;
  if (!file) throw FailureError(printable(path_) + ": can't be written");
}

}  // namespace vitascope::app
