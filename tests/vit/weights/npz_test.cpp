#include "vit/weights/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/golden.h"
#include "tests/vit/weights/npy_builder.h"
#include "vit/error.h"
#include "vit/weights/safetensors.h"

namespace vitascope::weights {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::le;
using tests::literal;
using tests::npy;
using tests::zip_of;

/// The tensors keep a copy of `file` alive.
StoredTensors parse(const std::string& file) {
  const auto owner = std::make_shared<const std::string>(file);
  return parse_npz(std::as_bytes(std::span(*owner)), "a.npz", owner);
}

std::string error_of(const std::string& file) {
  try {
    parse(file);
  } catch (const InputError& error) {
    EXPECT_EQ(error.path(), "a.npz");
    return error.message();
  }
  return "no error";
}

std::string text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

float element(const StoredTensor& tensor, std::size_t index) {
  float value = 0;
  std::memcpy(&value, tensor.bytes.data() + 4 * index, 4);
  return value;
}

/// `npz`'s kernel [in, out] (its axes behind the first, or before the last, taken together) is the
/// transpose of `torch`'s [out, in].
void expect_transposed(const StoredTensor& npz, const StoredTensor& torch,
                       const std::string& name) {
  ASSERT_TRUE(npz.strides.empty());
  const auto out = static_cast<std::size_t>(torch.shape[0]);
  const auto in = static_cast<std::size_t>(torch.shape[1]);
  ASSERT_EQ(npz.bytes.size(), torch.bytes.size()) << name;
  for (std::size_t i = 0; i < in; ++i) {
    for (std::size_t o = 0; o < out; ++o) {
      ASSERT_EQ(element(npz, i * out + o), element(torch, o * in + i)) << name;
    }
  }
}

TEST(ReadNpz, HoldsTheWeightsOfTheSameModelInTransformersLayout) {
  const StoredTensors npz = read_npz(tests::golden("models/augreg-npz/model.npz"));
  const StoredTensors torch = read_safetensors(tests::golden("models/hf-vit/model.safetensors"));
  const auto& a = npz.tensors;
  const auto& b = torch.tensors;
  EXPECT_THAT(npz.notes, IsEmpty());
  EXPECT_EQ(text(a.at("cls").bytes), text(b.at("vit.embeddings.cls_token").bytes));
  EXPECT_EQ(text(a.at("head/bias").bytes), text(b.at("classifier.bias").bytes));
  EXPECT_EQ(text(a.at("Transformer/posembed_input/pos_embedding").bytes),
            text(b.at("vit.embeddings.position_embeddings").bytes));
  expect_transposed(a.at("head/kernel"), b.at("classifier.weight"), "head");
  for (const std::string n : {"0", "1"}) {
    const std::string block = "Transformer/encoderblock_" + n + "/";
    const std::string layer = "vit.encoder.layer." + n + ".";
    const std::string attention = block + "MultiHeadDotProductAttention_1/";
    for (const std::string part : {"query", "key", "value"}) {
      EXPECT_THAT(a.at(attention + part + "/kernel").shape,
                  ElementsAre(48, testing::_, testing::_));
      expect_transposed(a.at(attention + part + "/kernel"),
                        b.at(layer + "attention.attention." + part + ".weight"), part);
    }
    expect_transposed(a.at(attention + "out/kernel"), b.at(layer + "attention.output.dense.weight"),
                      "out");
    expect_transposed(a.at(block + "MlpBlock_3/Dense_0/kernel"),
                      b.at(layer + "intermediate.dense.weight"), "Dense_0");
    EXPECT_EQ(text(a.at(block + "LayerNorm_0/scale").bytes),
              text(b.at(layer + "layernorm_before.weight").bytes));
  }
  EXPECT_THAT(a.at("embedding/kernel").shape, ElementsAre(8, 8, 3, 48));
  for (const auto& [name, tensor] : a) EXPECT_TRUE(tensor.file) << name << ": mapped, not copied";
}

TEST(ParseNpz, ReadsDTypesShapesAndVersions) {
  const std::pair<const char*, DType> dtypes[] = {
      {"<f8", DType::f64}, {"<f4", DType::f32}, {"<f2", DType::f16},
      {"<i8", DType::i64}, {"<i4", DType::i32}, {"<i2", DType::i16},
      {"|i1", DType::i8},  {"|u1", DType::u8},  {"|b1", DType::boolean}};
  for (const auto& [descr, dtype] : dtypes) {
    const std::string data(6 * element_size(dtype), 'x');
    const StoredTensors result =
        parse(zip_of({{"a/b.npy", npy(literal(descr, "False", "(2, 3)"), data)}}));
    EXPECT_EQ(result.tensors.at("a/b").dtype, dtype);
    EXPECT_THAT(result.tensors.at("a/b").shape, ElementsAre(2, 3));
    EXPECT_EQ(text(result.tensors.at("a/b").bytes), data);
  }
  const std::string scalar = literal("<f4", "False", "()");
  const StoredTensors result =
      parse(zip_of({{"scalar.npy", npy(scalar, "abcd")},
                    {"one.npy", npy(literal("<f4", "False", "(1,)"), "abcd")},
                    {"long.npy", npy(literal("<f4", "False", "(1L, 1L)"), "abcd")},
                    {"empty.npy", npy(literal("<f4", "True", "(0, 3)"), "")},
                    {"v2.npy", "\x93NUMPY" + le(2, 2) + le(scalar.size(), 4) + scalar + "abcd"},
                    {"v3.npy", "\x93NUMPY" + le(3, 2) + le(scalar.size(), 4) + scalar + "abcd"},
                    {"deflated.npy", npy(scalar, "abcd"), true},
                    {"notes.txt", "hello"}}));
  EXPECT_THAT(result.tensors.at("scalar").shape, IsEmpty());
  EXPECT_THAT(result.tensors.at("one").shape, ElementsAre(1));
  EXPECT_THAT(result.tensors.at("long").shape, ElementsAre(1, 1));
  EXPECT_THAT(result.tensors.at("empty").shape, ElementsAre(0, 3));
  for (const char* name : {"v2", "v3", "deflated"}) {
    EXPECT_EQ(text(result.tensors.at(name).bytes), "abcd") << name;
  }
  EXPECT_TRUE(result.tensors.at("deflated").owner);
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("notes.txt")));
}

