#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/golden.h"
#include "tests/vit/weights/safetensors_builder.h"
#include "vit/error.h"
#include "vit/weights/safetensors.h"

namespace vitascope::weights {
namespace {

using testing::HasSubstr;
using tests::entry;
using tests::file_of;
using tests::text;

class ReadShardedSafetensors : public tests::FolderTest {};

TEST_F(ReadShardedSafetensors, HoldsTheSameTensorsAsTheWholeFile) {
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

TEST_F(ReadShardedSafetensors, ShardsAreRefusedOutsideTheFolder) {
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

TEST_F(ReadShardedSafetensors, ShardsMayBeSymbolicLinks) {
  std::filesystem::create_directories(folder_ / "blobs");
  write("blobs/0123", file_of("{" + entry("a", "U8", "[4]", "[0,4]") + "}", "abcd"));
  std::filesystem::create_directories(folder_ / "snapshots");
  std::filesystem::create_symlink("../blobs/0123", folder_ / "snapshots/s.safetensors");
  write("blobs/4567", R"({"weight_map":{"a":"s.safetensors"}})");
  std::filesystem::create_symlink("../blobs/4567", folder_ / "snapshots/i.json");
  const StoredTensors result = read_sharded_safetensors(folder_ / "snapshots/i.json");
  EXPECT_EQ(text(result.tensors.at("a").bytes), "abcd");
}

TEST_F(ReadShardedSafetensors, AnIndexThatDoesNotFitItsShardsIsAnError) {
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

}  // namespace
}  // namespace vitascope::weights
