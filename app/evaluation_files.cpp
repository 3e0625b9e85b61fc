#include "app/evaluation_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "app/drawing/write_picture.h"
#include "app/evaluation_page.h"
#include "app/evaluation_pictures.h"
#include "app/output.h"
#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFiles[] = {"evaluation.json", "evaluation.csv", "predictions.csv",
                                  "confusion.csv",   "confusion.png",  "reliability.png",
                                  "mistakes.jpg",    "evaluation.html"};

std::string inside(const std::string& folder, const char* name) {
  return (fs::path(folder) / name).string();
}

}  // namespace

void prepare_evaluation_folder(const std::string& folder, bool force) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw UsageError(
        fmt::format("{}: the folder can't be made: {}", printable(folder), error.message()));
  for (const char* name : kFiles) check_writable(inside(folder, name), force);
}

void write_evaluation(const std::string& folder, const EvaluationResult& result,
                      const datasets::LabelledImages& images, const image::DecodeOptions& decode,
                      bool force, bool quiet) {
  const auto text = [&](const char* name, const std::string& content) {
    write_file(inside(folder, name), force, content);
  };
  text("evaluation.json", evaluation_json(result));
  text("evaluation.csv", evaluation_csv(result));
  text("predictions.csv", predictions_csv(result.answers));
  const drawing::Font font = drawing::Font::find();
  if (!font.present() && !quiet) output::warning(font.warning());
  EvaluationPictures pictures;
  const auto picture = [&](const char* name, const drawing::Canvas& canvas) {
    std::string bytes = drawing::encode(canvas, drawing::picture_format(name), 88);
    text(name, bytes);
    pictures.push_back({name, canvas.size(), std::move(bytes)});
  };
  if (result.evaluation.confusion) {
    text("confusion.csv", confusion_csv(result));
    picture("confusion.png", draw_confusion(result, font));
    picture("reliability.png", draw_reliability(result, font));
    if (!result.evaluation.mistakes.empty())
      picture("mistakes.jpg", draw_mistakes(result, images, decode, font));
  }
  text("evaluation.html", evaluation_page(result, pictures));
}

}  // namespace vitascope::app
