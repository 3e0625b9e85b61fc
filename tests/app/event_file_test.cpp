#include "app/event_file.h"

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/cli/run_program.h"

namespace vitascope::app {
namespace {

using testing::ElementsAre;
using tests::TemporaryFolder;

/// CRC-32C bit by bit, as its definition says: polynomial 0x1EDC6F41, both ends reflected.
std::uint32_t crc_by_definition(const std::string& bytes) {
  std::uint32_t sum = 0xFFFFFFFF;
  for (const char byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      const std::uint32_t in = static_cast<unsigned char>(byte) >> bit & 1;
      const std::uint32_t out = sum >> 31;
      sum <<= 1;
      if ((in ^ out) != 0) sum ^= 0x1EDC6F41;
    }
  }
  std::uint32_t reflected = 0;
  for (int bit = 0; bit < 32; ++bit) reflected |= (sum >> bit & 1) << (31 - bit);
  return ~reflected;
}

template <typename Number>
Number number_at(const std::string& bytes, std::size_t offset) {
  Number number{};
  std::memcpy(&number, bytes.substr(offset, sizeof(number)).data(), sizeof(number));
  return number;
}

/// The data of the records, whose sums are checked.
std::vector<std::string> records(const std::string& bytes) {
  std::vector<std::string> found;
  const auto masked = [](std::uint32_t sum) { return (sum >> 15 | sum << 17) + 0xA282EAD8U; };
  for (std::size_t at = 0; at < bytes.size();) {
    const auto length = number_at<std::uint64_t>(bytes, at);
    EXPECT_EQ(number_at<std::uint32_t>(bytes, at + 8),
              masked(crc_by_definition(bytes.substr(at, 8))));
    found.push_back(bytes.substr(at + 12, length));
    EXPECT_EQ(number_at<std::uint32_t>(bytes, at + 12 + length),
              masked(crc_by_definition(found.back())));
    at += length + 16;
  }
  return found;
}

TEST(Crc32c, HasTheCheckValueOfItsDefinition) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);  // RFC 3720, appendix B.4
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
}

TEST(EventRecord, IsTheProtocolBufferOfAnEvent) {
  const std::string bytes =
      event_record({.wall_time = 1.5, .step = 300, .values = {{"loss/train", 0.25}}});
  const std::vector<std::string> data = records(bytes);
  ASSERT_EQ(data.size(), 1u);
  // Keys are field << 3 | wire type; doubles and floats lie as they are in memory.
  const std::string expected(
      "\x09\x00\x00\x00\x00\x00\x00\xF8\x3F"  // wall_time = 1: double 1.5
      "\x10\xAC\x02"                          // step = 2: varint 300
      "\x2A\x13"                              // summary = 5, 19 bytes
      "\x0A\x11"                              //   value = 1, 17 bytes
      "\x0A\x0Aloss/train"                    //     tag = 1
      "\x15\x00\x00\x80\x3E",                 //     simple_value = 2: float 0.25
      33);
  EXPECT_EQ(data[0], expected);
}

TEST(EventRecord, TheFirstOneNamesTheVersion) {
  const std::vector<std::string> data = records(event_version_record(0));
  ASSERT_EQ(data.size(), 1u);
  EXPECT_EQ(data[0], std::string("\x09\0\0\0\0\0\0\0\0\x1A\x0D"
                                 "brain.Event:2",
                                 24));
}

/// The bytes of the only event file in a folder.
std::string only_file(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().string().find("tfevents") != std::string::npos) {
      paths.push_back(entry.path().string());
    }
  }
  EXPECT_EQ(paths.size(), 1u);
  return paths.empty() ? "" : tests::file_text(paths[0]);
}

TEST(EventFile, GrowsByRecordsAndReplacesThatOfAnEarlierProcess) {
  const TemporaryFolder folder;
  const ScalarEvent first{.wall_time = 1, .step = 1, .values = {{"a", 1}}};
  const ScalarEvent second{.wall_time = 2, .step = 2, .values = {{"a", 2}}};
  EventFile file(folder.path());
  file.begin({});
  file.add(first);
  file.add(second);
  EXPECT_EQ(records(only_file(folder.path())).size(), 3u);
  // Another process would have another number.
  folder.write("events.out.tfevents.1000000000.host.1.vitascope", "torn");
  EventFile again(folder.path());
  again.begin({first});
  EXPECT_EQ(only_file(folder.path()), event_version_record(1) + event_record(first));
  // What others wrote stays.
  folder.write("events.out.tfevents.1000000000.host.1.0", "theirs");
  again.begin({});
  EXPECT_EQ(tests::file_text(folder / "events.out.tfevents.1000000000.host.1.0"), "theirs");
}

}  // namespace
}  // namespace vitascope::app
