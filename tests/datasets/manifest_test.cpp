#include "datasets/manifest.h"

#include <gmock/gmock.h>

#include "tests/cli/run_program.h"
#include "vit/error.h"

namespace vitascope::datasets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::TemporaryFolder;

/// "name:label+label" of every sample, relative to the folder.
std::vector<std::string> labels(const LabelledImages& images, const TemporaryFolder& folder) {
  std::vector<std::string> result;
  for (const Sample& sample : images.samples) {
    std::string text = sample.path.substr(folder.path().size() + 1) + ":";
    for (const int label : sample.labels) text += images.classes[label] + "+";
    result.push_back(text);
  }
  return result;
}

TEST(Manifest, CsvWithSplitAndWeight) {
  const TemporaryFolder folder;
  const auto images = read_manifest(folder.write(
      "labels.csv",
      "path,label,split,weight,note\n\"a, b.jpg\", big cat ,train,2.5,x\nsub/c.jpg,dog,VAL,,\n"));
  EXPECT_THAT(images.classes, ElementsAre("big cat", "dog"));
  EXPECT_FALSE(images.multi_label);
  EXPECT_THAT(labels(images, folder), ElementsAre("a, b.jpg:big cat+", "sub/c.jpg:dog+"));
  EXPECT_EQ(images.samples[0].split, Split::train);
  EXPECT_EQ(images.samples[1].split, Split::validation);
  EXPECT_EQ(images.samples[0].weight, 2.5);
  EXPECT_EQ(images.samples[1].weight, 1);
}

TEST(Manifest, SeveralLabelsInCsv) {
  const TemporaryFolder folder;
  const auto images = read_manifest(folder.write(
      "m.csv", "file,labels\na,sky; sea\nb,\nc,sea|sky\nd,\"[\"\"x;y\"\", \"\"sea\"\"]\"\n"));
  EXPECT_TRUE(images.multi_label);
  EXPECT_THAT(images.classes, ElementsAre("sea", "sky", "x;y"));
  EXPECT_THAT(labels(images, folder), ElementsAre("a:sea+sky+", "b:", "c:sea+sky+", "d:sea+x;y+"));
}

TEST(Manifest, JsonLines) {
  const TemporaryFolder folder;
  const auto images = read_manifest(folder.write(
      "m.JSONL",
      "{\"path\": \"a\", \"labels\": [\"x\", \"y\"], \"split\": \"test\", \"weight\": 0}\n\n"
      "{\"path\": \"b\", \"labels\": []}\n{\"path\": \"c\"}\n"));
  EXPECT_TRUE(images.multi_label);
  EXPECT_THAT(labels(images, folder), ElementsAre("a:x+y+", "b:", "c:"));
  EXPECT_EQ(images.samples[0].split, Split::test);
  EXPECT_EQ(images.samples[0].weight, 0);
}

TEST(Manifest, NumbersAreNamesAndSortAsNumbers) {
  const TemporaryFolder folder;
  const auto images = read_manifest(folder.write(
      "m.jsonl", "{\"image\": \"a\", \"label\": 10}\n{\"image\": \"b\", \"label\": 9}\n"));
  EXPECT_THAT(images.classes, ElementsAre("9", "10"));
}

TEST(Manifest, TheOnlyOtherColumnIsTheLabel) {
  const TemporaryFolder folder;
  const auto images =
      read_manifest(folder.write("m.csv", "path,split,breed\na,train,pug\nb,train,poodle\n"));
  EXPECT_THAT(images.classes, ElementsAre("poodle", "pug"));
}

TEST(Manifest, AbsolutePathsStayAndRepeatedOnesAreNoted) {
  const TemporaryFolder folder;
  const auto images = read_manifest(folder.write("m.csv", "path,label\n/x/a.jpg,a\n/x/a.jpg,b\n"));
  EXPECT_EQ(images.samples[0].path, "/x/a.jpg");
  EXPECT_THAT(images.notes, ElementsAre(HasSubstr("1 rows")));
}

struct Wrong {
  const char* name;
  const char* text;
  const char* part;
};

class WrongManifest : public testing::TestWithParam<Wrong> {};

