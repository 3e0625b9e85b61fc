#pragma once

#include <string>
#include <vector>

#include "app/evaluation.h"
#include "app/evaluation_result.h"
#include "app/output.h"
#include "app/part_file.h"
#include "vit/image/decode.h"
#include "vit/json_object.h"

/// \file
/// What parts hold of `classify` and `evaluate`, as JSON and back. Whatever reads throws InputError
/// or Json::exception where the JSON is another.
namespace vitascope::app {

/// Texts that may not be UTF-8.
Json texts_json(const std::vector<std::string>& texts);
std::vector<std::string> texts_of(const Json& list);

/// One photo's predictions, without its path.
Json classification_row(const output::Classification& result);
output::Classification classification_of(const Json& row, const std::vector<std::string>& labels);

/// The answer to one photo, which is all that `one` holds.
Json answer_row(const Answers& one);
/// Adds what answer_row gave.
void add_answer(const Json& row, Answers& answers);

/// What an evaluation needs beside the answers to photos.
struct EvaluationDetails {
  Answers answers;  ///< none yet: the model, its labels
  EvaluationSubject subject;
  EvaluationOptions options;
  image::DecodeOptions decode;
};

/// The details of a part's header.
Json details_json(const EvaluationDetails& details);
/// \param path of the part
EvaluationDetails evaluation_details(const Json& json, const std::string& path);

}  // namespace vitascope::app
