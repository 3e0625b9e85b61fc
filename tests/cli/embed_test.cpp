#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/golden_logits.h"
#include "tests/cli/run_program.h"

namespace vitascope::tests {
namespace {

using nlohmann::json;

Finished embed(const std::string& model, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"embed", "--quiet", "--model", golden("models/" + model)});
  return run_program(std::move(arguments));
}

/// Tokens after the final norm that Python gave, [2, N, C].
struct Tokens {
  std::vector<float> numbers;
  std::size_t count, width;

  explicit Tokens(const std::string& model) {
    const Values hidden =
        values_of(weights::read_safetensors(golden("models/" + model + "/expected.safetensors")),
                  "last_hidden_state");
    numbers = hidden.numbers;
    count = static_cast<std::size_t>(hidden.shape.at(1));
    width = static_cast<std::size_t>(hidden.shape.at(2));
  }
  float at(std::size_t photo, std::size_t token, std::size_t channel) const {
    return numbers[(photo * count + token) * width + channel];
  }
};

/// Embeds the golden photos and reads the .safetensors back.
Values embedded(const std::string& model, const std::string& pool) {
  const TemporaryFolder folder;
  const std::string file = folder / "embeddings.safetensors";
  const std::vector<std::string> photos = golden_photos();
  const Finished finished = embed(model, {"--pool", pool, "--output", file, photos[0], photos[1]});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.out, "");
  const auto stored = weights::read_safetensors(file);
  EXPECT_EQ(json::parse(stored.metadata.at("paths")), json(photos));
  return values_of(stored, "embeddings");
}

TEST(Embed, ClassTokenIsTheFirst) {
  const Tokens tokens("hf-dinov2");
  const Values values = embedded("hf-dinov2", "class");
  ASSERT_EQ(values.shape, (std::vector<std::int64_t>{2, std::int64_t(tokens.width)}));
  for (std::size_t photo = 0; photo < 2; ++photo) {
    for (std::size_t c = 0; c < tokens.width; ++c) {
      EXPECT_NEAR(values.row(photo)[c], tokens.at(photo, 0, c), 1e-4);
    }
  }
}

TEST(Embed, MeanLeavesOutClassTokenAndRegisters) {
  const Tokens tokens("hf-dinov2-reg-swiglu");
  constexpr std::size_t kPrefix = 5;  // class token and four registers
  const Values values = embedded("hf-dinov2-reg-swiglu", "mean");
  for (std::size_t photo = 0; photo < 2; ++photo) {
    for (std::size_t c = 0; c < tokens.width; ++c) {
      double sum = 0;
      for (std::size_t t = kPrefix; t < tokens.count; ++t) sum += tokens.at(photo, t, c);
      EXPECT_NEAR(values.row(photo)[c], sum / double(tokens.count - kPrefix), 1e-4);
    }
  }
}

TEST(Embed, PatchGivesEveryPatch) {
  const Tokens tokens("hf-vit");
  const Values values = embedded("hf-vit", "patch");
  ASSERT_EQ(values.shape, (std::vector<std::int64_t>{2, std::int64_t(tokens.count) - 1,
                                                     std::int64_t(tokens.width)}));
  for (std::size_t t = 1; t < tokens.count; ++t) {
    EXPECT_NEAR(values.row(1)[(t - 1) * tokens.width + 7], tokens.at(1, t, 7), 1e-4);
  }
}

TEST(Embed, FeaturesAreWhatTheHeadSees) {
  const Values expected = values_of(
      weights::read_safetensors(golden("models/timm-vit-gap/expected.safetensors")), "pooled");
  const Values values = embedded("timm-vit-gap", "features");
  ASSERT_EQ(values.shape, expected.shape);
  EXPECT_LT(difference(values.numbers, expected.numbers), 1e-4);
}

