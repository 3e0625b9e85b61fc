#include "vit/weights/weight_files.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/vit/weights/made_tensors.h"
#include "tests/vit/weights/model_folder.h"

namespace vitascope::weights {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// Flips one bit of a file.
void flip(const std::string& path, std::streamoff from_end) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(-from_end, std::ios::end);
  const char byte = static_cast<char>(file.get());
  file.seekp(-from_end, std::ios::end);
  file.put(static_cast<char>(byte ^ 1));
}

StoredTensors read(const ModelFolder& folder) {
  ModelFiles files = locate_model(folder.path());
  return read_agreeing_weights(files);
}

TEST(ReadWeights, TakesEveryKindByItsEnding) {
  for (const char* file :
       {"hf-vit/model.safetensors", "hf-vit-sharded/model.safetensors.index.json",
        "timm-deit3-pth/model.pth", "augreg-npz/model.npz"}) {
    EXPECT_GT(read_weights(tests::golden(std::string("models/") + file)).tensors.size(), 20u);
  }
}

TEST(ReadWeights, NamesAGitLfsPointer) {
  const ModelFolder folder("lfs");
  folder.write("model.safetensors",
               "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 346293852\n");
  EXPECT_EQ(input_error([&] { read_weights(folder / "model.safetensors"); }),
            folder / "model.safetensors" +
                ": is a Git LFS pointer, not the weights: fetch them with 'git lfs pull'");
}

TEST(ReadWeights, RefusesAShardedTorchCheckpointByName) {
  const ModelFolder folder("index");
  folder.write("pytorch_model.bin.index.json", "{}");
  EXPECT_THAT(input_error([&] { read_weights(folder / "pytorch_model.bin.index.json"); }),
              HasSubstr("sharded torch.save checkpoint, which is not supported"));
}

TEST(ReadAgreeingWeights, TakesTheFirstOfSeveralThatAreTheSame) {
  const ModelFolder folder("same");
  folder.copy("timm-deit3-pth/model.pth");
  folder.copy("timm-deit3-pth/checkpoint-7.pth");
  const StoredTensors tensors = read(folder);
  EXPECT_THAT(tensors.files, testing::ElementsAre(folder / "model.pth"));
  EXPECT_THAT(tensors.notes, testing::Not(testing::Contains(HasSubstr("left alone"))));
}

TEST(ReadAgreeingWeights, NamesBothOfTwoThatDiffer) {
  const ModelFolder folder("differ");
  folder.copy("hf-vit/model.safetensors");
  folder.copy("hf-vit/model.safetensors", "other.safetensors");
  EXPECT_NO_THROW(read(folder));
  flip(folder / "other.safetensors", 1000);
  EXPECT_THAT(input_error([&] { read(folder); }),
              testing::AllOf(HasSubstr(": two weight files that differ: model.safetensors and "
                                       "other.safetensors ('"),
                             HasSubstr("has other numbers): name the one to use, as in --model " +
                                       folder / "model.safetensors")));
}

TEST(ReadAgreeingWeights, OtherNamesShapesAndTypesDifferToo) {
  const ModelFolder folder("others");
  folder.copy("hf-vit/model.safetensors");
  folder.copy("hf-vit-bf16/model.safetensors", "pytorch_model.safetensors");
  EXPECT_THAT(input_error([&] { read(folder); }), HasSubstr("F32"));
  folder.copy("timm-vit/model.safetensors", "pytorch_model.safetensors");
  EXPECT_THAT(input_error([&] { read(folder); }), HasSubstr("only one has '"));
}

TEST(ReadAgreeingWeights, LeavesFeaturesAndBrokenCopiesAlone) {
  const ModelFolder folder("beside");
  folder.copy("hf-vit/model.safetensors");
  folder.copy("hf-vit/expected.safetensors", "features.safetensors");
  folder.write("pytorch_model.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n");
  const StoredTensors tensors = read(folder);
  EXPECT_TRUE(tensors.tensors.contains("classifier.bias"));
  EXPECT_THAT(tensors.notes, testing::IsSupersetOf({HasSubstr("features.safetensors: no vision"),
                                                    HasSubstr("is a Git LFS pointer")}));
}

TEST(ReadAgreeingWeights, PassesOverOddFilesToTheWeights) {
  const ModelFolder folder("odd");
  folder.copy("hf-vit/expected.safetensors", "a.safetensors");
  folder.copy("augreg-npz/model.npz", "z.npz");
  ModelFiles files = locate_model(folder.path());
  EXPECT_TRUE(read_agreeing_weights(files).tensors.contains("cls"));
  EXPECT_EQ(files.weights.front(), folder / "z.npz");
}

TEST(ReadAgreeingWeights, ABrokenFileOfTheUsualNameIsNotPassedOver) {
  const ModelFolder folder("broken");
  folder.write("model.safetensors", "nonsense");
  folder.copy("timm-deit3-pth/model.pth");
  EXPECT_THAT(input_error([&] { read(folder); }), HasSubstr("model.safetensors: "));
}

TEST(ReadAgreeingWeights, SaysSoWhenNoneCanBeUsed) {
  const ModelFolder folder("none");
  folder.write("a.pth", "nonsense");
  folder.write("b.pth", "nonsense");
  EXPECT_THAT(input_error([&] { read(folder); }),
              HasSubstr("none of its 2 weight files can be used; the first: "));
}

}  // namespace
}  // namespace vitascope::weights
