#include "vit/weights/torch_storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/vit/weights/torch_builder.h"

namespace vitascope::weights {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::archive;
using tests::archive_error;
using tests::call;
using tests::dict;
using tests::floats;
using tests::global;
using tests::integer;
using tests::numbers;
using tests::parse_archive;
using tests::storage;
using tests::tensor_of;
using tests::text;
using tests::tuple;

TEST(TorchStorages, OtherWaysToNameATensor) {
  const std::string v2 = tensor_of(storage(6), 0, {6}, {1});
  const std::string old = call(global("torch._utils", "_rebuild_tensor"),
                               tuple(storage(6) + integer(1) + numbers({2}) + numbers({1})));
  const std::string size = call(global("torch", "Size"), tuple(numbers({2, 3})));
  const std::string sized = call(global("torch._utils", "_rebuild_tensor_v2"),
                                 tuple(storage(6) + integer(0) + size + numbers({3, 1}) + "\x89N"));
  const std::string from_type =
      call(global("torch._tensor", "_rebuild_from_type_v2"),
           tuple(global("torch._utils", "_rebuild_tensor") + global("m", "Subclass") +
                 tuple(storage(6) + integer(4) + numbers({2}) + numbers({1})) + "}"));
  const std::string untyped = tuple(text("storage") + global("torch.storage", "UntypedStorage") +
                                    text("0") + text("cpu") + integer(24)) +
                              "Q";
  const std::string v3 = call(global("torch._utils", "_rebuild_tensor_v3"),
                              tuple(untyped + integer(5) + numbers({1}) + numbers({1}) + "\x89N" +
                                    global("torch", "float32")));
  const StoredTensors result = parse_archive(
      archive(dict(text("v2") + v2 + text("old") + old + text("sized") + sized + text("type") +
                   from_type + text("v3") + v3 + text("parameter") +
                   call(global("torch._utils", "_rebuild_parameter"), tuple(old + "\x88N")))));
  EXPECT_THAT(floats(result.tensors.at("v2")), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(floats(result.tensors.at("old")), ElementsAre(1, 2));
  EXPECT_THAT(floats(result.tensors.at("parameter")), ElementsAre(1, 2));
  EXPECT_THAT(result.tensors.at("sized").shape, ElementsAre(2, 3));
  EXPECT_THAT(floats(result.tensors.at("type")), ElementsAre(4, 5));
  EXPECT_THAT(floats(result.tensors.at("v3")), ElementsAre(5));
}

TEST(TorchStorages, TheStrideOfASingleElementDoesNotMatter) {
  const StoredTensors result =
      parse_archive(archive(dict(text("row") + tensor_of(storage(6), 0, {1, 6}, {100, 1}))));
  EXPECT_THAT(result.tensors.at("row").strides, testing::IsEmpty());
  EXPECT_THAT(floats(result.tensors.at("row")), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(TorchStorages, ElementsOutsideTheStorageAreErrors) {
  struct Case {
    std::int64_t elements, offset;
    std::vector<std::int64_t> shape, strides;
    const char* message;
  };
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  const Case cases[] = {
      {6, 0, {2, 3}, {3, 1}, "no error"},
      {6, 5, {1}, {1}, "no error"},
      {6, 6, {0}, {1}, "no error"},
      {6, 0, {3}, {2}, "no error"},
      {5, 0, {6}, {1}, "does not fit"},
      {6, 1, {6}, {1}, "does not fit"},
      {6, 6, {1}, {1}, "does not fit"},
      {6, -1, {1}, {1}, "does not fit"},
      {6, INT64_MAX, {2}, {1}, "does not fit"},
      {6, 0, {4}, {2}, "does not fit"},
      {6, 5, {2}, {-1}, "does not fit"},
      {6, 0, {2}, {INT64_MAX}, "does not fit"},
      {6, 0, {3}, {kHuge}, "does not fit"},
      {6, 0, {2, 2, 2}, {kHuge, kHuge, kHuge}, "does not fit"},
      {6, 0, {5}, {kHuge}, "does not fit"},  // 4 * 2^62 is 0 in 64 bits
      {6, 0, {7}, {0}, "does not fit"},
      {6, 0, {kHuge, 2}, {0, 0}, "63 bits"},
      {6, 0, {kHuge}, {0}, "does not fit"},
      {6, 0, {-1}, {1}, "negative"},
      {6, 0, {2, 3}, {1}, "not numbers"},
      {7, 0, {6}, {1}, "too few for 7"},
      {INT64_MAX, 0, {6}, {1}, "too few for"},
      {-1, 0, {6}, {1}, "is damaged"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(archive_error(archive(dict(
                    text("w") + tensor_of(storage(c.elements), c.offset, c.shape, c.strides)))),
                HasSubstr(c.message))
        << c.elements << " " << c.offset << " " << testing::PrintToString(c.shape) << " "
        << testing::PrintToString(c.strides);
  }
}

TEST(TorchStorages, DamagedDescriptionsAreErrors) {
  const auto v2 = [](const std::string& arguments) {
    return call(global("torch._utils", "_rebuild_tensor_v2"), arguments);
  };
  const std::string shape = numbers({1}) + numbers({1});
  const auto id = [&](const std::string& items) {
    return v2(tuple(tuple(items) + "Q" + integer(0) + shape));
  };
  const std::string type = global("torch", "FloatStorage");
  const std::pair<std::string, const char*> cases[] = {
      {v2(")"), "incomplete"},
      {v2("N"), "incomplete"},
      {v2(tuple(storage(6) + integer(0) + numbers({1}))), "incomplete"},
      {v2(tuple("N" + integer(0) + shape)), "no reference to a storage"},
      {v2(tuple("NQ" + integer(0) + shape)), "is damaged"},
      {v2(tuple(storage(6) + "N" + shape)), "not numbers"},
      {v2(tuple(storage(6) + integer(0) + "N" + numbers({1}))), "not numbers"},
      {v2(tuple(storage(6) + integer(0) + tuple("N") + numbers({1}))), "not numbers"},
      {id(text("module") + type + text("0") + text("cpu") + integer(6)), "is damaged"},
      {id(text("storage") + "N" + text("0") + text("cpu") + integer(6)), "is damaged"},
      {id(text("storage") + type + integer(0) + text("cpu") + integer(6)), "is damaged"},
      {id(text("storage") + type + text("0") + text("cpu") + text("6")), "is damaged"},
      {id(text("storage") + type + text("0") + text("cpu")), "is damaged"},
      {id(text("storage") + type + text("0") + text("cpu") + integer(6) + tuple("N")),
       "is damaged"},
      {id(text("storage") + type + text("1") + text("cpu") + integer(6)), "storage '1' is not in"},
      {id(text("storage") + type + text("../version") + text("cpu") + integer(1)), "is not in"},
      {tensor_of(storage(1, "QInt8Storage"), 0, {1}, {1}), "torch.QInt8Storage"},
      {tensor_of(storage(1, "UntypedStorage"), 0, {1}, {1}), "torch.UntypedStorage"},
      {call(global("torch._utils", "_rebuild_qtensor"), ")"), "_rebuild_qtensor"},
      {call(global("torch._utils", "_rebuild_parameter"), ")"), "incomplete"},
      {call(global("torch._utils", "_rebuild_tensor_v3"), ")"), "incomplete"},
      {call(global("torch._tensor", "_rebuild_from_type_v2"), ")"), "incomplete"},
  };
  for (const auto& [value, message] : cases) {
    const std::string error = archive_error(archive(dict(text("w") + value)));
    EXPECT_THAT(error, HasSubstr(message));
    EXPECT_THAT(error, HasSubstr("tensor 'w'"));
  }
}

TEST(TorchStorages, StoredEntriesAreViewsAndDeflatedOnesAreNot) {
  const std::string root = dict(text("a") + tensor_of(storage(6), 0, {6}, {1}) + text("b") +
                                tensor_of(storage(6), 2, {2, 2}, {2, 1}));
  const std::string stored = archive(root);
  const StoredTensors views =
      parse_torch_archive(std::as_bytes(std::span(stored)), "a.pth", nullptr);
  EXPECT_THAT(floats(views.tensors.at("b")), ElementsAre(2, 3, 4, 5));
  EXPECT_GE(static_cast<const void*>(views.tensors.at("a").bytes.data()), stored.data());
  EXPECT_LT(static_cast<const void*>(views.tensors.at("a").bytes.data()),
            stored.data() + stored.size());
  const StoredTensors inflated = parse_archive(archive(root, 6, true));
  EXPECT_THAT(floats(inflated.tensors.at("b")), ElementsAre(2, 3, 4, 5));
  EXPECT_TRUE(inflated.tensors.at("a").owner);
  EXPECT_EQ(inflated.tensors.at("a").owner, inflated.tensors.at("b").owner) << "inflated once";
}

}  // namespace
}  // namespace vitascope::weights
