# Target 'lint': clang-tidy over every source file, one stamp a file, so that a file is looked at
# again only when it, or a header of the project that it includes, has changed.
find_program(VITASCOPE_CLANG_TIDY NAMES clang-tidy)
find_program(VITASCOPE_CLANG NAMES clang++)
add_custom_target(lint)
set(lint ${CMAKE_SOURCE_DIR}/tests/lint.py)
set(lint_precompiled ${CMAKE_BINARY_DIR}/lint/headers.pch)
if(VITASCOPE_LINT AND NOT (VITASCOPE_CLANG_TIDY AND VITASCOPE_CLANG))
  message(STATUS "Target 'lint' does nothing: clang-tidy or clang++ was not found")
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# Once the precompiled header is declared, its counterpart for clang.
function(vitascope_lint_precompiled)
  if(TARGET lint-precompiled)
    return()
  endif()
  add_custom_command(
    OUTPUT ${lint_precompiled}
    COMMAND ${Python3_EXECUTABLE} ${lint} precompile ${VITASCOPE_CLANG} ${CMAKE_BINARY_DIR}
    DEPENDS ${CMAKE_SOURCE_DIR}/.cmake/compiler.cmake
    COMMENT "Precompiling headers for clang-tidy"
    VERBATIM)
  add_custom_target(lint-precompiled DEPENDS ${lint_precompiled})
endfunction()

function(vitascope_lint target)
  if(NOT VITASCOPE_LINT OR NOT VITASCOPE_CLANG_TIDY OR NOT VITASCOPE_CLANG)
    return()
  endif()
  vitascope_lint_precompiled()
  set(stamps)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(source ${source} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${source})
    if(NOT name MATCHES "\\.cpp$" OR name MATCHES "^\\.\\.")
      continue()
    endif()
    string(REPLACE "/" "-" stamp ${name})
    set(stamp ${CMAKE_BINARY_DIR}/lint/${stamp}.stamp)
    add_custom_command(
      OUTPUT ${stamp}
      COMMAND ${Python3_EXECUTABLE} ${lint} check ${VITASCOPE_CLANG_TIDY} ${CMAKE_BINARY_DIR}
              ${source} ${stamp}
      DEPENDS ${source} ${lint} ${CMAKE_SOURCE_DIR}/.clang-tidy lint-precompiled
      DEPFILE ${stamp}.d
      COMMENT "clang-tidy ${name}"
      VERBATIM)
    list(APPEND stamps ${stamp})
  endforeach()
  add_custom_target(lint-${target} DEPENDS ${stamps})
  add_dependencies(lint lint-${target})
endfunction()
