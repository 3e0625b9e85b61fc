#include "app/model_use.h"

#include <fmt/format.h>

#include <string_view>

#include "app/output.h"

namespace vitascope::app {
namespace {

/// A JSON string is one of Python too.
std::string transformers_lines(const std::string& folder) {
  return fmt::format(R"(
With transformers:

```python
import transformers

classify = transformers.pipeline("image-classification", model={})
print(classify("photo.jpg"))
```
)",
                     output::json_string(folder));
}

std::string timm_lines(const std::string& folder, bool multi_label) {
  return fmt::format(R"(
```python
import json
import PIL.Image, timm, torch

folder = {}
model = timm.create_model("local-dir:" + folder, pretrained=True).eval()
prepare = timm.data.create_transform(**timm.data.resolve_model_data_config(model))
labels = json.load(open(folder + "/config.json"))["label_names"]
photo = PIL.Image.open("photo.jpg").convert("RGB")
with torch.no_grad():
    probabilities = model(prepare(photo).unsqueeze(0)){}[0]
print(sorted(zip(probabilities.tolist(), labels), reverse=True)[:5])
```
)",
                     output::json_string(folder), multi_label ? ".sigmoid()" : ".softmax(1)");
}

}  // namespace

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-:@%=,";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += R"('\'')";
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::string use_section(const ModelUse& use) {
  const std::string folder = shell_word(use.folder);
  std::string text = fmt::format(
      "\n## Use\n\nFrom the folder above this one, without Python:\n\n"
      "    vitascope classify photo.jpg --model {}\n",
      folder);
  if (use.layout == weights::Layout::timm) {
    return text + "\nWith timm:\n" + timm_lines(use.folder, use.multi_label);
  }
  if (use.layout == weights::Layout::vitascope) {
    return text + "\nNeither transformers nor timm has a network of this kind.\n";
  }
  text += transformers_lines(use.folder);
  if (!use.fits_timm) return text;
  const std::string converted = use.folder + "-timm";
  text +=
      fmt::format("\nWith timm, after `vitascope convert --model {} --output {} --layout timm`:\n",
                  folder, shell_word(converted));
  return text + timm_lines(converted, use.multi_label);
}

}  // namespace vitascope::app
