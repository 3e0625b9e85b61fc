#include "vit/weights/safetensors.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "tests/golden.h"
#include "tests/vit/weights/safetensors_builder.h"
#include "vit/error.h"

namespace vitascope::weights {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::entry;
using tests::file_of;
using tests::text;

class ReadSafetensorsFiles : public tests::FolderTest {};

StoredTensors parse(const std::string& file) {
  return parse_safetensors(std::as_bytes(std::span(file)), "a.safetensors", nullptr);
}

std::string error_of(const std::string& file) {
  try {
    parse(file);
  } catch (const InputError& error) {
    EXPECT_EQ(error.path(), "a.safetensors");
    return error.message();
  }
  return "no error";
}

TEST(ParseSafetensors, ReadsEveryDType) {
  std::string header = "{";
  std::size_t offset = 0;
  for (const DType dtype : {DType::f64, DType::i64, DType::f32, DType::i32, DType::f16, DType::bf16,
                            DType::i16, DType::i8, DType::u8, DType::boolean}) {
    const std::size_t end = offset + 3 * element_size(dtype);
    header +=
        entry(dtype_name(dtype), dtype_name(dtype), "[3,1]", fmt::format("[{},{}]", offset, end));
    header += ',';
    offset = end;
  }
  header.back() = '}';
  std::string data(offset, '\0');
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i);

  const std::string file = file_of(header, data);
  const StoredTensors result = parse(file);
  ASSERT_EQ(result.tensors.size(), 10u);
  std::string joined;
  for (const char* name : {"F64", "I64", "F32", "I32", "F16", "BF16", "I16", "I8", "U8", "BOOL"}) {
    const StoredTensor& tensor = result.tensors.at(name);
    EXPECT_STREQ(dtype_name(tensor.dtype), name);
    EXPECT_THAT(tensor.shape, ElementsAre(3, 1));
    EXPECT_TRUE(tensor.strides.empty());
    EXPECT_GE(tensor.bytes.data(), static_cast<const void*>(file.data())) << "views, not copies";
    joined += text(tensor.bytes);
  }
  EXPECT_EQ(joined, data);
}

TEST(ParseSafetensors, ReadsScalarsEmptyTensorsMetadataAndOddAlignment) {
  // 'odd' begins at an odd byte of the file, and the header is padded with spaces.
  const std::string header = "{\"__metadata__\":{\"format\":\"pt\",\"x\":\"\\u00e9\"}," +
                             entry("empty", "F32", "[0,4]", "[0,0]") + "," +
                             entry("byte", "U8", "[]", "[0,1]") + "," +
                             entry("odd", "F32", "[1]", "[1,5]") + "}   ";
  const std::string file = file_of(header, "abcde");
  const StoredTensors result = parse(file);
  EXPECT_EQ(result.metadata.at("format"), "pt");
  EXPECT_EQ(result.metadata.at("x"), "é");
  EXPECT_TRUE(result.tensors.at("empty").bytes.empty());
  EXPECT_EQ(text(result.tensors.at("byte").bytes), "a");
  EXPECT_TRUE(result.tensors.at("byte").shape.empty());
  EXPECT_EQ(text(result.tensors.at("odd").bytes), "bcde");
  EXPECT_THAT(result.files, ElementsAre("a.safetensors"));
}

TEST(ParseSafetensors, AFileWithoutTensorsIsValid) {
  EXPECT_TRUE(parse(file_of("{}", "")).tensors.empty());
}

TEST(ParseSafetensors, NamesTheFaultOfABadLength) {
  EXPECT_THAT(error_of(""), HasSubstr("0 bytes"));
  EXPECT_THAT(error_of("1234567"), HasSubstr("7 bytes"));
  EXPECT_THAT(error_of(file_of("{}", "", 3)), HasSubstr("cut short"));
  EXPECT_THAT(error_of(file_of("{}", "", UINT64_MAX - 1)), HasSubstr("above the limit"));
  EXPECT_THAT(error_of(file_of("{}", "", 100'000'001)), HasSubstr("above the limit"));
  EXPECT_THAT(error_of(file_of("{}", "", 100'000'000)), HasSubstr("cut short"));
}

