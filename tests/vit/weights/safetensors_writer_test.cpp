#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/golden.h"
#include "tests/vit/weights/safetensors_builder.h"
#include "vit/error.h"
#include "vit/weights/safetensors.h"

namespace vitascope::weights {
namespace {

using testing::ElementsAre;
using tests::bytes_of;
using tests::file_of;
using tests::text;

class WriteSafetensors : public tests::FolderTest {};

TEST_F(WriteSafetensors, WritesWhatPythonsWriterWrites) {
  // Python's own files, read and written again, must come out byte for byte: order, spacing,
  // padding.
  for (const char* name :
       {"models/hf-vit/model.safetensors", "models/hf-vit-bf16/model.safetensors",
        "models/timm-vit/model.safetensors", "models/hf-vit/expected.safetensors"}) {
    const StoredTensors read = read_safetensors(tests::golden(name));
    std::vector<TensorToWrite> tensors;
    for (const auto& [key, tensor] : read.tensors) {
      tensors.push_back({key, tensor.dtype, tensor.shape, tensor.bytes});
    }
    const std::string path = folder_ / "copy.safetensors";
    write_safetensors(path, tensors, read.metadata, true);
    EXPECT_TRUE(bytes_of(path) == bytes_of(tests::golden(name))) << name;
  }
}

TEST_F(WriteSafetensors, WritesMixedDTypesAligned) {
  const std::string data = "abcdefghijkl";
  const Bytes bytes = std::as_bytes(std::span(data));
  const std::string path = folder_ / "mixed.safetensors";
  write_safetensors(path,
                    {{"a", DType::u8, {3}, bytes.first(3)},
                     {"b", DType::f32, {1}, bytes.first(4)},
                     {"c", DType::i64, {1}, bytes.first(8)},
                     {"\"é\n", DType::f16, {2, 0}, bytes.first(0)},
                     {"e", DType::f16, {}, bytes.first(2)}},
                    {{"image", "b\xff.jpg"}}, false);
  const StoredTensors result = read_safetensors(path);
  EXPECT_EQ(result.tensors.size(), 5u);
  EXPECT_EQ(text(result.tensors.at("a").bytes), "abc");
  EXPECT_EQ(text(result.tensors.at("c").bytes), "abcdefgh");
  EXPECT_THAT(result.tensors.at("\"é\n").shape, ElementsAre(2, 0));
  EXPECT_EQ(result.metadata.at("image"), "b\xef\xbf\xbd.jpg")
      << "JSON holds no byte that is not UTF-8";
  for (const auto& [name, tensor] : result.tensors) {
    const auto offset = static_cast<std::size_t>(tensor.bytes.data() - tensor.file->bytes().data());
    EXPECT_EQ(offset % element_size(tensor.dtype), 0u) << name;
    EXPECT_TRUE(tensor.dtype != DType::i64 || offset % 8 == 0);
  }
}

TEST_F(WriteSafetensors, WriterReplacesOnlyWhenForcedAndChecksItsCaller) {
  const std::string path = write("old.safetensors", "old");
  EXPECT_THROW(write_safetensors(path, {}, {}, false), UsageError);
  EXPECT_EQ(bytes_of(path), "old");
  write_safetensors(path, {}, {}, true);
  EXPECT_EQ(bytes_of(path), file_of("{}      ", ""));

  const std::string data = "abcd";
  const TensorToWrite a{"a", DType::f32, {1}, std::as_bytes(std::span(data))};
  EXPECT_THROW(write_safetensors(path, {a, a}, {}, true), InternalError);
  EXPECT_THROW(write_safetensors(path, {{"a", DType::f32, {2}, a.bytes}}, {}, true), InternalError);
  EXPECT_THROW(write_safetensors(path, {{"__metadata__", DType::f32, {1}, a.bytes}}, {}, true),
               InternalError);
  EXPECT_EQ(bytes_of(path), file_of("{}      ", ""));
}

}  // namespace
}  // namespace vitascope::weights
