// make_page FOLDER: writes sample.html, hostile.html and the maps of the sample's layers as
// float32: per layer [H, N] of the heads, then [N, N] of the patches.
#include <fstream>
#include <iostream>

#include "tests/app/report/sample_report.h"

int main(int count, char** words) {
  using namespace vitascope;
  if (count != 2) {
    std::cerr << "usage: make_page FOLDER\n";
    return 2;
  }
  const std::string folder = words[1];
  const app::report::Report sample = tests::sample_report();
  app::report::write_html(folder + "/sample.html", sample, true);
  app::report::write_html(folder + "/hostile.html", tests::hostile_report(), true);
  std::ofstream maps(folder + "/maps.bin", std::ios::binary);
  for (const app::report::Layer& layer : sample.layers) {
    for (const auto* values : {&layer.heads, &layer.patches}) {
      maps.write(reinterpret_cast<const char*>(values->data()),
                 static_cast<std::streamsize>(values->size() * sizeof(float)));
    }
  }
  return maps.flush() ? 0 : 3;
}