TEST(ParseSafetensors, NamesTheFaultOfABadHeader) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "byte 8 of the file"},
      {"{", "byte 8 of the file"},
      {"nonsense", "byte 8 of the file"},
      {"[]", "not a JSON object"},
      {R"({"a":1})", "tensor 'a'"},
      {R"({"a":{"shape":[],"data_offsets":[0,4]}})", "dtype is missing"},
      {R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", "shape is missing"},
      {R"({"a":{"dtype":"F32","shape":[]}})", "data_offsets is missing"},
      {R"({"a":{"dtype":7,"shape":[],"data_offsets":[0,4]}})", "dtype is not a string"},
      {"{" + entry("a", "F8_E4M3", "[4]", "[0,4]") + "}", "dtype F8_E4M3 is not supported"},
      {"{" + entry("a", "U32", "[1]", "[0,4]") + "}", "dtype U32 is not supported"},
      {"{" + entry("a", "f32", "[1]", "[0,4]") + "}", "dtype f32 is not supported"},
      {"{" + entry("a", "F32", "4", "[0,4]") + "}", "shape is not an array"},
      {"{" + entry("a", "F32", "[-1]", "[0,4]") + "}", "not a size"},
      {"{" + entry("a", "F32", "[1.0]", "[0,4]") + "}", "not a size"},
      {"{" + entry("a", "F32", "[18446744073709551615]", "[0,4]") + "}", "not a size"},
      {"{" + entry("a", "F32", "[18446744073709551617]", "[0,4]") + "}", "not a size"},
      {"{" + entry("a", "F32", "[4294967296,4294967296]", "[0,4]") + "}", "63 bits"},
      // 2^62 four-byte elements take 2^64 bytes, which is 0 in 64-bit arithmetic.
      {"{" + entry("a", "F32", "[4611686018427387904]", "[0,0]") + "}", "do not make shape"},
      {"{" + entry("a", "F32", "[1]", "[0,4,4]") + "}", "data_offsets is not"},
      {"{" + entry("a", "F32", "[1]", "[-4,0]") + "}", "data_offsets is not"},
      {"{" + entry("a", "F32", "[1]", "[0,8]") + "}", "lie outside the 4 bytes"},
      {"{" + entry("a", "F32", "[1]", "[4,0]") + "}", "lie outside"},
      {"{" + entry("a", "F32", "[1]", "[18446744073709551612,18446744073709551615]") + "}",
       "lie outside"},
      {"{" + entry("a", "F32", "[2]", "[0,4]") + "}", "4 bytes at byte"},
      {"{" + entry("a", "F32", "[1]", "[0,3]") + "}", "3 bytes at byte"},
      {"{" + entry("a", "I16", "[1]", "[0,3]") + "}", "3 bytes at byte"},
      {R"({"__metadata__":[]})", "__metadata__"},
      {R"({"__metadata__":{"a":1}})", "'a' is not a string"},
  };
  for (const auto& [header, message] : cases) {
    EXPECT_THAT(error_of(file_of(header, "abcd")), HasSubstr(message)) << header;
  }
}

TEST(ParseSafetensors, RefusesATensorTwice) {
  const std::string a = entry("a", "F32", "[1]", "[0,4]");
  EXPECT_THAT(error_of(file_of("{" + a + "," + a + "}", "abcd")), HasSubstr("byte 8 of the file"));
}

TEST(ParseSafetensors, RefusesOverlapsHolesAndBytesThatNoTensorOwns) {
  const auto two = [](const std::string& a, const std::string& b) {
    return "{" + entry("a", "U8", "[4]", a) + "," + entry("b", "U8", "[4]", b) + "}";
  };
  EXPECT_EQ(error_of(file_of(two("[0,4]", "[4,8]"), "abcdefgh")), "no error");
  EXPECT_EQ(error_of(file_of(two("[4,8]", "[0,4]"), "abcdefgh")), "no error");
  EXPECT_THAT(error_of(file_of(two("[0,4]", "[3,7]"), "abcdefg")), HasSubstr("overlap"));
  EXPECT_THAT(error_of(file_of(two("[0,4]", "[0,4]"), "abcd")), HasSubstr("overlap"));
  EXPECT_THAT(error_of(file_of(two("[0,4]", "[5,9]"), "abcdefghi")), HasSubstr("hole"));
  EXPECT_THAT(error_of(file_of(two("[1,5]", "[5,9]"), "abcdefghi")), HasSubstr("hole"));
  EXPECT_THAT(error_of(file_of(two("[0,4]", "[4,8]"), "abcdefghi")),
              HasSubstr("1 bytes after the last tensor"));
}

