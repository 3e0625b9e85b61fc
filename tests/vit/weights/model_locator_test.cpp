#include "vit/weights/model_locator.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/vit/weights/made_tensors.h"
#include "tests/vit/weights/model_folder.h"

namespace vitascope::weights {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Locate : public testing::Test {
 protected:
  Locate() { setenv("HF_HUB_CACHE", (cache / "hub").c_str(), 1); }
  ~Locate() override { unsetenv("HF_HUB_CACHE"); }

  std::vector<std::string> weights(const std::string& model) {
    std::vector<std::string> names;
    for (const auto& path : locate_model(model).weights) {
      names.push_back(std::filesystem::path(path).filename().string());
    }
    return names;
  }
  std::string complaint(const std::string& model) {
    return input_error([&] { locate_model(model); });
  }

  ModelFolder cache{"cache"};
  ModelFolder folder{"locate"};
};

TEST_F(Locate, PrefersTheNamesThatLibrariesWrite) {
  for (const char* name :
       {"zebra.npz", "checkpoint-10.pth", "checkpoint-9.pth", "pytorch_model.bin",
        "model.safetensors", "config.json", "preprocessor_config.json"}) {
    folder.write(name, "");
  }
  EXPECT_THAT(weights(folder.path()),
              ElementsAre("model.safetensors", "pytorch_model.bin", "checkpoint-9.pth",
                          "checkpoint-10.pth", "zebra.npz"));
  EXPECT_EQ(locate_model(folder.path()).config, folder / "config.json");
  EXPECT_EQ(locate_model(folder.path()).preprocessor, folder / "preprocessor_config.json");
}

TEST_F(Locate, LeavesOutShardsVariantsAndWhatTrainersWrite) {
  for (const char* name :
       {"model.safetensors", "model-00001-of-00002.safetensors", "model.fp16.safetensors",
        "training_args.bin", "optimizer.pt", "scheduler.pt", "rng_state.pth", ".hidden.pth",
        "open_clip_model.safetensors", "adapter_model.safetensors", "readme.txt"}) {
    folder.write(name, "");
  }
  EXPECT_THAT(weights(folder.path()), ElementsAre("model.safetensors"));
}

TEST_F(Locate, AFileInAModelsFolderHasItsConfiguration) {
  folder.write("config.json", "{}");
  folder.write("checkpoint-7.pth", "");
  folder.write("model.pth", "");
  const ModelFiles files = locate_model(folder / "checkpoint-7.pth");
  EXPECT_THAT(files.weights, ElementsAre(folder / "checkpoint-7.pth"));
  EXPECT_EQ(files.config, folder / "config.json");
  EXPECT_EQ(files.preprocessor, "");
}

TEST_F(Locate, SaysWhatAFolderHoldsThatIsNoModel) {
  EXPECT_EQ(complaint(folder.path()),
            folder.path() +
                ": is no model: expected model.safetensors (or pytorch_model.bin, .pth, .npz) and "
                "config.json; it is empty");
  for (const char* name : {"a.jpg", "b.jpg", "c.jpg", "d.jpg", "e\n.jpg"}) folder.write(name, "");
  EXPECT_THAT(complaint(folder.path()),
              HasSubstr("it holds a.jpg, b.jpg, c.jpg, d.jpg and 1 more"));
  folder.write("checkpoint-500/config.json", "{}");
  EXPECT_THAT(complaint(folder.path()), HasSubstr("; its folder 'checkpoint-500' looks like one"));
}

TEST_F(Locate, SaysThatAConfigurationHasNoWeights) {
  folder.write("config.json", "{}");
  EXPECT_THAT(complaint(folder.path()),
              HasSubstr("has a config.json but no weights, so it is no model: expected "
                        "model.safetensors (or pytorch_model.bin, .pth, .npz) beside it"));
}

TEST_F(Locate, SaysWhatAFileIsThatIsNone) {
  folder.write("config.json", "{}");
  EXPECT_EQ(complaint(folder / "config.json"),
            folder / "config.json" + ": is a configuration: name its folder instead");
  folder.write("cat.jpg", "");
  EXPECT_THAT(complaint(folder / "cat.jpg"), HasSubstr("is no weight file by its name"));
}

TEST_F(Locate, GivesTheNearestNameOfWhatIsNotThere) {
  folder.write("everyday/config.json", "{}");
  EXPECT_EQ(complaint(folder / "everydya"),
            folder / "everydya" +
                ": no such file or folder (there is 'everyday'): expected a model's folder, a "
                "weight file, or org/name of the Hugging Face hub");
}

TEST_F(Locate, FindsARepositoryInTheCacheThroughItsLinks) {
  const std::string base = "hub/models--org--name/";
  cache.write(base + "refs/main", "abc123");
  cache.write(base + "blobs/1", "{}");
  cache.write(base + "blobs/2", "");
  std::filesystem::create_directories(cache / (base + "snapshots/abc123"));
  std::filesystem::create_symlink("../../blobs/1", cache / (base + "snapshots/abc123/config.json"));
  std::filesystem::create_symlink("../../blobs/2",
                                  cache / (base + "snapshots/abc123/model.safetensors"));
  EXPECT_THAT(weights("org/name"), ElementsAre("model.safetensors"));
  EXPECT_THAT(locate_model("org/name").notes,
              ElementsAre(HasSubstr("found in the Hugging Face cache: ")));
  EXPECT_EQ(complaint("org/name@v2"),
            "org/name@v2: is no folder here and not in the Hugging Face cache (" + cache / "hub" +
                "): download it with 'hf download org/name --revision v2' (pip install "
                "huggingface_hub)");
}

TEST_F(Locate, FindsTimmsNamesAsTheirRepositories) {
  const std::string name = "vit_tiny_patch16_224.augreg_in21k";
  EXPECT_THAT(complaint(name), HasSubstr("'hf download timm/" + name + "'"));
  const std::string base = "hub/models--timm--" + name + "/";
  cache.write(base + "refs/main", "abc123");
  cache.write(base + "snapshots/abc123/model.safetensors", "");
  EXPECT_THAT(weights(name), ElementsAre("model.safetensors"));
}

TEST_F(Locate, FindsAFileOfTorchsCache) {
  setenv("TORCH_HOME", cache.path().c_str(), 1);
  cache.write("hub/checkpoints/deit_tiny.pth", "");
  cache.write("hub/checkpoints/config.json", "{}");
  EXPECT_THAT(weights("deit_tiny.pth"), ElementsAre("deit_tiny.pth"));
  EXPECT_EQ(locate_model("deit_tiny.pth").config, "") << "models share that folder";
  unsetenv("TORCH_HOME");
}

TEST_F(Locate, AnEmptyNameIsAMistakeOfUse) { EXPECT_THROW(locate_model(""), UsageError); }

}  // namespace
}  // namespace vitascope::weights
