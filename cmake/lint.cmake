# Targets that check the sources: format, format-check, tidy, cppcheck, banned.
find_program(CLANG_FORMAT NAMES clang-format-14 clang-format)
find_program(RUN_CLANG_TIDY NAMES run-clang-tidy-14 run-clang-tidy)
find_program(CPPCHECK cppcheck)

set(lint ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DBUILD=${CMAKE_BINARY_DIR}
    -DCLANG_FORMAT=${CLANG_FORMAT} -DRUN_CLANG_TIDY=${RUN_CLANG_TIDY} -DCPPCHECK=${CPPCHECK}
    -P ${CMAKE_SOURCE_DIR}/cmake/lint_run.cmake)
foreach(what format format-check tidy cppcheck)
    add_custom_target(${what} COMMAND ${lint} ${what} VERBATIM USES_TERMINAL)
endforeach()

# SEC-23, SIM-01: reads the symbol tables of the objects, so a macro cannot hide a call.
add_custom_target(banned COMMAND ${CMAKE_SOURCE_DIR}/scripts/banned.sh ${CMAKE_BINARY_DIR} VERBATIM USES_TERMINAL)
if(JOBFLOW_LIBS)
    add_dependencies(banned ${JOBFLOW_LIBS})
endif()