TEST(Embed, NpyIsNumPysFormat) {
  const TemporaryFolder folder;
  const std::string file = folder / "e.npy";
  const std::vector<std::string> photos = golden_photos();
  ASSERT_EQ(embed("hf-vit", {"-o", file, "--pool", "class", photos[0], photos[1]}).status, 0);
  const std::string bytes = file_text(file);
  ASSERT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const std::size_t length =
      static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  EXPECT_EQ((10 + length) % 64, 0u);
  const std::string header = bytes.substr(10, length);
  EXPECT_THAT(header, testing::HasSubstr("'descr': '<f4'"));
  EXPECT_THAT(header, testing::HasSubstr("'fortran_order': False"));
  EXPECT_THAT(header, testing::HasSubstr("'shape': (2, 48,)"));
  EXPECT_EQ(header.back(), '\n');
  ASSERT_EQ(bytes.size(), 10 + length + 2 * 48 * sizeof(float));
  float value = 0;
  std::memcpy(&value, bytes.data() + 10 + length + (48 + 3) * sizeof(float), sizeof(float));
  EXPECT_NEAR(value, Tokens("hf-vit").at(1, 0, 3), 1e-4);
}

TEST(Embed, CsvHasThePathFirst) {
  const TemporaryFolder folder;
  const std::string file = folder / "e.csv";
  ASSERT_EQ(embed("hf-vit", {"-o", file, "--pool", "class", golden_photos()[0]}).status, 0);
  std::istringstream lines(file_text(file));
  std::string header, row;
  std::getline(lines, header);
  std::getline(lines, row);
  EXPECT_EQ(header.rfind("path,f0,f1,", 0), 0u);
  EXPECT_EQ(std::count(header.begin(), header.end(), ','), 48);
  ASSERT_EQ(row.rfind(golden_photos()[0] + ",", 0), 0u) << row;
  EXPECT_NEAR(std::stof(row.substr(golden_photos()[0].size() + 1)), Tokens("hf-vit").at(0, 0, 0),
              1e-4);
}

TEST(Embed, PhotosThatFailHaveNoRow) {
  const TemporaryFolder folder;
  const std::string file = folder / "e.safetensors";
  const Finished finished =
      embed("hf-vit", {"-o", file, golden("images/bad/text.jpg"), golden_photos()[1]});
  EXPECT_EQ(finished.status, 1);
  expect_one_error(finished, {"text.jpg"});
  const auto stored = weights::read_safetensors(file);
  EXPECT_EQ(values_of(stored, "embeddings").shape[0], 1);
  EXPECT_EQ(json::parse(stored.metadata.at("paths")), json::array({golden_photos()[1]}));
}

TEST(Embed, RefusesWhatCantBeDoneBeforeAnyWork) {
  const TemporaryFolder folder;
  const std::string photo = golden_photos()[0];
  const std::string there = folder.write("there.npy", "precious");
  const struct {
    const char* model;
    std::vector<std::string> arguments, parts;
  } cases[] = {
      {"hf-vit", {photo}, {"--output"}},
      {"hf-vit", {photo, "-o", folder / "e.txt"}, {"e.txt", ".npy"}},
      {"hf-vit", {photo, "-o", folder / "e.csv", "--pool", "patch"}, {"--pool patch", "CSV"}},
      {"hf-vit", {photo, "-o", folder / "no/such/e.npy"}, {"no/such"}},
      {"hf-vit", {photo, "-o", there}, {"there.npy", "--force"}},
      {"hf-vit",
       {photo, "-o", folder / "e.npy", "--pool", "clas"},
       {"--pool", "did you mean 'class'?"}},
      {"timm-vit-gap",
       {photo, "-o", folder / "e.npy", "--pool", "class"},
       {"no class token", "mean"}},
      {"hf-vit", {"-o", folder / "e.npy"}, {"no photos"}},
  };
  for (const auto& test : cases) {
    const Finished finished = embed(test.model, test.arguments);
    EXPECT_EQ(finished.status, 2) << finished.err;
    expect_one_error(finished, test.parts);
  }
  EXPECT_EQ(file_text(there), "precious");
}

}  // namespace
}  // namespace vitascope::tests
