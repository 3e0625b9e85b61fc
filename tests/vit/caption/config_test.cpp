#include "vit/caption/config.h"

#include <gmock/gmock.h>

#include "vit/error.h"

namespace vitascope::caption {
namespace {

using testing::HasSubstr;

DecoderConfig sound() { return {.vocabulary = 100}; }

std::string refusal(const DecoderConfig& config) {
  try {
    completed(config);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(DecoderConfig, ComesBackFromJson) {
  DecoderConfig lstm = sound();
  lstm.width = 24;
  lstm.embedding = 20;
  lstm.alignment = {.score = Score::concat,
                    .reach = Reach::local_p_grid,
                    .half_width = 1.5,
                    .annotation_width = 48,
                    .width = 16,
                    .heads = 4};
  lstm.attention = Attention::hard;
  lstm.gate = false;
  lstm.coordinates = true;
  lstm.output = WordOutput::luong;
  EXPECT_EQ(decoder_from_json(to_json(completed(lstm)), "c"), completed(lstm));
  DecoderConfig transformer = sound();
  transformer.kind = DecoderKind::transformer;
  transformer.layers = 3;
  transformer.mlp_width = 77;
  EXPECT_EQ(decoder_from_json(to_json(completed(transformer)), "c"), completed(transformer));
}

TEST(DecoderConfig, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(refusal(sound()), "accepted");
  EXPECT_THAT(refusal({.vocabulary = 3}), HasSubstr("a vocabulary of 3"));
  DecoderConfig config = sound();
  config.attention = Attention::hard;
  config.alignment.score = Score::multi_head;
  EXPECT_THAT(refusal(config), HasSubstr("hard attention draws one place"));
  config = sound();
  config.kind = DecoderKind::transformer;
  config.attention = Attention::hard;
  EXPECT_THAT(refusal(config), HasSubstr("choose soft attention"));
  config.attention = Attention::soft;
  config.alignment.reach = Reach::local_m;
  EXPECT_THAT(refusal(config), HasSubstr("sees the whole photo"));
  config.alignment.reach = Reach::global;
  config.alignment.heads = 7;
  EXPECT_THAT(refusal(config), HasSubstr("over 7 heads"));
  config.width = 511;
  EXPECT_THAT(refusal(config), HasSubstr("even number"));
}

TEST(DecoderConfig, FilesAreChecked) {
  const auto message = [](const char* key, const Json& value) -> std::string {
    Json json = to_json(completed(sound()));
    json[key] = value;
    try {
      decoder_from_json(json, "config.json");
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(
      message("score", "cosine"),
      testing::AllOf(HasSubstr("config.json"), HasSubstr("'score'"), HasSubstr("additive")));
  EXPECT_THAT(message("decoder", "rnn"), HasSubstr("lstm, transformer"));
  EXPECT_THAT(message("hidden_size", -1), HasSubstr("'hidden_size'"));
  EXPECT_THAT(message("hidden_size", "wide"), HasSubstr("'hidden_size'"));
  EXPECT_THAT(message("dropout", 1), HasSubstr("no such key"));
  EXPECT_THAT(message("half_width", 0), "accepted");  // of no window
  EXPECT_THAT(message("score", "dot"), "accepted");   // both are 512 wide
  EXPECT_THAT(message("annotation_size", 0), HasSubstr("'annotation_size'"));
  Json json = to_json(completed(sound()));
  json.erase("vocabulary_size");
  EXPECT_THROW(decoder_from_json(json, "config.json"), InputError);
}

}  // namespace
}  // namespace vitascope::caption
