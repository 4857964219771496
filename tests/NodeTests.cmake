# Tests that run programs: integration (npm's ws as the peer), and the pages in a real browser.
find_program(NODE node REQUIRED)
find_program(NPM npm REQUIRED)
set(node_stamp ${PROJECT_BINARY_DIR}/tests-npm.stamp)
add_custom_command(OUTPUT ${node_stamp}
  COMMAND ${NPM} ci --no-audit --no-fund --ignore-scripts --prefer-offline
  COMMAND ${CMAKE_COMMAND} -E touch ${node_stamp}
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/package.json ${CMAKE_CURRENT_SOURCE_DIR}/package-lock.json
  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} COMMENT "Installing what the Node tests need" VERBATIM)
add_custom_target(node_tests_ready ALL DEPENDS ${node_stamp})

function(watchbill_node_test label file)
  get_filename_component(name ${file} NAME_WE)
  add_test(NAME "${label}: ${name}" COMMAND ${NODE} --test ${file} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties("${label}: ${name}" PROPERTIES LABELS ${label} TIMEOUT 1200
    ENVIRONMENT "WATCHBILL_BIN_DIR=${WATCHBILL_BIN_DIR}")
endfunction()

file(GLOB integration_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/integration/*.test.mjs)
foreach(file ${integration_tests})
  watchbill_node_test(integration ${file})
endforeach()
file(GLOB browser_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/browser/*.test.mjs)
foreach(file ${browser_tests})
  watchbill_node_test(browser ${file})
endforeach()
