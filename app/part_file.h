#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/sampling_order.h"
#include "vit/file.h"
#include "vit/json.h"

/// \file
/// What one shard found, as a file that grows by a line a batch and can be gone on with. Each line
/// is the CRC-32 of the rest of it in hexadecimal, a space, and JSON: in the first line the header,
/// in each other one the list of a batch's photos, {index, path, ...} or {index, path, error}.
namespace vitascope::app {

/// What a part is of.
struct PartHeader {
  std::string command;      ///< classify, evaluate
  std::string program;      ///< version
  std::string list;         ///< \see list_key
  std::string model;        ///< \see model_key
  std::string recipe;       ///< the options that results depend on, as fixed_recipe gives them
  datasets::Shard shard{};  ///< which part of how many
  std::size_t photos = 0;   ///< of the whole list
  std::size_t batch_size = 1;
  int failed_inputs = 0;  ///< what was named beside the photos and is none
  Json details;           ///< what the results need that no photo says
};

/// How two headers differ that should be of one run, in words: "another model"; empty when they
/// don't. The number of the part may differ.
std::string difference(const PartHeader& before, const PartHeader& now);

/// "part 2 of 4".
std::string part_name(datasets::Shard shard);

/// The file of a part: "results.csv.part-2-of-4".
std::string part_path(std::string output, datasets::Shard shard);

/// The list of photos in a few characters: their number and a checksum.
std::string list_key(const std::vector<std::string>& lines);

/// Text that may not be UTF-8, as file names may be: then a list of bytes.
Json bytes_json(const std::string& text);
/// \throws Json::exception when `value` is none of bytes_json
std::string bytes_of(const Json& value);

/// Reads a part from its beginning.
class PartReader {
 public:
  /// \throws InputError when the file is no part, or its header is damaged
  explicit PartReader(const std::string& path);

  const std::string& path() const { return file_->path(); }
  const PartHeader& header() const { return header_; }

  /// The photos of the next batch; nothing behind the last whole line.
  /// \throws InputError when the line is damaged
  std::optional<Json> next();

  /// Of the line that was read last, from 1.
  std::size_t line() const { return line_; }
  /// Bytes up to the end of that line.
  std::size_t position() const { return position_; }

 private:
  std::optional<Json> next_line();

  std::shared_ptr<const MappedFile> file_;
  std::size_t position_ = 0, line_ = 0;
  PartHeader header_;
};

/// Begins a part, or goes on with it behind the last batch that it holds; a half-written line is
/// dropped. While it lives no other process can write the part.
class PartWriter {
 public:
  /// \param force begin anew whatever the file holds
  /// \throws UsageError when the file can't be written, another process writes it, or it was begun
  ///         with other options, photos or another model; InputError when it is damaged
  PartWriter(std::string path, const PartHeader& header, bool force);

  const std::string& path() const { return path_; }
  /// Photos that the part holds, those that failed too.
  std::size_t photos() const { return photos_; }
  /// Photos that failed.
  int failed() const { return failed_; }

  /// Adds a batch, which is on the disk when this returns.
  /// \throws FailureError when writing fails
  void append(const Json& batch);

 private:
  void write_line(const Json& json);
  void go_on(const PartHeader& header);
  void count(const Json& batch);

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::size_t photos_ = 0;
  int failed_ = 0;
};

}  // namespace vitascope::app