TEST_P(WrongManifest, IsRefusedWithItsLine) {
  const TemporaryFolder folder;
  try {
    read_manifest(folder.write(GetParam().name, GetParam().text));
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.message(), HasSubstr(GetParam().part));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Errors, WrongManifest,
    testing::Values(Wrong{"a.csv", "", "is empty"}, Wrong{"b.csv", "path,label\n", "no photos"},
                    Wrong{"c.csv", "x,label\n1,2\n", "no column for the photos"},
                    Wrong{"d.csv", "path,x,y\n1,2,3\n", "no column for the labels"},
                    Wrong{"e.csv", "path,label,class\n1,2,3\n", "'label' and 'class'"},
                    Wrong{"f.csv", "path,path\n1,2\n", "'path' stands twice"},
                    Wrong{"g.csv", "path,label\na,b,c\n", "line 2: 3 fields, expected 2"},
                    Wrong{"h.csv", "path,label\na,\n", "line 2: 'label' is \"\""},
                    Wrong{"i.csv", "path,label\n,b\n", "line 2: 'path' must name a file"},
                    Wrong{"j.csv", "path,label,split\na,b,trian\n", "line 2: split is 'trian'"},
                    Wrong{"k.csv", "path,label,weight\na,b,-1\n", "line 2: weight is \"-1\""},
                    Wrong{"l.csv", "path,label,weight\na,b,nan\n", "weight"},
                    Wrong{"m.csv", "path,label,weight\na,b,1x\n", "weight"},
                    Wrong{"n.jsonl", "{\"path\": \"a\", \"label\": 1.5}\n", "'label' is 1.5"},
                    Wrong{"o.jsonl", "{\"path\": \"a\", \"label\": \"b\"}\n[1]\n", "line 2"},
                    Wrong{"p.jsonl", "{\"path\": \"a\", \"label\"\n", "line 1: not JSON"},
                    Wrong{"q.jsonl", "{\"path\": 3, \"label\": \"b\"}\n", "must name a file"},
                    Wrong{"r.jsonl", "{\"path\": \"a\", \"labels\": [null]}\n",
                          "expected the name"},
                    Wrong{"s.csv", "path,labels\na,[1\n", "line 2: 'labels': not JSON"}),
    [](const auto& info) { return std::string(1, info.param.name[0]); });

TEST(MetadataFolder, TablesOfSplitsAndFoldersInPaths) {
  const TemporaryFolder folder;
  EXPECT_FALSE(is_metadata_folder(folder.path()));
  folder.write("train/metadata.csv", "file_name,label\na.png,cat\n");
  folder.write("Test/metadata.jsonl", "{\"file_name\": \"b.png\", \"label\": \"dog\"}\n");
  ASSERT_TRUE(is_metadata_folder(folder.path()));
  const auto images = read_metadata_folder(folder.path());
  EXPECT_THAT(labels(images, folder),
              testing::UnorderedElementsAre("train/a.png:cat+", "Test/b.png:dog+"));
  EXPECT_EQ(images.samples[0].split, Split::test);
  EXPECT_EQ(images.samples[1].split, Split::train);
}

TEST(MetadataFolder, OneTableAtTheRoot) {
  const TemporaryFolder folder;
  folder.write("metadata.csv", "file_name,label\nval/a.png,cat\nb.png,dog\n");
  const auto images = read_metadata_folder(folder.path());
  EXPECT_EQ(images.samples[0].split, Split::validation);
  EXPECT_EQ(images.samples[1].split, Split::none);
}

TEST(ManifestsIn, ThoseThatAreMeant) {
  const TemporaryFolder folder;
  EXPECT_THAT(manifests_in(folder.path()), IsEmpty());
  folder.write("photos.csv", "");
  EXPECT_THAT(manifests_in(folder.path()), ElementsAre(folder / "photos.csv"));
  folder.write("train.csv", "");
  folder.write("val.csv", "");
  EXPECT_THAT(manifests_in(folder.path()), ElementsAre(folder / "train.csv", folder / "val.csv"));
  folder.write("labels.jsonl", "");
  EXPECT_THAT(manifests_in(folder.path()), ElementsAre(folder / "labels.jsonl"));
}

TEST(ManifestsIn, AStrayTableBesideClassFoldersIsNone) {
  const TemporaryFolder folder;
  folder.write("results.csv", "");
  folder.write("cat/a.jpg", "");
  folder.write("dog/a.jpg", "");
  EXPECT_THAT(manifests_in(folder.path()), IsEmpty());
}

TEST(Manifests, TheirNamesSayTheSplit) {
  const TemporaryFolder folder;
  const auto images = read_manifests({folder.write("train.csv", "path,label\na,x\n"),
                                      folder.write("val.csv", "path,label\nb,y\n")});
  EXPECT_EQ(images.samples[0].split, Split::train);
  EXPECT_EQ(images.samples[1].split, Split::validation);
  EXPECT_THAT(images.classes, ElementsAre("x", "y"));
}

}  // namespace
}  // namespace vitascope::datasets
