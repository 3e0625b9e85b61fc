#include "datasets/open_labelled.h"

#include <gmock/gmock.h>

#include "tests/cli/run_program.h"
#include "vit/error.h"

namespace vitascope::datasets {
namespace {

using testing::HasSubstr;
using tests::TemporaryFolder;

TEST(OpenLabelled, RecognisesEachKind) {
  const TemporaryFolder folder;
  folder.write("classes/cat/a.jpg", "x");
  folder.write("table/labels.csv", "path,label\na.jpg,cat\n");
  folder.write("table/photos/a.jpg", "x");
  folder.write("hf/train/metadata.jsonl", "{\"file_name\": \"a.png\", \"label\": \"cat\"}");
  folder.write("cifar/data_batch_1.bin", std::string(3073, '\1'));
  folder.write("idx/train-images-idx3-ubyte",
               std::string("\0\0\x08\x03\0\0\0\1\0\0\0\1\0\0\0\1x", 17));
  folder.write("idx/train-labels-idx1-ubyte", std::string("\0\0\x08\x01\0\0\0\1\0", 9));
  EXPECT_EQ(open_labelled(folder / "classes").source, "class folders");
  EXPECT_EQ(open_labelled(folder / "table").source, "the table labels.csv");
  EXPECT_EQ(open_labelled(folder / "table/labels.csv").source, "the table labels.csv");
  EXPECT_THAT(open_labelled(folder / "hf").source, HasSubstr("Hugging Face"));
  EXPECT_THAT(open_labelled(folder / "cifar").source, HasSubstr("CIFAR-10 "));
  EXPECT_THAT(open_labelled(folder / "idx").source, HasSubstr("IDX"));
}

TEST(OpenLabelled, WhatIsNoneOfThemIsRefused) {
  const TemporaryFolder folder;
  EXPECT_THROW(open_labelled(folder / "nothing"), InputError);
  EXPECT_THROW(open_labelled(folder.path()), InputError);
  EXPECT_THAT([&] { open_labelled(folder.write("a.txt", "x")); },
              testing::ThrowsMessage<InputError>(HasSubstr("neither a folder nor a table")));
}

}  // namespace
}  // namespace vitascope::datasets
