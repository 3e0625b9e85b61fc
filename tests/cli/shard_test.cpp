#include <gmock/gmock.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/cli/run_program.h"
#include "tests/golden.h"

namespace vitascope::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kPhotos[] = {"rgb.png",     "gray.jpg",          "rgb_plain.jpg",
                                   "palette.png", "bad/truncated.jpg", "exif_6.jpg",
                                   "lossy.webp"};

/// 17 photos, two of which can't be decoded: batches of 2 make nine, which 3 shards share as 6, 6
/// and 5 photos and 4 shards unequally.
std::vector<std::string> photos() {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < 17; ++i)
    list.push_back(golden("images/" + std::string(kPhotos[i % std::size(kPhotos)])));
  return list;
}

std::string table(const TemporaryFolder& folder) {
  std::string text = "path,label\n";
  std::size_t i = 0;
  for (const std::string& photo : photos())
    text += photo + (i++ % 3 == 0 ? ",tabby cat\n" : ",golden retriever\n");
  return folder.write("labels.csv", text);
}

using Arguments = std::vector<std::string>;

Arguments classify(const Arguments& more) {
  Arguments all{"classify",     "--model", golden("models/hf-vit"), "--threads", "1",
                "--batch-size", "2"};
  const std::vector<std::string> list = photos();
  all.insert(all.end(), list.begin(), list.end());
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Arguments evaluate(const std::string& data, const Arguments& more) {
  Arguments all{"evaluate",  "--model",     golden("models/hf-vit"),
                "--threads", "1",           "--batch-size",
                "2",         "--resamples", "50",
                "--data",    data};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::string part(const std::string& output, int i, int n) {
  return output + ".part-" + std::to_string(i) + "-of-" + std::to_string(n);
}

/// Runs all shards, the last one first, and gives the names of their parts in that order.
Arguments run_shards(const Arguments& command, const std::string& output, int count) {
  Arguments parts;
  for (int i = count; i > 0; --i) {
    Arguments arguments = command;
    arguments.insert(arguments.end(), {"--output", output, "--shard",
                                       std::to_string(i) + "/" + std::to_string(count)});
    const Finished finished = run_program(arguments);
    EXPECT_LE(finished.status, 1) << finished.err;
    EXPECT_EQ(finished.out, "");
    parts.push_back(part(output, i, count));
  }
  return parts;
}

Finished merge(const Arguments& parts, const Arguments& more = {}) {
  Arguments arguments{"merge-results"};
  arguments.insert(arguments.end(), parts.begin(), parts.end());
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

/// Lines of JSON without the times, which no two runs share.
std::vector<json> without_times(const std::string& text) {
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(json::parse(line));
    EXPECT_EQ(lines.back()["timing"].size(), 3u);
    lines.back().erase("timing");
  }
  return lines;
}

/// Messages about photos, without the notes.
std::vector<std::string> complaints(const Finished& finished) {
  std::vector<std::string> lines;
  for (const std::string& line : finished.errors())
    if (line.find("error: ") != std::string::npos) lines.push_back(line);
  return lines;
}

TEST(Shard, ClassifyGivesTheResultsOfOneProcess) {
  const TemporaryFolder folder;
  const Finished one = run_program(classify({"--format", "csv"}));
  ASSERT_EQ(one.status, 1) << one.err;
  ASSERT_EQ(complaints(one).size(), 2u) << one.err;
  for (const int count : {3, 4}) {
    const std::string output = folder / ("results" + std::to_string(count) + ".csv");
    const Arguments parts = run_shards(classify({"--format", "csv"}), output, count);
    const Finished merged = merge(parts, {"--output", output});
    EXPECT_EQ(merged.status, 1);
    EXPECT_EQ(merged.out, "");
    EXPECT_EQ(complaints(merged), complaints(one));
    EXPECT_EQ(file_text(output), one.out);
    // Other formats come from the same parts.
    const Finished lines = merge(parts, {"--format", "json"});
    EXPECT_EQ(without_times(lines.out),
              without_times(run_program(classify({"--format", "json"})).out));
    EXPECT_EQ(merge(parts, {"--format", "text"}).out, run_program(classify({})).out);
  }
}

TEST(Shard, EvaluateGivesTheFiguresOfOneProcess) {
  const TemporaryFolder folder;
  const std::string data = table(folder);
  const Finished one = run_program(evaluate(data, {"--output", folder / "one"}));
  ASSERT_EQ(one.status, 1) << one.err;
  const Arguments parts = run_shards(evaluate(data, {}), folder / "three", 3);
  EXPECT_FALSE(std::filesystem::exists(folder / "three"));
  const Finished merged = merge(parts, {"--output", folder / "three"});
  EXPECT_EQ(merged.status, 1);
  EXPECT_EQ(merged.out, one.out);
  EXPECT_EQ(complaints(merged), complaints(one));
  for (const auto& file : std::filesystem::directory_iterator(folder / "one")) {
    const std::string name = file.path().filename();
    EXPECT_EQ(file_text(folder / ("three/" + name)), file_text(file.path())) << name;
  }
  EXPECT_EQ(json::parse(file_text(folder / "three/evaluation.json"))["failed"], 2);
  EXPECT_EQ(merge(parts, {"--format", "json"}).out, file_text(folder / "one/evaluation.json"));
}

TEST(Shard, SeveralLabelsAPhotoAsWell) {
  const TemporaryFolder folder;
  std::string rows;
  for (const char* photo : {"rgb.png", "gray.jpg", "lossy.webp"})
    rows += json{{"path", golden("images/" + std::string(photo))},
                 {"labels", {"tabby cat", "fire truck"}}}
                .dump() +
            "\n";
  rows += json{{"path", golden("images/palette.png")}, {"labels", json::array()}}.dump() + "\n";
  const std::string data = folder.write("t.jsonl", rows);
  const Finished one = run_program(evaluate(data, {"--format", "json"}));
  ASSERT_EQ(one.status, 0) << one.err;
  const Arguments parts = run_shards(evaluate(data, {"--format", "json"}), folder / "e", 2);
  EXPECT_EQ(merge(parts).out, one.out);
}

TEST(Shard, PathsMayHoldAnyBytes) {
  const TemporaryFolder folder;
  const std::string photo = folder / "caf\xE9, \"1\".png";
  std::filesystem::copy_file(golden("images/rgb.png"), photo);
  const Arguments command{"classify", photo, "--model", golden("models/hf-vit"), "--format", "csv"};
  const Arguments parts = run_shards(command, folder / "r", 2);  // the second one has no photo
  const Finished merged = merge(parts);
  EXPECT_EQ(merged.status, 0) << merged.err;
  EXPECT_EQ(merged.out, run_program(command).out);
  EXPECT_THAT(merged.out, HasSubstr("\\xE9"));
}

/// The environment of one of several processes of torchrun, which share this machine.
Finished launched(const Arguments& arguments, int rank, int count) {
  Invocation invocation;
  invocation.arguments = arguments;
  invocation.environment = {{"RANK", std::to_string(rank)},
                            {"WORLD_SIZE", std::to_string(count)},
                            {"LOCAL_RANK", std::to_string(rank)},
                            {"LOCAL_WORLD_SIZE", std::to_string(count)}};
  return run_program(invocation);
}

TEST(Shard, ALauncherSaysTheShare) {
  const TemporaryFolder folder;
  const std::string output = folder / "results.csv";
  Arguments parts;
  for (const int rank : {0, 1}) {
    const Finished finished = launched(classify({"--format", "csv", "--output", output}), rank, 2);
    // Photos that failed are no reason for torchrun to end the others.
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_FALSE(complaints(finished).empty());
    parts.push_back(part(output, rank + 1, 2));
  }
  const Finished merged = merge(parts);
  EXPECT_EQ(merged.status, 1);
  EXPECT_EQ(merged.out, run_program(classify({"--format", "csv"})).out);

  const Finished both = launched(classify({"--output", output, "--shard", "1/2"}), 0, 2);
  EXPECT_EQ(both.status, 2);
  expect_one_error(both, {"--shard 1/2", "process 1 of 2"});
  const Finished nowhere = launched(classify({}), 1, 2);
  EXPECT_EQ(nowhere.status, 2);
  expect_one_error(nowhere, {"--output"});
}

/// Waits until a part holds a number of lines.
void await_lines(const std::string& path, long lines) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < end) {
    const std::string text = file_text(path);
    if (std::count(text.begin(), text.end(), '\n') >= lines) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ADD_FAILURE() << path << " does not grow";
}

/// Runs until the part holds some batches and then gets a signal.
Finished stopped(const Arguments& arguments, const std::string& path, int signal) {
  Invocation invocation;
  invocation.arguments = arguments;
  bool sent = false;
  invocation.watch = [&](pid_t pid, const Finished&) {
    if (sent) return;
    sent = true;
    await_lines(path, 3);
    kill(pid, signal);
  };
  return run_program(invocation);
}

TEST(Shard, AStoppedOneGoesOnAndComputesNothingTwice) {
  const TemporaryFolder folder;
  std::string list;
  for (int i = 0; i < 600; ++i) list += golden("images/rgb_plain.jpg") + "\n";
  const Arguments command{"classify",
                          "--config",
                          folder.write(
                              "run.yaml", "inputs: [" +
                                              [&] {
                                                std::string text = list;
                                                std::replace(text.begin(), text.end(), '\n', ',');
                                                text.pop_back();
                                                return text;
                                              }() +
                                              "]\n"),
                          "--model",
                          golden("models/hf-vit"),
                          "--threads",
                          "1",
                          "--batch-size",
                          "4",
                          "--format",
                          "csv",
                          "--verbose"};
  const Finished one = run_program(command);
  ASSERT_EQ(one.status, 0) << one.err;
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    SCOPED_TRACE(signal);
    const std::string output = folder / ("r" + std::to_string(signal) + ".csv");
    Arguments arguments = command;
    arguments.insert(arguments.end(), {"--output", output});
    const std::string path = part(output, 1, 1);
    const Finished cut = stopped(arguments, path, signal);
    EXPECT_EQ(cut.status, signal == SIGKILL ? 128 + SIGKILL : 130) << cut.err;
    EXPECT_FALSE(std::filesystem::exists(output));
    const std::string before = file_text(path);
    if (signal == SIGKILL) folder.write("r9.csv.part-1-of-1", before + "0123abcd [{\"ind");
    // Times were measured: only rows that nobody computed again are the same to the byte.
    arguments.insert(arguments.end(), {"--shard", "1/1"});
    const Finished again = run_program(arguments);
    ASSERT_EQ(again.status, 0) << again.err;
    EXPECT_THAT(again.err, HasSubstr("600 of its 600 photos"));
    EXPECT_EQ(file_text(path).substr(0, before.size()), before);
    arguments.resize(arguments.size() - 2);
    ASSERT_EQ(run_program(arguments).status, 0);
    EXPECT_EQ(file_text(output), one.out);
    EXPECT_FALSE(std::filesystem::exists(path)) << "the results are whole";
  }
}

