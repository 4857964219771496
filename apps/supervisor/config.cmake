# The configuration file's reader, a library of its own: tests and the fuzzer need nothing else of the program.
add_library(watchbill_supervisor_config STATIC src/config.cc src/config_places.cc src/yaml_source.cc src/yaml_text.cc)
target_include_directories(watchbill_supervisor_config PUBLIC ${CMAKE_CURRENT_LIST_DIR}/src)
target_link_libraries(watchbill_supervisor_config
  PUBLIC watchbill::base
  PRIVATE watchbill_flags fmt::fmt yaml-cpp OpenSSL::Crypto)
