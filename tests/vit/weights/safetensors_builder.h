#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "vit/file.h"

/// \file
/// Files of safetensors made byte by byte, and folders to put them in.
namespace vitascope::tests {

/// A file from its header and data; the stated length may lie.
inline std::string file_of(const std::string& header, const std::string& data,
                           std::uint64_t stated = UINT64_MAX) {
  if (stated == UINT64_MAX) stated = header.size();
  std::string file(8, '\0');
  for (int i = 0; i < 8; ++i) file[i] = static_cast<char>((stated >> (8 * i)) & 0xff);
  return file + header + data;
}

/// One tensor entry of a header.
inline std::string entry(const std::string& name, const std::string& dtype,
                         const std::string& shape, const std::string& offsets) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":{}}})", name, dtype, shape,
                     offsets);
}

/// The content of a file.
inline std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Bytes as text, to be compared.
inline std::string text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A folder of this test, empty at its start and removed at its end.
class FolderTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& content) const {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      ("vitascope_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) +
       "_" + std::to_string(::getpid()));
};

}  // namespace vitascope::tests
