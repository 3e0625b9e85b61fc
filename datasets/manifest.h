#pragma once

#include <string>

#include "datasets/labelled_images.h"

/// \file
/// A table of photos and their labels: CSV or JSON lines, and the folder that Hugging Face's
/// `imagefolder` reads.
namespace vitascope::datasets {

/// Reads a table (.csv, .tsv, .jsonl or .ndjson, in any case). Columns: the photo (path, file,
/// filename, file_name, image), taken from the table's own folder on; the label (label, class or
/// category), or `labels`: a JSON list, or in CSV names between semicolons or bars; and, where
/// wanted, split and weight. Without a column of these names the only other column is the label.
/// \throws InputError that names the line and what was expected there
LabelledImages read_manifest(const std::string& path);

/// Whether the folder holds metadata.csv or metadata.jsonl, itself or in folders named after
/// splits.
bool is_metadata_folder(const std::string& folder);

/// Reads those tables; the split is that of the folder, or of the first folder in a photo's path.
/// \throws InputError as read_manifest
LabelledImages read_metadata_folder(const std::string& folder);

/// The tables directly in the folder that can be taken for the one of this data set: labels.* or
/// manifest.*; else those named after splits (train.csv, val.csv); else the only one, unless there
/// are several folders, which may be classes. Empty: none.
std::vector<std::string> manifests_in(const std::string& folder);

/// Reads several tables, each for the split that its name says.
/// \throws InputError as read_manifest
LabelledImages read_manifests(const std::vector<std::string>& paths);

}  // namespace vitascope::datasets
