# The web pages as a library: watchbill::web, whose header is apps/web/assets.hpp.
#
# The pages are bundled with Node when the project is built. Where there is no Node, name files that were built
# elsewhere (the folder that apps/web/build.mjs wrote: assets_PAGE.S and assets_PAGE.cc of every page, and z/) with
# WATCHBILL_WEB_PREBUILT.

set(WATCHBILL_WEB_PREBUILT "" CACHE PATH "Folder with assets_*.S, assets_*.cc and z/ built elsewhere: no Node needed")

set(_web_source ${PROJECT_SOURCE_DIR}/apps/web)

if(WATCHBILL_WEB_PREBUILT)
  get_filename_component(_web_out ${WATCHBILL_WEB_PREBUILT} ABSOLUTE BASE_DIR ${CMAKE_BINARY_DIR})
else()
  set(_web_out ${PROJECT_BINARY_DIR}/web)
endif()

# Each page in objects of its own, so that a program carries only the page it asks for.
set(_web_assembly)
set(_web_tables)
foreach(_page monitor supervisor)
  list(APPEND _web_assembly ${_web_out}/assets_${_page}.S)
  list(APPEND _web_tables ${_web_out}/assets_${_page}.cc)
endforeach()

if(WATCHBILL_WEB_PREBUILT)
  foreach(_file ${_web_assembly} ${_web_tables} ${_web_out}/z)
    if(NOT EXISTS ${_file})
      message(FATAL_ERROR "WATCHBILL_WEB_PREBUILT names ${_web_out}, but there is no ${_file}")
    endif()
  endforeach()
else()
  find_program(WATCHBILL_NODE NAMES node nodejs REQUIRED)
  find_program(WATCHBILL_NPM NAMES npm REQUIRED)
  file(GLOB_RECURSE _web_files CONFIGURE_DEPENDS ${_web_source}/src/*)

  # esbuild and TypeScript bring their programs as optional packages of the platform, so --omit=optional would break them.
  add_custom_command(
    OUTPUT ${_web_out}/npm.stamp
    COMMAND ${WATCHBILL_NPM} ci --no-audit --no-fund --ignore-scripts --prefer-offline
    COMMAND ${CMAKE_COMMAND} -E make_directory ${_web_out}
    COMMAND ${CMAKE_COMMAND} -E touch ${_web_out}/npm.stamp
    DEPENDS ${_web_source}/package.json ${_web_source}/package-lock.json
    WORKING_DIRECTORY ${_web_source}
    COMMENT "Installing the packages of the web pages"
    VERBATIM)
  add_custom_command(
    OUTPUT ${_web_assembly} ${_web_tables}
    COMMAND ${WATCHBILL_NODE} ${_web_source}/node_modules/typescript/bin/tsc --noEmit -p ${_web_source}
    COMMAND ${WATCHBILL_NODE} ${_web_source}/build.mjs ${_web_out}
    DEPENDS ${_web_out}/npm.stamp ${_web_files} ${_web_source}/build.mjs ${_web_source}/tsconfig.json
    WORKING_DIRECTORY ${_web_source}
    COMMENT "Bundling the web pages"
    VERBATIM)
endif()

# The assembly names the files relative to where it was written, so that the folder can be moved as a whole.
set_source_files_properties(${_web_assembly} PROPERTIES COMPILE_OPTIONS "-Wa,-I${_web_out}")

add_library(watchbill_web STATIC ${_web_assembly} ${_web_tables} ${_web_source}/assets.hpp)
add_library(watchbill::web ALIAS watchbill_web)
target_include_directories(watchbill_web PUBLIC ${PROJECT_SOURCE_DIR})
target_compile_features(watchbill_web PUBLIC cxx_std_20)
