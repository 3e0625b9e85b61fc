#include "vit/error.h"

#include "vit/text.h"

namespace vitascope {

InputError::InputError(const std::string& path, const std::string& message)
    : std::runtime_error(printable(path) + ": " + message), path_(path), message_(message) {}

}  // namespace vitascope
