#pragma once

#include <gtest/gtest.h>

#include <string>

#include "vit/error.h"

/// \file
/// The messages of errors.
namespace vitascope::tests {

/// The message of the InputError that `action` throws; "" and a failure when it throws none.
template <typename Action>
std::string input_error(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << "not one line: " << text;
    return text;
  }
  ADD_FAILURE() << "no InputError";
  return "";
}

}  // namespace vitascope::tests
