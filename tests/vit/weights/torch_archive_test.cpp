#include "vit/weights/torch_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/golden.h"
#include "tests/vit/weights/torch_builder.h"
#include "vit/error.h"
#include "vit/weights/safetensors.h"

namespace vitascope::weights {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Pair;
using testing::UnorderedElementsAre;
using tests::archive;
using tests::archive_error;
using tests::call;
using tests::dict;
using tests::floats;
using tests::global;
using tests::integer;
using tests::pickle;
using tests::storage;
using tests::tensor_of;
using tests::text;
using tests::zip_of;
using tests::ZipItem;

std::string fixture(const std::string& name) { return tests::golden("torch/" + name); }

std::string read_error(const std::string& name) {
  try {
    read_torch_archive(fixture(name));
  } catch (const InputError& error) {
    return error.message();
  }
  return "no error";
}

std::string bytes_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(ReadTorchArchive, TwoWaysToSaveTheSameWeights) {
  const StoredTensors plain = read_torch_archive(tests::golden("models/timm-deit3-pth/model.pth"));
  const StoredTensors nested =
      read_torch_archive(tests::golden("models/timm-deit3-pth/checkpoint-7.pth"));
  EXPECT_THAT(plain.notes, IsEmpty());
  EXPECT_THAT(nested.notes, ElementsAre(HasSubstr("'state_dict'")));
  EXPECT_THAT(nested.metadata, Contains(Pair("epoch", "7")));
  EXPECT_THAT(nested.metadata, Contains(Key("arch")));
  ASSERT_GT(plain.tensors.size(), 20u);
  ASSERT_EQ(plain.tensors.size(), nested.tensors.size());
  for (const auto& [name, tensor] : plain.tensors) {
    const StoredTensor& other = nested.tensors.at(name);
    EXPECT_EQ(tensor.shape, other.shape) << name;
    EXPECT_EQ(bytes_text(tensor.bytes), bytes_text(other.bytes)) << name;
    EXPECT_TRUE(tensor.file) << "mapped, not copied";
    EXPECT_EQ(tensor.bytes.size(), 4 * static_cast<std::size_t>(element_count(tensor.shape)));
  }
}

TEST(ReadTorchArchive, ReadsEveryDType) {
  const StoredTensors result = read_torch_archive(fixture("dtypes.pth"));
  const std::pair<const char*, DType> dtypes[] = {
      {"float64", DType::f64},   {"float32", DType::f32}, {"float16", DType::f16},
      {"bfloat16", DType::bf16}, {"int64", DType::i64},   {"int32", DType::i32},
      {"int16", DType::i16},     {"int8", DType::i8},     {"uint8", DType::u8},
      {"bool", DType::boolean}};
  ASSERT_EQ(result.tensors.size(), std::size(dtypes));
  for (const auto& [name, dtype] : dtypes) {
    const StoredTensor& tensor = result.tensors.at(name);
    EXPECT_EQ(tensor.dtype, dtype) << name;
    EXPECT_THAT(tensor.shape, ElementsAre(2, 3));
    EXPECT_EQ(tensor.bytes.size(), 6 * element_size(dtype));
  }
  EXPECT_THAT(floats(result.tensors.at("float32")), ElementsAre(0, 1, 2, 3, 4, 5));
  // 5 as float16 is 0x4500, as bfloat16 0x40a0.
  EXPECT_EQ(bytes_text(result.tensors.at("float16").bytes).substr(10), std::string("\0\x45", 2));
  EXPECT_EQ(bytes_text(result.tensors.at("bfloat16").bytes).substr(10), "\xa0\x40");
  EXPECT_EQ(bytes_text(result.tensors.at("int8").bytes), std::string("\0\1\2\3\4\5", 6));
  EXPECT_EQ(bytes_text(result.tensors.at("bool").bytes), std::string("\0\1\0\1\0\1", 6));
}

TEST(ReadTorchArchive, ReadsEveryLayout) {
  const StoredTensors result = read_torch_archive(fixture("layouts.pth"));
  const auto values = [&](const char* name) { return floats(result.tensors.at(name)); };
  EXPECT_THAT(result.tensors.at("transposed").shape, ElementsAre(6, 4));
  EXPECT_THAT(result.tensors.at("transposed").strides, ElementsAre(1, 6));
  std::vector<double> transposed;
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 4; ++j) transposed.push_back(6 * j + i);
  }
  EXPECT_EQ(values("transposed"), transposed);
  EXPECT_THAT(values("columns"), ElementsAre(2, 3, 8, 9, 14, 15, 20, 21));
  EXPECT_THAT(values("rows"), ElementsAre(12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23));
  EXPECT_THAT(result.tensors.at("rows").strides, IsEmpty());
  EXPECT_THAT(values("one_row"), ElementsAre(6, 7, 8, 9, 10, 11));
  EXPECT_THAT(result.tensors.at("one_row").strides, IsEmpty());
  EXPECT_THAT(values("every_other"), ElementsAre(0, 3, 12, 15));
  EXPECT_THAT(values("scalar"), ElementsAre(5));
  EXPECT_THAT(result.tensors.at("scalar").shape, IsEmpty());
  EXPECT_THAT(values("empty"), IsEmpty());
  EXPECT_THAT(result.tensors.at("empty").shape, ElementsAre(0, 3));
  EXPECT_THAT(values("parameter"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(values("with_attribute"), ElementsAre(0, 1, 2));
  const StoredTensor& last = result.tensors.at("channels_last");
  EXPECT_THAT(last.strides, ElementsAre(24, 1, 8, 2));
  for (int i = 0; i < 24; ++i) EXPECT_EQ(floats(last)[i], i);
}

TEST(ReadTorchArchive, TrainingCheckpointsOfEveryProtocol) {
  for (const char* name : {"training.pth", "protocol3.pth", "protocol4.pth", "protocol5.pth"}) {
    const StoredTensors result = read_torch_archive(fixture(name));
    ASSERT_EQ(result.tensors.size(), 2u) << name;
    EXPECT_THAT(floats(result.tensors.at("w")), ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_THAT(result.metadata,
                UnorderedElementsAre(Pair("arch", "vit_tiny"), Pair("best", "true"),
                                     Pair("epoch", "3"), Pair("metric", "0.5")));
  }
}

TEST(ReadTorchArchive, NestedWeightsInTimmsOrder) {
  const auto first = [](const char* name) {
    return floats(read_torch_archive(fixture(name)).tensors.at("first"));
  };
  EXPECT_THAT(first("ema.pth"), ElementsAre(4));
  EXPECT_THAT(first("ema_none.pth"), ElementsAre(2));
}

TEST(ReadTorchArchive, StripsPrefixesThatEveryTensorCarries) {
  const StoredTensors result = read_torch_archive(fixture("prefixes.pth"));
  EXPECT_THAT(result.tensors, UnorderedElementsAre(Key("first"), Key("w")));
  EXPECT_THAT(result.notes,
              ElementsAre(HasSubstr("'module'"), HasSubstr("'module.'"), HasSubstr("'backbone.'")));
  EXPECT_THAT(read_torch_archive(fixture("prefix_of_some.pth")).tensors,
              UnorderedElementsAre(Key("backbone.w"), Key("head.w")));
}

TEST(ReadTorchArchive, AStateDictOfAModule) {
  EXPECT_THAT(read_torch_archive(fixture("module_state.pth")).tensors,
              UnorderedElementsAre(Key("weight"), Key("bias")));
}

TEST(ReadTorchArchive, WhatIsNoStateDictIsRefusedByName) {
  EXPECT_THAT(read_error("whole.pth"), HasSubstr("class __main__.Wrapped"));
  EXPECT_THAT(read_error("whole.pth"), HasSubstr("python3 -c \"import torch; x = torch.load('"));
  EXPECT_THAT(read_error("whole.pth"), HasSubstr("torch.save(x.state_dict(), 'weights.pth')\""));
  EXPECT_THAT(read_error("whole_nested.pth"), HasSubstr("torch.save(x['model'].state_dict(), "));
  EXPECT_THAT(read_error("script.pt"), HasSubstr("TorchScript"));
  EXPECT_THAT(read_error("script.pt"), HasSubstr("torch.jit.load("));
  EXPECT_THAT(read_error("teacher.pth"), HasSubstr("'student', 'teacher', 'epoch'"));
  EXPECT_THAT(read_error("one_tensor.pth"), HasSubstr("no dictionary of weights"));
  EXPECT_THAT(read_error("expanded.pth"), HasSubstr("does not fit its storage of 1 elements"));
  EXPECT_THAT(read_error("sparse.pth"), HasSubstr("_rebuild_sparse_tensor"));
  EXPECT_THAT(read_error("complex.pth"), HasSubstr("torch.ComplexFloatStorage"));
  EXPECT_THAT(read_error("float8.pth"), HasSubstr("torch.float8_e4m3fn"));
  EXPECT_THAT(read_error("uint16.pth"), HasSubstr("torch.uint16"));
}

TEST(ReadTorchArchive, OtherFilesAreRefused) {
  EXPECT_THROW(read_torch_archive(tests::golden("torch")), InputError);
  EXPECT_THROW(read_torch_archive(tests::golden("torch/absent.pth")), InputError);
  EXPECT_THROW(read_torch_archive(tests::golden("models/hf-vit/model.safetensors")), InputError);
  EXPECT_THROW(read_torch_archive(tests::golden("models/augreg-npz/model.npz")), InputError);
  EXPECT_THAT(archive_error(""), HasSubstr("is empty"));
  EXPECT_THAT(archive_error("text"), HasSubstr("no zip archive"));
  EXPECT_THAT(archive_error("PK"), HasSubstr("cut short"));
}

TEST(ParseTorchArchive, DamagedDictionariesAreErrors) {
  const std::string w = tensor_of(storage(6), 0, {6}, {1});
  EXPECT_THAT(archive_error(archive(dict(text("w") + w + text("w") + w))), HasSubstr("'w' twice"));
  EXPECT_THAT(archive_error(archive(dict(integer(1) + w))), HasSubstr("name is not text"));
  EXPECT_THAT(archive_error(archive("}")), HasSubstr("no tensors"));
  EXPECT_THAT(archive_error(archive(dict(text("state_dict") + "}"))), HasSubstr("no tensors"));
  EXPECT_THAT(archive_error(archive("N")), HasSubstr("no dictionary"));
  EXPECT_THAT(archive_error(archive("]")), HasSubstr("no dictionary"));
  EXPECT_THAT(archive_error(archive(w)), HasSubstr("no dictionary"));
  // A parameter may be called like a nested dictionary.
  EXPECT_EQ(archive_error(archive(dict(text("model") + w))), "no error");
  // A class derived from dict.
  EXPECT_EQ(
      archive_error(archive(call(global("collections", "defaultdict"), ")") + text("w") + w + "s")),
      "no error");
}

TEST(ParseTorchArchive, FaultsOfThePickleNameTheEntry) {
  EXPECT_THAT(archive_error(archive("z")), HasSubstr("in 'm/data.pkl', which begins at byte"));
  EXPECT_THAT(archive_error(archive("z")), HasSubstr("at byte 2 of the pickle: opcode 0x7a"));
}

TEST(ParseTorchArchive, ArchivesOfOtherKindsAreErrors) {
  const ZipItem data{"m/data.pkl", pickle("}")};
  EXPECT_THAT(archive_error(zip_of({})), HasSubstr("no data.pkl"));
  EXPECT_THAT(archive_error(zip_of({{"a/b/data.pkl", ""}})), HasSubstr("no data.pkl"));
  EXPECT_THAT(archive_error(zip_of({data, {"n/data.pkl", ""}})), HasSubstr("two pickles"));
  EXPECT_THAT(archive_error(zip_of({data, {"m/byteorder", "big"}})),
              HasSubstr("byte order is 'big'"));
  EXPECT_THAT(archive_error(zip_of({data, {"m/byteorder", std::string(17, 'x')}})),
              HasSubstr("byteorder"));
  EXPECT_THAT(archive_error(zip_of({data, {"m/constants.pkl", ""}})), HasSubstr("TorchScript"));
  EXPECT_THAT(archive_error(zip_of({data, {"m/code/a.py", ""}})), HasSubstr("TorchScript"));
  EXPECT_THAT(archive_error(zip_of({{"m/data.pkl", ""}})), HasSubstr("at byte 0 of the pickle"));
}

TEST(ParseTorchArchive, EveryTruncationIsAnError) {
  std::ifstream in(fixture("ema.pth"), std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(in), {}};
  ASSERT_EQ(archive_error(file), "no error");
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_NE(archive_error(std::string(file.data(), size)), "no error") << size;
  }
}

}  // namespace
}  // namespace vitascope::weights
