// make_page FOLDER: writes sample.html, hostile.html and the maps of the sample's layers as
// float32: per layer [H, N] of the heads, then [N, N] of the patches. Of the page of captions
// captions.html, captions-hostile.html, captions-many.html and the weights of the first: per
// caption [T, N].
#include <fstream>
#include <iostream>

#include "app/report/report.h"
#include "tests/app/report/sample_captions.h"
#include "tests/app/report/sample_report.h"
#include "vit/file.h"

namespace {

void append(std::ofstream& file, const std::vector<float>& values) {
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
}

}  // namespace

int main(int count, char** words) {
  using namespace vitascope;
  if (count != 2) {
    std::cerr << "usage: make_page FOLDER\n";
    return 2;
  }
  const std::string folder = words[1];
  const app::report::Report sample = tests::sample_report();
  const app::report::CaptionPage captions = tests::sample_captions();
  const auto write = [&](const std::string& name, const auto& page) {
    write_file(folder + "/" + name, /*force=*/true, render(page));
  };
  write("sample.html", sample);
  write("hostile.html", tests::hostile_report());
  write("captions.html", captions);
  write("captions-hostile.html", tests::hostile_captions());
  write("captions-many.html", tests::many_captions());
  std::ofstream maps(folder + "/maps.bin", std::ios::binary);
  for (const app::report::Layer& layer : sample.layers) {
    append(maps, layer.heads);
    append(maps, layer.patches);
  }
  std::ofstream weights(folder + "/captions.bin", std::ios::binary);
  for (const app::report::CaptionedPhoto& photo : captions.photos) {
    for (const app::report::WrittenCaption& caption : photo.captions) {
      append(weights, caption.weights);
    }
  }
  return maps.flush() && weights.flush() ? 0 : 3;
}