TEST(ParseSafetensors, EveryTruncationIsAnError) {
  const std::string file =
      file_of("{\"__metadata__\":{\"format\":\"pt\"}," + entry("a", "F32", "[1]", "[0,4]") + "," +
                  entry("b", "U8", "[2]", "[4,6]") + "}",
              "abcdef");
  ASSERT_EQ(error_of(file), "no error");
  for (std::size_t size = 0; size < file.size(); ++size) {
    // A copy of that very size, so that a sanitizer sees any read beyond it.
    EXPECT_NE(error_of(std::string(file.data(), size)), "no error") << size;
  }
}

TEST(ParseSafetensors, EscapesNamesInMessages) {
  EXPECT_THAT(error_of(file_of("{" + entry("\\u001b[2J", "F9", "[1]", "[0,4]") + "}", "abcd")),
              testing::Not(HasSubstr("\x1b")));
}

TEST(ParseSafetensors, KeepsTheOwner) {
  const auto owner = std::make_shared<int>(0);
  const std::string file = file_of("{" + entry("a", "U8", "[4]", "[0,4]") + "}", "abcd");
  const StoredTensors result = parse_safetensors(std::as_bytes(std::span(file)), "a", owner);
  EXPECT_EQ(result.tensors.at("a").owner, owner);
}

TEST(ReadSafetensors, MapsAGoldenFile) {
  const StoredTensors result = read_safetensors(tests::golden("models/hf-vit/model.safetensors"));
  const StoredTensor& bias = result.tensors.at("classifier.bias");
  ASSERT_TRUE(bias.file);
  EXPECT_GE(bias.bytes.data(), bias.file->bytes().data());
  EXPECT_LE(bias.bytes.data() + bias.bytes.size(),
            bias.file->bytes().data() + bias.file->bytes().size());
  EXPECT_THAT(result.tensors.at("vit.embeddings.patch_embeddings.projection.weight").shape,
              ElementsAre(48, 3, 8, 8));
  EXPECT_EQ(result.metadata.at("format"), "pt");
}

TEST(ReadSafetensors, ReadsEveryGoldenFile) {
  int files = 0;
  for (const auto& item : std::filesystem::recursive_directory_iterator(tests::golden("models"))) {
    if (item.path().extension() != ".safetensors") continue;
    EXPECT_FALSE(read_safetensors(item.path()).tensors.empty()) << item.path();
    ++files;
  }
  EXPECT_GE(files, 20);
}

TEST(ReadSafetensors, HalfPrecisionFilesHoldTheRoundedValues) {
  // bfloat16 is the upper half of a float, so the two files must agree to one unit of that half.
  const StoredTensors full = read_safetensors(tests::golden("models/hf-vit/model.safetensors"));
  const StoredTensors half =
      read_safetensors(tests::golden("models/hf-vit-bf16/model.safetensors"));
  ASSERT_EQ(full.tensors.size(), half.tensors.size());
  for (const auto& [name, tensor] : full.tensors) {
    const StoredTensor& other = half.tensors.at(name);
    ASSERT_EQ(other.dtype, DType::bf16);
    ASSERT_EQ(other.shape, tensor.shape);
    for (std::size_t i = 0; i < tensor.bytes.size() / 4; ++i) {
      std::uint32_t bits = 0;
      std::uint16_t rounded = 0;
      std::memcpy(&bits, tensor.bytes.data() + 4 * i, 4);
      std::memcpy(&rounded, other.bytes.data() + 2 * i, 2);
      const std::uint32_t nearest = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
      ASSERT_EQ(rounded, nearest) << name << " " << i;
    }
  }
}

TEST_F(ReadSafetensorsFiles, FilesThatAreNoneAreErrors) {
  EXPECT_THROW(read_safetensors(folder_), InputError);
  EXPECT_THROW(read_safetensors(folder_ / "absent"), InputError);
  EXPECT_THROW(read_safetensors(write("empty", "")), InputError);
  EXPECT_THROW(read_sharded_safetensors(folder_), InputError);
}

}  // namespace
}  // namespace vitascope::weights
