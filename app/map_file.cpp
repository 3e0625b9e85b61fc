#include "app/map_file.h"

#include <ATen/ATen.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "app/saved_rows.h"
#include "app/values.h"
#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

using Json = nlohmann::ordered_json;

std::string ending(const std::string& path) {
  return std::filesystem::path(path).extension().string();
}

/// Rectangles and values are written with the digits that give each number back.
Json as_json(const SavedMap& map) {
  const int rows = static_cast<int>(map.values.size(0));
  const int columns = static_cast<int>(map.values.size(1));
  const auto value = map.values.accessor<float, 2>();
  Json values = Json::array(), cells = Json::array();
  for (int row = 0; row < rows; ++row) {
    Json value_row = Json::array(), cell_row = Json::array();
    for (int column = 0; column < columns; ++column) {
      value_row.push_back(value[row][column]);
      const image::Rectangle cell = map.view.cell(row, column, rows, columns);
      cell_row.push_back({cell.left, cell.top, cell.right, cell.bottom});
    }
    values.push_back(std::move(value_row));
    cells.push_back(std::move(cell_row));
  }
  Json json{{"path", map.path}, {"model", map.model}, {"method", map.method}};
  json["layer"] = map.layer ? Json(*map.layer) : Json();
  json["heads"] = map.heads.empty() ? Json() : Json(map.heads);
  json["class"] =
      map.class_index ? Json{{"index", *map.class_index}, {"label", map.class_label}} : Json();
  json["photo"] = {map.view.picture().width, map.view.picture().height};
  json["grid"] = {rows, columns};
  json["values"] = std::move(values);
  json["cells"] = std::move(cells);
  return json;
}

}  // namespace

void check_map_file(const std::string& path) {
  const std::string end = ending(path);
  if (end == ".json" || end == ".npy") return;
  throw UsageError("--save-map: " + in_quotes(path) +
                   " ends in neither .json nor .npy, which choose the format");
}

void write_map(const std::string& path, const SavedMap& map, bool force) {
  check_map_file(path);
  const at::Tensor values = map.values.contiguous();
  if (ending(path) == ".npy") {
    write_npy(path, values.sizes().vec(),
              {values.const_data_ptr<float>(), static_cast<std::size_t>(values.numel())}, force);
    return;
  }
  const auto replace = Json::error_handler_t::replace;  // names of files are any bytes
  write_file(path, force, as_json(map).dump(-1, ' ', false, replace) + "\n");
}

}  // namespace vitascope::app
