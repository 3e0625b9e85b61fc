# Target 'lint': clang-tidy over every source file, one stamp a file, so that a file is looked at
# again only when it, or a header of the project, has changed.
find_program(VITASCOPE_CLANG_TIDY NAMES clang-tidy clang-tidy-14)
add_custom_target(lint)

function(vitascope_lint target)
  if(NOT VITASCOPE_LINT OR NOT VITASCOPE_CLANG_TIDY)
    return()
  endif()
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS
    ${CMAKE_SOURCE_DIR}/kernels/*.h ${CMAKE_SOURCE_DIR}/vit/*.h
    ${CMAKE_SOURCE_DIR}/datasets/*.h ${CMAKE_SOURCE_DIR}/app/*.h)
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
      COMMAND ${CMAKE_SOURCE_DIR}/tests/lint.sh ${VITASCOPE_CLANG_TIDY} ${CMAKE_BINARY_DIR} ${source}
              ${stamp}
      DEPENDS ${source} ${CMAKE_SOURCE_DIR}/.clang-tidy ${headers}
      COMMENT "clang-tidy ${name}"
      VERBATIM)
    string(MAKE_C_IDENTIFIER "lint-${target}-${name}" custom)
    add_custom_target(${custom} DEPENDS ${stamp})
    add_dependencies(lint ${custom})
  endforeach()
endfunction()
