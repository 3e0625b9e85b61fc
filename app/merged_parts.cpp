#include "app/merged_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

/// \throws UsageError naming parts that are there twice or not of the run of the first one
void check_together(const std::vector<PartReader>& readers) {
  for (std::size_t i = 1; i < readers.size(); ++i) {
    const PartReader& before = readers[i - 1];
    const PartReader& one = readers[i];
    const std::string changed = difference(readers.front().header(), one.header());
    if (!changed.empty()) {
      throw UsageError(fmt::format("{} and {} are of different runs, the first one of {}",
                                   printable(readers.front().path()), printable(one.path()),
                                   changed));
    }
    if (one.header().shard.rank == before.header().shard.rank) {
      throw UsageError(fmt::format("{} and {} are both {}", printable(before.path()),
                                   printable(one.path()), part_name(one.header().shard)));
    }
  }
}

/// \throws UsageError naming the parts that are not there
void check_all_there(const std::vector<PartReader>& readers) {
  constexpr std::size_t kMostNamed = 8;
  const std::size_t parts = readers.front().header().shard.processes;
  if (readers.size() == parts) return;
  std::vector<std::size_t> missing;
  auto reader = readers.begin();
  for (std::size_t rank = 0; rank < parts && missing.size() < kMostNamed; ++rank) {
    if (reader != readers.end() && reader->header().shard.rank == rank) {
      ++reader;
    } else {
      missing.push_back(rank + 1);
    }
  }
  const std::size_t count = parts - readers.size();
  throw UsageError(fmt::format("{} of {} parts {} missing: {}{}", count, parts,
                               count == 1 ? "is" : "are", fmt::join(missing, ", "),
                               count > missing.size() ? ", ..." : ""));
}

/// Reads the batch of these positions.
/// \throws InputError when the part has it not, or other photos in its place
Json batch_of(PartReader& reader, std::size_t begin, std::size_t end) {
  std::optional<Json> batch = reader.next();
  if (!batch) {
    throw InputError(reader.path(), fmt::format("{} is not finished, photo {} of the list is "
                                                "missing: its command goes on where it stopped",
                                                part_name(reader.header().shard), begin + 1));
  }
  bool fits = batch->is_array() && batch->size() == end - begin;
  for (std::size_t i = begin; fits && i < end; ++i) {
    const Json& photo = (*batch)[i - begin];
    fits = photo.is_object() && photo.value("index", Json()) == i && photo.contains("path");
  }
  if (!fits) {
    throw InputError(reader.path(), fmt::format("line {} does not hold photos {} to {} of the list",
                                                reader.line(), begin + 1, end));
  }
  return std::move(*batch);
}

}  // namespace

Parts::Parts(const std::vector<std::string>& paths) {
  if (paths.empty())
    throw UsageError("no parts are given; name all files of a run, as in results.csv.part-*");
  readers_.reserve(paths.size());
  for (const std::string& path : paths) readers_.emplace_back(path);
  std::ranges::stable_sort(readers_, {},
                           [](const PartReader& one) { return one.header().shard.rank; });
  check_together(readers_);
  check_all_there(readers_);
}

void Parts::for_each(const std::function<void(const Json&)>& use) const {
  std::vector<PartReader> readers = readers_;
  const PartHeader& run = header();
  std::size_t turn = 0;
  for (std::size_t begin = 0; begin < run.photos; begin += run.batch_size, ++turn) {
    PartReader& reader = readers[turn % readers.size()];
    const Json batch = batch_of(reader, begin, std::min(begin + run.batch_size, run.photos));
    try {
      for (const Json& photo : batch) use(photo);
    } catch (const Json::exception&) {
      throw InputError(reader.path(), fmt::format("line {} is none that '{}' writes", reader.line(),
                                                  printable(run.command)));
    }
  }
  for (PartReader& reader : readers) {
    if (reader.next()) {
      throw InputError(reader.path(), fmt::format("line {} holds photos that are not {}'s",
                                                  reader.line(), part_name(reader.header().shard)));
    }
  }
}

}  // namespace vitascope::app
