# cmake -DSOURCE=… -DBUILD=… -P lint_run.cmake format|format-check|tidy|cppcheck
math(EXPR last "${CMAKE_ARGC} - 1")
set(what ${CMAKE_ARGV${last}})

set(DIRS "")
foreach(dir api base bench cli flow job node probes schedule template tests view web)
    if(EXISTS ${SOURCE}/${dir})
        list(APPEND DIRS ${dir})
    endif()
endforeach()

set(files "")
foreach(dir IN LISTS DIRS)
    file(GLOB_RECURSE found ${SOURCE}/${dir}/*.c ${SOURCE}/${dir}/*.h)
    list(APPEND files ${found})
endforeach()
if(NOT files)
    message(FATAL_ERROR "${what}: no sources below ${SOURCE}")
endif()
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)

function(need tool)
    if(NOT ${tool})
        message(FATAL_ERROR "${tool} is not installed: run scripts/deps.sh --check")
    endif()
endfunction()

if(what STREQUAL "format")
    need(CLANG_FORMAT)
    execute_process(COMMAND ${CLANG_FORMAT} -i ${files} COMMAND_ERROR_IS_FATAL ANY)
elseif(what STREQUAL "format-check")
    need(CLANG_FORMAT)
    execute_process(COMMAND ${CLANG_FORMAT} --dry-run -Werror ${files} RESULT_VARIABLE failed)
elseif(what STREQUAL "tidy")
    need(RUN_CLANG_TIDY)
    # Only sources that this build compiles. DIRS has no generated and no third-party sources.
    string(REPLACE ";" "|" dirs "${DIRS}")
    string(REGEX REPLACE "([][+.*()^$?{}])" "\\\\\\1" here "${SOURCE}")
    execute_process(COMMAND ${RUN_CLANG_TIDY} -quiet -j ${cores} -p ${BUILD} "^${here}/(${dirs})/.*\\.c$"
        RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE noise)
    if(failed)
        message("${output}")
    endif()
elseif(what STREQUAL "cppcheck")
    need(CPPCHECK)
    list(TRANSFORM DIRS PREPEND ${SOURCE}/ OUTPUT_VARIABLE dirs)
    file(MAKE_DIRECTORY ${BUILD}/cppcheck)
    # cppcheck reads no system headers; the members that LIST_ENTRY and its kin declare are only in this one.
    file(GLOB queue_h /usr/include/sys/queue.h /usr/include/*/sys/queue.h)
    need(queue_h)
    list(GET queue_h 0 queue_h)
    execute_process(COMMAND ${CPPCHECK} --include=${queue_h} --quiet -j ${cores} --std=c11 --language=c
        --enable=warning,performance,portability --inline-suppr --error-exitcode=1
        --suppressions-list=${SOURCE}/cmake/cppcheck.supp --cppcheck-build-dir=${BUILD}/cppcheck
        --template={file}:{line}:\ {severity}:\ {message}\ [{id}] -D_GNU_SOURCE -I ${SOURCE} ${dirs}
        RESULT_VARIABLE failed)
else()
    message(FATAL_ERROR "unknown: ${what}")
endif()
if(failed)
    message(FATAL_ERROR "${what}: findings above")
endif()