TEST(Shard, AHalfWrittenPartGoesOnToTheSameResults) {
  const TemporaryFolder folder;
  const std::string data = table(folder);
  const Arguments command = evaluate(data, {});
  const Arguments parts = run_shards(command, folder / "e", 3);
  const Finished whole = merge(parts);
  const std::string text = file_text(parts[1]);
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{25}, text.find('\n') + 1, text.size() - 20, text.size() - 1}) {
    SCOPED_TRACE(length);
    folder.write("e.part-2-of-3", text.substr(0, length));
    const Finished early = merge(parts);
    EXPECT_EQ(early.status, 2);
    EXPECT_EQ(early.out, "");
    expect_one_error(early, {"e.part-2-of-3"});
    Arguments again = command;
    again.insert(again.end(), {"--output", folder / "e", "--shard", "2/3"});
    EXPECT_EQ(run_program(again).status, 0);  // the broken photos are not in it
    EXPECT_EQ(merge(parts).out, whole.out);
    EXPECT_EQ(file_text(parts[1]), text);  // without times all of it is the same
  }
}

TEST(Shard, IsNotGoneOnWithAsSomethingElse) {
  const TemporaryFolder folder;
  const std::string output = folder / "r";
  const auto shard = [&](Arguments arguments) {
    arguments.insert(arguments.end(), {"--output", output, "--shard", "1/3"});
    return run_program(arguments);
  };
  ASSERT_LE(shard(classify({"--top", "3"})).status, 1);
  const std::string before = file_text(part(output, 1, 3));
  const struct {
    Arguments command;
    std::vector<std::string> parts;
  } cases[] = {
      {classify({"--top", "4"}), {"'top: 3', not 'top: 4'"}},
      {classify({"--top", "3", golden("images/rgb.bmp")}), {"another list of photos"}},
      {classify({"--top", "3", "--batch-size", "3"}), {"'batch-size: 2'"}},
      {classify({"--top", "3", "--model", golden("models/hf-vit-bf16")}), {"another model"}},
      {evaluate(table(folder), {}), {"'classify', not 'evaluate'"}}};
  for (const auto& test : cases) {
    const Finished finished = shard(test.command);
    EXPECT_EQ(finished.status, 2);
    EXPECT_EQ(finished.errors().back().find("vitascope: error: "), 0u) << finished.err;
    for (const std::string& words : test.parts) EXPECT_THAT(finished.err, HasSubstr(words));
    EXPECT_THAT(finished.err, HasSubstr("--force"));
    EXPECT_EQ(file_text(part(output, 1, 3)), before);
  }
  EXPECT_LE(shard(classify({"--top", "4", "--force"})).status, 1);
  EXPECT_NE(file_text(part(output, 1, 3)), before);
}

