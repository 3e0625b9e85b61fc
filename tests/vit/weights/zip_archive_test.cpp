#include "vit/weights/zip_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/vit/weights/zip_builder.h"
#include "vit/error.h"

namespace vitascope::weights {
namespace {

using testing::HasSubstr;
using tests::le;
using tests::patch;
using tests::zip_of;

// Fields of the central directory's header and of the end record, from their signatures on.
constexpr std::size_t kFlags = 8, kMethod = 10, kCrc = 16, kCompressed = 20, kSize = 24,
                      kNameLength = 28, kExtraLength = 30, kDisk = 34, kOffset = 42;
constexpr std::size_t kEndDisk = 4, kEndEntries = 10, kEndSize = 12, kEndOffset = 16,
                      kEndComment = 20;

Bytes bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string read(const ZipArchive& archive, const std::string& name) {
  const ZipArchive::Entry* entry = archive.find(name);
  if (entry == nullptr) return "(absent)";
  const ZipArchive::Content content = archive.read(*entry);
  return {reinterpret_cast<const char*>(content.bytes.data()), content.bytes.size()};
}

/// Parses and reads all; the message of the error that ends it.
std::string error_of(const std::string& file) {
  try {
    const ZipArchive archive = ZipArchive::parse(bytes(file), "a.zip");
    for (const ZipArchive::Entry& entry : archive.entries()) archive.read(entry);
  } catch (const InputError& error) {
    EXPECT_EQ(error.path(), "a.zip");
    return error.message();
  }
  return "no error";
}

const std::vector<tests::ZipItem> kItems = {{"a/one", "first"},
                                            {"two", std::string(1000, 'x') + "y", true},
                                            {"empty", ""},
                                            {"empty too", "", true}};

TEST(ZipArchive, ReadsStoredAndDeflatedEntries) {
  for (const bool zip64 : {false, true}) {
    const std::string file = zip_of(kItems, zip64, "a comment");
    const ZipArchive archive = ZipArchive::parse(bytes(file), "a.zip");
    ASSERT_EQ(archive.entries().size(), 4u);
    for (const tests::ZipItem& item : kItems) EXPECT_EQ(read(archive, item.name), item.content);
    EXPECT_EQ(archive.find("three"), nullptr);
  }
}

TEST(ZipArchive, StoredEntriesAreViews) {
  const std::string file = zip_of(kItems);
  const ZipArchive archive = ZipArchive::parse(bytes(file), "a.zip");
  const ZipArchive::Content stored = archive.read(*archive.find("a/one"));
  EXPECT_EQ(stored.owner, nullptr);
  EXPECT_EQ(reinterpret_cast<const char*>(stored.bytes.data()), file.data() + file.find("first"));
  EXPECT_EQ(archive.find("a/one")->data_offset, file.find("first"));
  EXPECT_NE(archive.read(*archive.find("two")).owner, nullptr);
}

TEST(ZipArchive, AnEmptyArchiveHasNoEntries) {
  const std::string file = zip_of({});
  EXPECT_TRUE(ZipArchive::parse(bytes(file), "a.zip").entries().empty());
}

TEST(ZipArchive, EveryTruncationIsAnError) {
  for (const bool zip64 : {false, true}) {
    const std::string file = zip_of(kItems, zip64);
    for (std::size_t size = 0; size < file.size(); ++size) {
      EXPECT_NE(error_of(std::string(file.data(), size)), "no error") << size;
    }
  }
}

/// A change to one field and the error that it must give.
struct Lie {
  std::size_t field;
  int width;
  std::uint64_t value;
  const char* message;
};

TEST(ZipArchive, ADirectoryThatLiesIsAnError) {
  const Lie lies[] = {
      {0, 4, 0, "expected the header of a zip entry"},
      {kFlags, 2, 1, "encrypted"},
      {kMethod, 2, 12, "compressed by method 12"},
      {kCompressed, 4, 4, "two different sizes"},
      {kSize, 4, 4, "two different sizes"},
      {kCompressed, 8, 0x0fffffff0fffffff, "does not end before the directory"},
      {kNameLength, 2, 4, "is called 'a/one'"},
      {kNameLength, 2, 0xffff, "longer than the directory"},
      {kExtraLength, 2, 1, "expected the header of a zip entry"},
      {kExtraLength, 2, 0xffff, "longer than the directory"},
      {kDisk, 2, 1, "another disk"},
      {kOffset, 4, 1, "no local header"},
      {kOffset, 4, 0x7fffffff, "no local header"},
      {kOffset, 4, 0xffffffff, "no local header"},  // zip64, yet no such field
  };
  for (const Lie& lie : lies) {
    std::string file = zip_of(kItems);
    patch(file, file.find("PK\1\2") + lie.field, lie.width, lie.value);
    EXPECT_THAT(error_of(file), HasSubstr(lie.message)) << lie.field << " " << lie.value;
  }
}

TEST(ZipArchive, AnEndRecordThatLiesIsAnError) {
  const Lie lies[] = {
      {kEndDisk, 2, 1, "several disks"},
      {kEndEntries, 2, 5, "too many"},
      {kEndSize, 4, 205, "longer than the directory"},
      {kEndEntries, 2, 0xffff, "too many"},
      {kEndSize, 4, 0x7fffffff, "does not end before its end record"},
      {kEndOffset, 4, 0x7fffffff, "does not end before its end record"},
      {kEndOffset, 4, 0, "expected the header"},
      {kEndComment, 2, 7, "no zip directory"},
  };
  for (const Lie& lie : lies) {
    std::string file = zip_of(kItems);
    patch(file, file.find("PK\5\6") + lie.field, lie.width, lie.value);
    EXPECT_THAT(error_of(file), HasSubstr(lie.message)) << lie.field << " " << lie.value;
  }
}

TEST(ZipArchive, AZip64RecordThatLiesIsAnError) {
  const std::string good = zip_of(kItems, true);
  const std::size_t locator = good.find("PK\6\7");
  const std::size_t record = good.find("PK\6\6");
  const std::size_t field = good.find("PK\1\2") + 46 + 5 + 5;  // behind the name and another field
  const std::tuple<std::size_t, int, std::uint64_t, const char*> lies[] = {
      {locator + 8, 8, record + 1, "no zip64 end record"},
      {locator + 8, 8, UINT64_MAX, "no zip64 end record"},
      {locator + 8, 8, locator - 10, "no zip64 end record"},
      {record + 16, 4, 1, "several disks"},
      {record + 32, 8, UINT64_MAX, "too many"},
      {record + 40, 8, UINT64_MAX, "does not end before its end record"},
      {record + 48, 8, UINT64_MAX, "does not end before its end record"},
      {field + 2, 2, 1000, "damaged extra field"},
      {field + 2, 2, 7, "damaged extra field"},
      {field + 4, 8, UINT64_MAX, "two different sizes"},
      {field + 20, 8, UINT64_MAX, "no local header"},
  };
  for (const auto& [offset, width, value, message] : lies) {
    std::string file = good;
    patch(file, offset, width, value);
    EXPECT_THAT(error_of(file), HasSubstr(message)) << offset << " " << value;
  }
}

TEST(ZipArchive, RefusesAnEntryTwice) {
  EXPECT_THAT(error_of(zip_of({{"a", "1"}, {"a", "2"}})), HasSubstr("'a' twice"));
}

TEST(ZipArchive, RefusesEntriesThatOverlap) {
  // The content of the first entry is a local header, which the directory's second entry names.
  const std::string inner =
      "PK\3\4" + le(20, 2) + le(0, 4) + le(0, 12) + le(4, 4) + le(1, 2) + le(0, 2) + "b" + "data";
  std::string file = zip_of({{"a", inner}, {"b", "data"}});
  const std::size_t second = file.find("PK\1\2", file.find("PK\1\2") + 1);
  ASSERT_EQ(error_of(file), "no error");
  patch(file, second + kOffset, 4, file.find(inner));
  EXPECT_THAT(error_of(file), HasSubstr("overlap"));
}

TEST(ZipArchive, RefusesABomb) {
  // 64 KiB of zeros shrink by about a thousand; a directory that states more lies.
  const std::string zeros(1 << 16, '\0');
  const std::string good = zip_of({{"zeros", zeros, true}});
  EXPECT_EQ(error_of(good), "no error");
  const std::size_t compressed = tests::deflated(zeros).size();
  for (const std::uint64_t size : {compressed * 1032 + 1, std::size_t{0x7fffffff}}) {
    std::string file = good;
    patch(file, file.find("PK\1\2") + kSize, 4, size);
    EXPECT_THAT(error_of(file), HasSubstr("the limits are 1 GiB and 1032 times")) << size;
  }
}

TEST(ZipArchive, RefusesABombOfManyEntriesBeforeInflatingAny) {
  std::vector<tests::ZipItem> items;
  for (int i = 0; i < 40; ++i) items.push_back({std::to_string(i), std::string(1 << 15, 'a')});
  std::string file = zip_of(items);
  std::size_t header = 0;
  for (int i = 0; i < 40; ++i) {
    header = file.find("PK\1\2", header + 1);
    patch(file, header + kMethod, 2, 8);
    patch(file, header + kSize, 4, 1032 << 15);  // each within its limit, 1.4 GB together
  }
  EXPECT_THAT(error_of(file), HasSubstr("8 times the file"));
}

TEST(ZipArchive, RefusesBytesBehindTheEndOfDeflateData) {
  const std::string content = "content";
  std::string file = zip_of({{"a", content, true}, {"b", tests::deflated(content) + "more"}});
  const std::size_t first = file.find("PK\1\2");
  const std::size_t second = file.find("PK\1\2", first + 1);
  patch(file, second + kMethod, 2, 8);
  patch(file, second + kSize, 4, content.size());
  file.replace(second + kCrc, 4, file.substr(first + kCrc, 4));
  EXPECT_THAT(error_of(file), HasSubstr("does not inflate to the 7"));
  patch(file, second + kCompressed, 4, tests::deflated(content).size());
  EXPECT_EQ(error_of(file), "no error");
}

TEST(ZipArchive, RefusesDamagedDeflateData) {
  std::string content;
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) content.push_back(static_cast<char>('a' + random() % 7));
  const std::string good = zip_of({{"a", content, true}});
  ASSERT_EQ(error_of(good), "no error");
  const std::size_t header = good.find("PK\1\2");
  const std::size_t compressed = tests::deflated(content).size();
  const auto changed = [&](std::size_t field, std::uint64_t value) {
    std::string file = good;
    patch(file, header + field, 4, value);
    return error_of(file);
  };
  EXPECT_THAT(changed(kSize, 499), HasSubstr("does not inflate to the 499"));
  EXPECT_THAT(changed(kSize, 501), HasSubstr("does not inflate to the 501"));
  EXPECT_THAT(changed(kSize, 0), HasSubstr("does not inflate to the 0"));
  EXPECT_THAT(changed(kCompressed, compressed - 1), HasSubstr("does not inflate"));
  EXPECT_THAT(changed(kCompressed, 1), HasSubstr("does not inflate"));
  EXPECT_THAT(changed(kCrc, 7), HasSubstr("checksum"));
  for (std::size_t i = 0; i < compressed; ++i) {
    std::string file = good;
    file[good.find("pad") + 3 + i] ^= 0x55;
    EXPECT_THAT(error_of(file), HasSubstr("is damaged")) << i;
  }
}

}  // namespace
}  // namespace vitascope::weights
