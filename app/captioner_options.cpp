#include "app/captioner_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "app/values.h"
#include "vit/error.h"

namespace vitascope::app {
namespace {

/// Declares an option of a group.
class Group {
 public:
  Group(CLI::App& command, std::string name) : command_(command), name_(std::move(name)) {}

  template <typename Value>
  CLI::Option* add(const std::string& flag, Value& value, const std::string& type,
                   const std::string& help) {
    return command_.add_option(flag, value, help)->type_name(type)->group(name_);
  }
  CLI::Option* add_flag(const std::string& flag, bool& value, const std::string& help) {
    return command_.add_flag(flag, value, help)->group(name_);
  }
  void choice(const std::string& flag, std::string& value, const std::vector<std::string>& names,
              const std::string& help) {
    add(flag, value, fmt::format("{}", fmt::join(names, "|")), help)->check(one_of(names));
  }

 private:
  CLI::App& command_;
  std::string name_;
};

constexpr int kWidest = 1 << 16;

void add_data_options(CLI::App& command, CaptionerOptions& options) {
  Group group(command, "Data");
  group.add("--data", options.data, "FILE",
            "captions: COCO or Karpathy JSON, Flickr8k, captions.txt");
  group.add("--photos", options.photos, "FOLDER",
            "where the photos are [default: near the captions]");
  group.add("--encoder", options.encoder, "PATH",
            "what photos are seen through: weights of a CNN, or a vision transformer");
  group.add("--start", options.start, "CAPTIONER",
            "begin with the decoder and the words of a captioner [default: anew]");
  group.add("-o,--output", options.output, "RUN",
            "folder of the run; it opens as the best captioner");
  group
      .add("--val-fraction", options.val_fraction, "P",
           "part of the photos kept for validation where the data has none")
      ->check(number(0.001, 0.9));
  group.add("--min-count", options.min_count, "N", "times that a word must occur to be learned")
      ->check(whole_number(1, 1'000'000));
  group.add("--stride", options.stride, "N", "pixels to a cell of a CNN's grid; 0: as it comes")
      ->check(whole_number(0, 1024));
  group
      .add("--input-size", options.input_size, "SIZE",
           "of the encoder: 384, or 384x224 (height x width)")
      ->check(accepted_by(parse_size));
  group.add_flag("--whole-photo", options.whole_photo,
                 "the encoder sees all of a photo, pressed into its input, instead of a crop");
  group.choice("--cache", options.cache, {"none", "disk"}, "where what the encoder sees is kept");
  group.add_flag("--allow-truncated", options.allow_truncated, "a damaged JPEG is no error");
  group.add("--max-pixels", options.max_pixels, "N", "largest photo, in megapixels")
      ->check(number(0.001, 100000));
  group.add_flag("--resume", options.resume, "go on where the run in --output stopped");
  group.add_flag("--force", options.force, "begin anew in a folder that holds a run");
}

void add_decoder_options(CLI::App& command, CaptionerOptions& options) {
  Group group(command, "Decoder");
  const auto size = [&](const char* flag, int& value, const char* help) {
    group.add(flag, value, "N", help)->check(whole_number(1, kWidest));
  };
  group.choice("--decoder", options.decoder, {"lstm", "transformer"}, "what writes the words");
  group.choice("--attention-type", options.attention, {"soft", "hard"},
               "a mean of what is looked at, or one place, drawn");
  group.choice("--score", options.score,
               {"additive", "dot", "general", "concat", "scaled_dot", "multi_head"},
               "how well a place goes with the state");
  group.choice("--window", options.window, {"global", "local_m", "local_p", "local_p_grid"},
               "which places are seen");
  group.add("--half-width", options.half_width, "D", "of a local window")
      ->check(number(0.01, 10000));
  size("--hidden-size", options.hidden_size, "width of the state");
  size("--embedding-size", options.embedding_size, "width of a word");
  size("--attention-size", options.attention_size, "width of the attention's layer");
  size("--attention-heads", options.attention_heads, "of multi_head and of a transformer");
  group.choice("--word-output", options.word_output, {"deep", "deep_tanh", "luong"},
               "what the layer over the vocabulary reads");
  group.add_flag("--no-gate", options.no_gate, "the context is not weighed by the scalar beta");
  group.add_flag("--coordinates", options.coordinates,
                 "what is looked at tells its row and column too: for left, right, above, below");
  size("--layers", options.layers, "of a transformer");
  size("--mlp-size", options.mlp_size, "of a transformer");
}

void add_learning_options(CLI::App& command, CaptionerOptions& options) {
  Group group(command, "Learning");
  group.add("--epochs", options.epochs, "N", "times through all captions")
      ->check(whole_number(1, 1'000'000));
  group.add("--lr", options.rate, "X", "learning rate")->check(number(1e-9, 10));
  group.choice("--decay", options.decay, {"cosine", "linear", "constant"}, "of the learning rate");
  group.add("--warmup-epochs", options.warmup_epochs, "N", "in which the rate rises")
      ->check(number(0, 1'000'000));
  group.add("--weight-decay", options.weight_decay, "X", "of products")->check(number(0, 1));
  group.add("--clip-norm", options.clip_norm, "X", "longest gradient; 0: any")
      ->check(number(0, 1e9));
  group
      .add("--ema", options.ema, "X", "decay of an average of the weights, which is kept; 0: none")
      ->check(number(0, 0.999999));
  group.add("--penalty", options.penalty, "X", "on attention that leaves out places (lambda)")
      ->check(number(0, 1000));
  group
      .add("--focus", options.focus, "X", "on the entropy of attention: few places are to be seen")
      ->check(number(0, 1000));
  group.add("--dropout", options.dropout, "P", "before the vocabulary")->check(number(0, 0.99));
  group
      .add("--own-words", options.own_words, "P",
           "share of words that the decoder draws itself while it learns")
      ->check(number(0, 1));
  group
      .add("--half-expected", options.half_expected, "P",
           "hard attention: share of captions that take the expectation")
      ->check(number(0, 1));
  group.add("--entropy", options.entropy, "X", "hard attention: weight of its entropy")
      ->check(number(0, 1000));
  group.add_flag("--self-critical", options.self_critical,
                 "learn from the CIDEr-D of captions that it draws itself, after --start");
  group.choice("--metric", options.metric, {"bleu4", "cider_d", "rouge_l", "accuracy", "loss"},
               "of validation, by which the best is kept");
  group
      .add("--patience", options.patience, "N",
           "end after so many epochs without a better one; 0: never")
      ->check(whole_number(0, 1'000'000));
  group.add("--beam", options.beam, "N", "of the captions that are validated")
      ->check(whole_number(1, 1000));
  group.add("--max-words", options.longest, "N", "of a caption; longer ones are learned in part")
      ->check(whole_number(1, 1000));
  group.add("--seed", options.seed, "N", "of all random numbers");
}

}  // namespace

void add_captioner_options(CLI::App& command, CaptionerOptions& options) {
  add_data_options(command, options);
  add_decoder_options(command, options);
  add_learning_options(command, options);
  add_run_options(command, options.run);
}

void check_captioner_options(const CaptionerOptions& options) {
  const auto require = [](const std::string& value, const char* message) {
    if (value.empty()) throw UsageError(message);
  };
  require(options.data, "--data is missing: expected a file of captions");
  if (options.self_critical) {
    require(options.start, "--self-critical betters a captioner: expected its folder as --start");
  }
  if (options.start.empty()) {
    require(options.encoder,
            "--encoder is missing: expected weights of a CNN, or a vision transformer");
  }
  require(options.output, "--output is missing: expected the name of a folder for the run");
  if (options.resume && options.force) {
    throw UsageError(
        "--resume goes on with a run and --force begins it anew: expected one of them");
  }
  if (options.warmup_epochs > options.epochs) {
    throw UsageError(fmt::format("--warmup-epochs {} is more than --epochs {}",
                                 options.warmup_epochs, options.epochs));
  }
  if (options.run.precision != "fp32") {
    throw UsageError(
        fmt::format("--precision {}: captions are learned in fp32", options.run.precision));
  }
}

caption::DecoderConfig decoder_config(const CaptionerOptions& options, std::int64_t vocabulary,
                                      std::int64_t annotation_width) {
  return caption::completed(
      {.kind = *caption::decoder_named(options.decoder),
       .vocabulary = vocabulary,
       .width = options.hidden_size,
       .embedding = options.embedding_size,
       .coordinates = options.coordinates,
       .alignment = {.score = *caption::score_named(options.score),
                     .reach = *caption::reach_named(options.window),
                     .half_width = options.half_width,
                     .annotation_width =
                         annotation_width + (options.coordinates ? caption::kCoordinates : 0),
                     .width = options.attention_size,
                     .heads = options.attention_heads},
       .attention = *caption::attention_named(options.attention),
       .gate = !options.no_gate,
       .output = *caption::output_named(options.word_output),
       .layers = options.layers,
       .mlp_width = options.mlp_size});
}

caption::EncoderOptions encoder_options(const CaptionerOptions& options) {
  caption::EncoderOptions result;
  if (!options.input_size.empty()) result.input_size = parse_size(options.input_size);
  result.whole_photo = options.whole_photo;
  result.stride = options.stride;
  return result;
}

caption::CaptionLearning caption_learning(const CaptionerOptions& options) {
  caption::CaptionLearning learning;
  learning.weight_decay = options.weight_decay;
  learning.penalty = options.penalty;
  learning.focus = options.focus;
  learning.dropout = options.dropout;
  learning.own_words = options.own_words;
  learning.half_expected = options.half_expected;
  learning.hard.entropy = options.entropy;
  return learning;
}

train::TrainerOptions trainer_options(const CaptionerOptions& options, std::int64_t batches) {
  train::TrainerOptions result;
  result.epochs = options.epochs;
  result.clip_norm = options.clip_norm;
  result.schedule.steps = batches * options.epochs;
  result.schedule.warmup = std::llround(options.warmup_epochs * static_cast<double>(batches));
  result.schedule.rate = options.rate;
  result.schedule.decay = train::decay_named(options.decay);
  if (options.ema > 0) result.ema = train::EmaOptions{.decay = options.ema};
  result.seed = options.seed;
  result.metric = options.metric;
  result.lower_is_better = options.metric == "loss";
  result.patience = options.patience;
  return result;
}

}  // namespace vitascope::app