TEST(ParseNpz, FortranOrderBecomesStrides) {
  const StoredTensors result =
      parse(zip_of({{"a.npy", npy(literal("|u1", "True", "(2, 3, 4)"), std::string(24, 'x'))},
                    {"row.npy", npy(literal("|u1", "True", "(1, 3, 1)"), "xyz")}}));
  EXPECT_THAT(result.tensors.at("a").strides, ElementsAre(1, 2, 6));
  EXPECT_THAT(result.tensors.at("row").strides, IsEmpty()) << "one axis has no order";
}

TEST(ParseNpz, ShapesThatDoNotFitTheDataAreErrors) {
  const std::pair<std::string, const char*> headers[] = {
      {literal("<f4", "False", "(9223372036854775807, 2)"), "63 bits"},
      {literal("<f4", "False", "(2,)"), "do not make shape [2]"},
      {literal("<f8", "False", "(1,)"), "do not make shape [1]"},
      {literal("<f4", "False", "(0,)"), "do not make shape [0]"},
      // 2^62 elements of 4 bytes are 0 bytes in 64-bit arithmetic.
      {literal("<f4", "False", "(4611686018427387904,)"), "do not make shape"},
  };
  for (const auto& [header, message] : headers) {
    const std::string error = error_of(zip_of({{"a.npy", npy(header, "abcd")}}));
    EXPECT_THAT(error, HasSubstr(message)) << header;
    EXPECT_THAT(error, HasSubstr("array 'a.npy', whose entry begins at byte")) << header;
  }
}

TEST(ParseNpz, OtherFilesAreErrors) {
  EXPECT_THAT(error_of(zip_of({{"a.npy", npy(literal("<f4", "False", "(1,)"), "abcde")}})),
              HasSubstr("5 bytes at byte"));
  EXPECT_THAT(error_of(""), HasSubstr("no zip directory"));
  EXPECT_THAT(error_of(zip_of({})), HasSubstr("without any .npy"));
  EXPECT_THAT(error_of(zip_of({{"a.txt", "hello"}})), HasSubstr("without any .npy"));
  EXPECT_THAT(error_of(zip_of({{"a.npy", ""}})), HasSubstr("magic"));
  EXPECT_THROW(read_npz(tests::golden("models")), InputError);
  EXPECT_THROW(read_npz(tests::golden("models/absent.npz")), InputError);
  EXPECT_THROW(read_npz(tests::golden("models/hf-vit/model.safetensors")), InputError);
}

TEST(ParseNpz, EveryTruncationOfAnArrayIsAnError) {
  const std::string whole = npy(literal("<f4", "False", "(2, 1)"), "abcdefgh");
  ASSERT_EQ(error_of(zip_of({{"a.npy", whole}})), "no error");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(error_of(zip_of({{"a.npy", whole.substr(0, size)}})), "no error") << size;
  }
}

}  // namespace
}  // namespace vitascope::weights
