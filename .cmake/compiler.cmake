# Language level, warnings, sanitizers and the one way this project declares a library.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

# RPATH rather than RUNPATH: only RPATH also serves the libraries that LibTorch itself loads.
add_link_options(-Wl,--disable-new-dtags)

find_program(VITASCOPE_CCACHE ccache)
if(VITASCOPE_CCACHE)
  # A precompiled header is found in the cache only with this sloppiness.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime
      ${VITASCOPE_CCACHE})
endif()

find_package(Threads REQUIRED)

add_library(vitascope_warnings INTERFACE)
target_compile_options(vitascope_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual
  # GCC 12 warns falsely of operator+ on strings (its bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${VITASCOPE_WERROR}>:-Werror>)

if(VITASCOPE_SANITIZE)
  add_compile_options(-fsanitize=${VITASCOPE_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${VITASCOPE_SANITIZE})
endif()

# vitascope_objects(<name> <sources>...): an OBJECT library. A static library would drop the
# object files that only register operators with LibTorch.
function(vitascope_objects name)
  add_library(${name} OBJECT ${ARGN})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE vitascope_warnings)
  vitascope_lint(${name})
endfunction()

# vitascope_use_precompiled_header(<target>): shares the one precompiled header of the project.
# It holds LibTorch's tensor interface, which costs most of the time of compiling a file here. CLI11
# stays out: GCC instantiates its templates again in every file that the header serves.
function(vitascope_use_precompiled_header target)
  if(NOT TARGET vitascope_precompiled)
    if(NOT EXISTS ${CMAKE_BINARY_DIR}/precompiled.cpp)
      file(WRITE ${CMAKE_BINARY_DIR}/precompiled.cpp "")
    endif()
    add_library(vitascope_precompiled OBJECT ${CMAKE_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(vitascope_precompiled PRIVATE vitascope_warnings torch::headers
                                                        nlohmann_json::nlohmann_json)
    target_precompile_headers(vitascope_precompiled PRIVATE
      <ATen/ATen.h> <c10/core/InferenceMode.h> <nlohmann/json.hpp> <fmt/format.h>
      <filesystem> <functional> <map> <optional> <span> <string> <string_view> <vector>)
  endif()
  target_precompile_headers(${target} REUSE_FROM vitascope_precompiled)
endfunction()
