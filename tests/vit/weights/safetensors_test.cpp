#include "vit/weights/safetensors.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/golden.h"
#include "vit/error.h"

namespace vitascope::weights {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A file from its header and data; the stated length may lie.
std::string file_of(const std::string& header, const std::string& data,
                    std::uint64_t stated = UINT64_MAX) {
  if (stated == UINT64_MAX) stated = header.size();
  std::string file(8, '\0');
  for (int i = 0; i < 8; ++i) file[i] = static_cast<char>((stated >> (8 * i)) & 0xff);
  return file + header + data;
}

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

/// One tensor entry of a header.
std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":{}}})", name, dtype, shape,
                     offsets);
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A folder of this test, empty at its start and removed at its end.
class SafetensorsFiles : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& content) const {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      ("safetensors_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) +
       "_" + std::to_string(::getpid()));
};

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
      {"", "begins at byte 8"},
      {"{", "begins at byte 8"},
      {"nonsense", "begins at byte 8"},
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
      {R"({"__metadata__":[]})", "__metadata__"},
      {R"({"__metadata__":{"a":1}})", "'a' is not a string"},
  };
  for (const auto& [header, message] : cases) {
    EXPECT_THAT(error_of(file_of(header, "abcd")), HasSubstr(message)) << header;
  }
}

TEST(ParseSafetensors, RefusesATensorTwice) {
  const std::string a = entry("a", "F32", "[1]", "[0,4]");
  EXPECT_THAT(error_of(file_of("{" + a + "," + a + "}", "abcd")), HasSubstr("begins at byte 8"));
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

TEST(ReadShardedSafetensors, HoldsTheSameTensorsAsTheWholeFile) {
  const StoredTensors whole = read_safetensors(tests::golden("models/hf-vit/model.safetensors"));
  const StoredTensors shards =
      read_sharded_safetensors(tests::golden("models/hf-vit-sharded/model.safetensors.index.json"));
  EXPECT_EQ(shards.files.size(), 2u);
  ASSERT_EQ(shards.tensors.size(), whole.tensors.size());
  for (const auto& [name, tensor] : whole.tensors) {
    const StoredTensor& other = shards.tensors.at(name);
    EXPECT_EQ(other.shape, tensor.shape) << name;
    EXPECT_EQ(text(other.bytes), text(tensor.bytes)) << name;
  }
}

TEST_F(SafetensorsFiles, ShardsAreRefusedOutsideTheFolder) {
  const std::string good = file_of("{" + entry("a", "U8", "[4]", "[0,4]") + "}", "abcd");
  write("s.safetensors", good);
  for (const std::string shard : {"/etc/passwd", "../s.safetensors", "..", ".", "",
                                  "x/s.safetensors", "x\\\\s", "s\\u0000"}) {
    const std::string index =
        write("model.safetensors.index.json", R"({"weight_map":{"a":")" + shard + "\"}}");
    try {
      read_sharded_safetensors(index);
      ADD_FAILURE() << shard;
    } catch (const InputError& error) {
      EXPECT_THAT(error.message(), HasSubstr("own folder")) << shard;
    }
  }
}

TEST_F(SafetensorsFiles, ShardsMayBeSymbolicLinks) {
  std::filesystem::create_directories(folder_ / "blobs");
  write("blobs/0123", file_of("{" + entry("a", "U8", "[4]", "[0,4]") + "}", "abcd"));
  std::filesystem::create_directories(folder_ / "snapshots");
  std::filesystem::create_symlink("../blobs/0123", folder_ / "snapshots/s.safetensors");
  write("blobs/4567", R"({"weight_map":{"a":"s.safetensors"}})");
  std::filesystem::create_symlink("../blobs/4567", folder_ / "snapshots/i.json");
  const StoredTensors result = read_sharded_safetensors(folder_ / "snapshots/i.json");
  EXPECT_EQ(text(result.tensors.at("a").bytes), "abcd");
}

TEST_F(SafetensorsFiles, AnIndexThatDoesNotFitItsShardsIsAnError) {
  const auto shard = [](const std::string& name) {
    return file_of("{" + entry(name, "U8", "[4]", "[0,4]") + "}", "abcd");
  };
  write("1.safetensors", shard("a"));
  write("2.safetensors", shard("b"));
  write("3.safetensors", shard("a"));
  const std::pair<std::string, std::string> cases[] = {
      {R"({"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})", "no error"},
      {R"({"weight_map":{"b":"1.safetensors","a":"2.safetensors"}})", "not in the shard"},
      {R"({"weight_map":{"a":"1.safetensors","c":"2.safetensors"}})", "not in the shard"},
      {R"({"weight_map":{"a":"1.safetensors","c":"3.safetensors"}})", "held by two shards"},
      {R"({"weight_map":{"a":"missing.safetensors"}})", "missing.safetensors"},
      {R"({"weight_map":{"a":7}})", "not a string"},
      {R"({"weight_map":{}})", "names no tensors"},
      {R"({"weight_map":[]})", "weight_map"},
      {R"({"metadata":{}})", "weight_map"},
      {R"([])", "weight_map"},
  };
  for (const auto& [json, message] : cases) {
    std::string found = "no error";
    try {
      read_sharded_safetensors(write("i.json", json));
    } catch (const InputError& error) {
      found = error.what();
    }
    EXPECT_THAT(found, HasSubstr(message)) << json;
  }
}

TEST_F(SafetensorsFiles, FilesThatAreNoneAreErrors) {
  EXPECT_THROW(read_safetensors(folder_), InputError);
  EXPECT_THROW(read_safetensors(folder_ / "absent"), InputError);
  EXPECT_THROW(read_safetensors(write("empty", "")), InputError);
  EXPECT_THROW(read_sharded_safetensors(folder_), InputError);
}

TEST_F(SafetensorsFiles, WritesWhatPythonsWriterWrites) {
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

TEST_F(SafetensorsFiles, WritesMixedDTypesAligned) {
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

TEST_F(SafetensorsFiles, WriterReplacesOnlyWhenForcedAndChecksItsCaller) {
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
