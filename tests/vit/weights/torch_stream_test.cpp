#include "vit/weights/torch_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/golden.h"
#include "tests/vit/weights/torch_builder.h"

namespace vitascope::weights {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::archive_error;
using tests::dict;
using tests::floats;
using tests::integer;
using tests::parse_archive;
using tests::pickle;
using tests::storage;
using tests::tensor_of;
using tests::text;

const std::string kMagic("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);
const std::string kLittle = dict(text("little_endian") + "\x88");

std::string bytes_of(std::uint64_t count, int floats) {
  std::string data(reinterpret_cast<const char*>(&count), 8);
  for (int i = 0; i < floats; ++i) {
    const auto value = static_cast<float>(i);
    data.append(reinterpret_cast<const char*>(&value), 4);
  }
  return data;
}

/// A file of these pickles and storage '0'.
std::string stream(const std::string& root, const std::string& data,
                   const std::string& machine = kLittle, std::int64_t protocol = 1001) {
  return kMagic + pickle(integer(protocol)) + pickle(machine) + pickle(root) +
         pickle("](" + text("0") + "e") + data;
}

std::string one_tensor(std::int64_t elements, const std::string& type = "FloatStorage") {
  return dict(text("w") + tensor_of(storage(elements, type), 1, {2}, {2}));
}

TEST(TorchStream, WhatTorchSaved) {
  const StoredTensors saved = read_torch_archive(tests::golden("torch/legacy.pth"));
  const StoredTensors zip = read_torch_archive(tests::golden("torch/training.pth"));
  ASSERT_EQ(saved.tensors.size(), 2u);
  for (const auto& [name, tensor] : saved.tensors) {
    EXPECT_EQ(floats(tensor), floats(zip.tensors.at(name))) << name;
  }
}

TEST(TorchStream, TensorsAreViewsOfTheirStorage) {
  const StoredTensors result = parse_archive(stream(one_tensor(6), bytes_of(6, 6)));
  EXPECT_THAT(floats(result.tensors.at("w")), ElementsAre(1, 3));
}

TEST(TorchStream, WhatIsCutShortIsRefused) {
  const std::string whole = stream(one_tensor(6), bytes_of(6, 6));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(archive_error(whole.substr(0, size)), "no error") << size;
  }
  EXPECT_THAT(archive_error(whole.substr(0, whole.size() - 1)),
              HasSubstr("is cut short: 6 elements of F32 were expected, and 23 bytes are left"));
  EXPECT_THAT(archive_error(whole.substr(0, whole.size() - 25)), HasSubstr("its size is missing"));
}

TEST(TorchStream, StoragesThatContradictTheirTensorsAreRefused) {
  EXPECT_THAT(archive_error(stream(one_tensor(7), bytes_of(6, 6))),
              HasSubstr("has 6 elements, where its tensors expect 7"));
  EXPECT_THAT(archive_error(stream(one_tensor(INT64_MAX), bytes_of(INT64_MAX, 6))),
              HasSubstr("is cut short"));
  EXPECT_THAT(archive_error(stream(one_tensor(6, "ComplexFloatStorage"), bytes_of(6, 6))),
              HasSubstr("torch.ComplexFloatStorage"));
  EXPECT_THAT(archive_error(stream(dict(text("epoch") + integer(3)), bytes_of(6, 6))),
              HasSubstr("named by no tensor"));
}

TEST(TorchStream, OtherMachinesAndProtocolsAreRefused) {
  EXPECT_THAT(archive_error(stream(one_tensor(6), bytes_of(6, 6), kLittle, 1002)),
              HasSubstr("expected 1001"));
  const std::string big = dict(text("little_endian") + "\x89");
  EXPECT_THAT(archive_error(stream(one_tensor(6), bytes_of(6, 6), big)),
              HasSubstr("byte order is not little-endian"));
  EXPECT_THAT(archive_error(stream(one_tensor(6), bytes_of(6, 6), "N")),
              HasSubstr("does not describe the machine"));
}

}  // namespace
}  // namespace vitascope::weights
