# Language level, warnings, sanitizers and the tools that are used where they are found.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
# The archives also go into libwatchbill.so, which shows the wb_ names alone.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(watchbill_flags INTERFACE)
# The C sources must not see the options that only C++ knows.
set_property(TARGET watchbill_flags PROPERTY INTERFACE_COMPILE_OPTIONS
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wnon-virtual-dtor;-Woverloaded-virtual;-Wformat=2>
  $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wstrict-prototypes>
  $<$<AND:$<BOOL:${WATCHBILL_WERROR}>,$<NOT:$<COMPILE_LANGUAGE:ASM>>>:-Werror>)

if(WATCHBILL_SANITIZE)
  add_compile_options($<$<NOT:$<COMPILE_LANGUAGE:ASM>>:-fsanitize=${WATCHBILL_SANITIZE}>
                      $<$<NOT:$<COMPILE_LANGUAGE:ASM>>:-fno-sanitize-recover=undefined>
                      $<$<NOT:$<COMPILE_LANGUAGE:ASM>>:-fno-omit-frame-pointer>
                      # gcc's own manual: sanitizers make this warning wrong.
                      $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=${WATCHBILL_SANITIZE})
endif()
add_link_options(-Wl,--as-needed)
