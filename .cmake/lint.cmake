# Target 'lint': clang-tidy over every source file. Files are looked at by eights, one stamp an
# eight, which are looked at again only when one of them, or a header of the project that they
# include, has changed.
find_program(VITASCOPE_CLANG_TIDY NAMES clang-tidy PATHS ${CMAKE_SOURCE_DIR}/.venv/bin NO_DEFAULT_PATH)
add_custom_target(lint)
if(VITASCOPE_LINT AND NOT VITASCOPE_CLANG_TIDY)
  message(STATUS "Target 'lint' does nothing: app/setup.sh --tests installs clang-tidy")
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)

function(vitascope_lint target)
  if(NOT VITASCOPE_LINT OR NOT VITASCOPE_CLANG_TIDY)
    return()
  endif()
  set(files)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(source ${source} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${source})
    if(name MATCHES "\\.cpp$" AND NOT name MATCHES "^\\.\\.")
      list(APPEND files ${source})
    endif()
  endforeach()

  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/lint)
  set(lint ${CMAKE_SOURCE_DIR}/tests/lint.py)
  set(stamps)
  list(LENGTH files count)
  math(EXPR runs "(${count} + 7) / 8")
  foreach(run RANGE 1 ${runs})
    # Not neighbours, which are the likeliest to have things of the same name.
    set(eight)
    math(EXPR index "${run} - 1")
    while(index LESS count)
      list(GET files ${index} source)
      list(APPEND eight ${source})
      math(EXPR index "${index} + ${runs}")
    endwhile()
    set(stamp ${CMAKE_BINARY_DIR}/lint/${target}-${run}.stamp)
    list(TRANSFORM eight REPLACE "^${CMAKE_SOURCE_DIR}/" "" OUTPUT_VARIABLE names)
    list(JOIN names " " names)
    add_custom_command(
      OUTPUT ${stamp}
      COMMAND ${Python3_EXECUTABLE} ${lint} ${VITASCOPE_CLANG_TIDY} ${CMAKE_BINARY_DIR} ${stamp} ${eight}
      DEPENDS ${eight} ${lint} ${CMAKE_SOURCE_DIR}/.clang-tidy
      DEPFILE ${stamp}.d
      COMMENT "clang-tidy ${names}"
      VERBATIM)
    list(APPEND stamps ${stamp})
  endforeach()
  add_custom_target(lint-${target} DEPENDS ${stamps})
  add_dependencies(lint lint-${target})
endfunction()