TEST(Shard, PartsThatMakeNoWholeAreNamed) {
  const TemporaryFolder folder;
  const std::string output = folder / "r";
  const Arguments parts = run_shards(classify({"--top", "3"}), output, 3);
  const Arguments foreign = run_shards(classify({"--top", "2"}), folder / "s", 3);
  const std::string copy = folder / "copy", damaged = folder / "damaged";
  std::filesystem::copy_file(parts[0], copy);
  std::string text = file_text(parts[0]);
  text[text.find("\"path\"") + 20] ^= 1;
  folder.write("damaged", text);
  // Whole lines that stand where others should.
  std::string moved = file_text(parts[0]);
  const std::size_t second = moved.find('\n') + 1, third = moved.find('\n', second) + 1;
  const std::string line = moved.substr(second, third - second);
  folder.write("twice", moved.insert(third, line));
  const struct {
    Arguments parts;
    std::vector<std::string> words;
  } cases[] = {
      {{}, {"no parts"}},
      {{parts[0], parts[2]}, {"1 of 3 parts is missing: 2"}},
      {{parts[1]}, {"2 of 3 parts are missing: 1, 3"}},
      {{parts[0], parts[1], parts[2], copy}, {"r.part-3-of-3", "copy", "both part 3 of 3"}},
      {{parts[0], parts[1], foreign[2]}, {"different runs", "'top: "}},
      {{damaged, parts[1], parts[2]}, {"damaged", "line ", "checksum"}},
      {{folder / "twice", parts[1], parts[2]}, {"twice", "line 3"}},
      {{golden("images/rgb.png"), parts[1], parts[2]}, {"rgb.png", "no part"}},
      {{folder / "none", parts[1], parts[2]}, {"none", "can't be opened"}}};
  for (const auto& test : cases) {
    const Finished finished = merge(test.parts, {"--output", folder / "out"});
    EXPECT_EQ(finished.status, 2);
    expect_one_error(finished, test.words);
    EXPECT_FALSE(std::filesystem::exists(folder / "out"));
  }
}

TEST(Shard, WhatIsTypedIsChecked) {
  const TemporaryFolder folder;
  const std::string output = folder / "r";
  const struct {
    Arguments more;
    std::vector<std::string> words;
  } cases[] = {
      {{"--shard", "5/4", "--output", output}, {"--shard", "'5/4'", "from 1 to N"}},
      {{"--shard", "0/4", "--output", output}, {"'0/4'", "from 1 to N"}},
      {{"--shard", "2", "--output", output}, {"'2'", "I/N"}},
      {{"--shard", "1/4"}, {"--output"}},
      {{"--shard", "1/4", "--output", output, "--save", folder / "s.safetensors"}, {"--save"}},
      {{"--shard", "1/4", "--output", folder / "no/where"}, {"does not exist"}}};
  for (const auto& test : cases) {
    const Finished finished = run_program(classify(test.more));
    EXPECT_EQ(finished.status, 2) << finished.err;
    expect_one_error(finished, test.words);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 0);
}

}  // namespace
}  // namespace vitascope::tests
