#include "app/part_file.h"

#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "app/fixed_recipe.h"
#include "app/values.h"
#include "datasets/duplicates.h"
#include "vit/error.h"
#include "vit/json_object.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

constexpr int kFormat = 1;
constexpr int kMost = 2'000'000'000;
constexpr std::size_t kSumLength = 8;

std::string checksum(std::string_view text) {
  return fmt::format("{:08x}", datasets::fingerprint(std::as_bytes(std::span(text))).crc);
}

std::string line_of(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return fmt::format("{} {}\n", checksum(text), text);
}

Json header_json(const PartHeader& header) {
  return {{"vitascope_part", kFormat},
          {"command", header.command},
          {"program", header.program},
          {"list", header.list},
          {"model", header.model},
          {"recipe", header.recipe},
          {"part", header.shard.rank + 1},
          {"parts", header.shard.processes},
          {"photos", header.photos},
          {"batch_size", header.batch_size},
          {"failed_inputs", header.failed_inputs},
          {"details", header.details}};
}

/// \throws InputError when something is missing
PartHeader parse_header(const Json& json, const std::string& path) {
  const JsonObject object(json, path);
  object.integer("vitascope_part", kFormat, kFormat);
  PartHeader header;
  header.command = object.text("command");
  header.program = object.text("program");
  header.list = object.text("list");
  header.model = object.text("model");
  header.recipe = object.text("recipe");
  const auto count = [&](const char* key, int lowest, int highest) {
    return static_cast<std::size_t>(object.integer(key, lowest, highest));
  };
  header.shard.processes = count("parts", 1, kMost);
  header.shard.rank = count("part", 1, static_cast<int>(header.shard.processes)) - 1;
  header.photos = count("photos", 0, kMost);
  header.batch_size = count("batch_size", 1, kMost);
  header.failed_inputs = object.integer("failed_inputs", 0, kMost);
  header.details = object.value("details");
  return header;
}

std::string reason() { return std::strerror(errno); }

}  // namespace

std::string difference(const PartHeader& before, const PartHeader& now) {
  if (before.command != now.command)
    return fmt::format("{}, not {}", in_quotes(before.command), in_quotes(now.command));
  if (before.program != now.program)
    return fmt::format("version {} of this program, not {}", printable(before.program),
                       printable(now.program));
  if (before.shard.processes != now.shard.processes)
    return fmt::format("{} parts, not {}", before.shard.processes, now.shard.processes);
  if (before.list != now.list || before.photos != now.photos) return "another list of photos";
  if (before.model != now.model) return "another model";
  return recipe_difference(before.recipe, now.recipe);
}

std::string part_name(datasets::Shard shard) {
  return fmt::format("part {} of {}", shard.rank + 1, shard.processes);
}

std::string part_path(std::string output, datasets::Shard shard) {
  while (output.size() > 1 && output.ends_with('/')) output.pop_back();
  return fmt::format("{}.part-{}-of-{}", output, shard.rank + 1, shard.processes);
}

std::string list_key(const std::vector<std::string>& lines) {
  std::string sums;
  for (const std::string& line : lines) sums += checksum(line);
  return fmt::format("{} photos {}", lines.size(), checksum(sums));
}

Json bytes_json(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto point = decode_utf8(rest);
    if (!point) return std::vector<unsigned char>(text.begin(), text.end());
    rest.remove_prefix(point->length);
  }
  return text;
}

std::string bytes_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  const auto bytes = value.get<std::vector<unsigned char>>();
  return {bytes.begin(), bytes.end()};
}

PartReader::PartReader(const std::string& path) : file_(MappedFile::open(path)) {
  std::optional<Json> header;
  const Bytes bytes = file_->bytes();
  const auto digit = [](std::byte b) { return std::isxdigit(static_cast<int>(b)) != 0; };
  const bool likely = bytes.size() > kSumLength + 1 && bytes[kSumLength] == std::byte{' '} &&
                      bytes[kSumLength + 1] == std::byte{'{'} &&
                      std::ranges::all_of(bytes.first(kSumLength), digit);
  if (likely) header = next_line();
  if (!header || !header->is_object() || !header->contains("vitascope_part")) {
    throw InputError(path,
                     "is no part of results; 'vitascope classify' and 'evaluate' write them "
                     "where several processes share the photos");
  }
  header_ = parse_header(*header, path);
}

std::optional<Json> PartReader::next_line() {
  const Bytes bytes = file_->bytes().subspan(position_);
  const std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = rest.substr(0, end);
  ++line_;
  const std::string_view text = line.substr(std::min(line.size(), kSumLength + 1));
  if (line.substr(0, kSumLength) != checksum(text)) {
    throw InputError(path(),
                     fmt::format("line {} is damaged: its checksum is another one; run that "
                                 "part again with --force",
                                 line_));
  }
  position_ += end + 1;
  return parse_json(text, path());
}

std::optional<Json> PartReader::next() { return next_line(); }

PartWriter::PartWriter(std::string path, const PartHeader& header, bool force)
    : path_(std::move(path)) {
  check_writable(path_, /*force=*/true);
  file_.reset(std::fopen(path_.c_str(), "ab"));
  if (!file_) throw UsageError(fmt::format("{}: can't be written: {}", printable(path_), reason()));
  const int descriptor = ::fileno(file_.get());
  // Some network file systems have no locks; the lists differ there all the same.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw UsageError(printable(path_) + ": another process is writing it");
  if (force && ::ftruncate(descriptor, 0) != 0)
    throw UsageError(fmt::format("{}: can't be emptied: {}", printable(path_), reason()));
  const std::string first = line_of(header_json(header));
  const std::shared_ptr<const MappedFile> before = MappedFile::open(path_);
  const std::string_view text(reinterpret_cast<const char*>(before->bytes().data()),
                              before->bytes().size());
  if (text.size() >= first.size() || !first.starts_with(text)) {
    go_on(header);
    return;
  }
  // Nothing yet, or a process that ended while it wrote the header.
  if (::ftruncate(descriptor, 0) != 0)
    throw UsageError(fmt::format("{}: can't be emptied: {}", printable(path_), reason()));
  write_line(header_json(header));
}

void PartWriter::go_on(const PartHeader& header) {
  PartReader reader(path_);
  const std::string changed = difference(reader.header(), header);
  if (!changed.empty() || reader.header().shard.rank != header.shard.rank) {
    throw UsageError(fmt::format(
        "{}: was begun with {}: give the same to go on, --force to begin anew, or another --output",
        printable(path_), changed.empty() ? "another part's photos" : changed));
  }
  while (const std::optional<Json> batch = reader.next()) count(*batch);
  if (::ftruncate(::fileno(file_.get()), static_cast<off_t>(reader.position())) != 0)
    throw UsageError(fmt::format("{}: can't be shortened: {}", printable(path_), reason()));
}

void PartWriter::count(const Json& batch) {
  photos_ += batch.size();
  for (const Json& photo : batch) failed_ += photo.is_object() && photo.contains("error") ? 1 : 0;
}

void PartWriter::append(const Json& batch) {
  write_line(batch);
  count(batch);
}

void PartWriter::write_line(const Json& json) {
  const std::string line = line_of(json);
  const bool written = std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size() &&
                       std::fflush(file_.get()) == 0 && ::fdatasync(::fileno(file_.get())) == 0;
  if (!written)
    throw FailureError(fmt::format("{}: writing failed: {}", printable(path_), reason()));
}

}  // namespace vitascope::app
