# Tests: tests/**/test_*.c, tests/system/*.{sh,py} and tests/web/*.py become ctest tests, each in a fresh TMPDIR; tests/fuzz/fuzz_*.c
# become fuzzers (preset fuzz) or replay their corpus (elsewhere); bench/bench_*.c become programs, not tests;
# tests/preload/*.c become libraries that tests preload into the program.
set(in_fresh_dir ${CMAKE_SOURCE_DIR}/tests/in_fresh_dir.sh)
set(sanitizer_env
    "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1"
    "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1"
    "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:suppressions=${CMAKE_SOURCE_DIR}/tests/tsan.supp"
    "LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/lsan.supp")
if(JOBFLOW_MODE MATCHES "asan|tsan|fuzz") # longer than DEADLINE of tests/system/lib.py, after which a test itself reports a hang
    set(test_timeout 1500)
else()
    set(test_timeout 600)
endif()

# jobflow_add_test(<name> LABEL <label> COMMAND …)
function(jobflow_add_test name)
    cmake_parse_arguments(arg "" "LABEL" "COMMAND" ${ARGN})
    add_test(NAME ${name} COMMAND ${in_fresh_dir} ${arg_COMMAND} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set(env ${sanitizer_env} "JOBFLOW_SOURCE=${CMAKE_SOURCE_DIR}" "JOBFLOW_MODE=${JOBFLOW_MODE}")
    if(TARGET jobflow)
        list(APPEND env "JOBFLOW=$<TARGET_FILE:jobflow>")
    endif()
    if(TARGET syscalls)
        list(APPEND env "JOBFLOW_SYSCALLS=$<TARGET_FILE:syscalls>" "JOBFLOW_CLOCK_JUMPS=$<TARGET_FILE:clock_jumps>")
    endif()
    set_tests_properties(${name} PROPERTIES
        ENVIRONMENT "${env}" LABELS ${arg_LABEL} TIMEOUT ${test_timeout})
    if(name MATCHES "^test_node_runtime_") # their pods have equal uids, and one test ends the lost pods of another by their uid
        set_tests_properties(${name} PROPERTIES RESOURCE_LOCK pod_uids)
    endif()
    if(arg_LABEL STREQUAL "system") # in other tests 77 may be the number of failed cases or the exit code of a fuzzer
        set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
    endif()
endfunction()

# The name of a test or program from its path: tests/base/test_error.c is test_base_error.
function(name_from_path path prefix out)
    file(RELATIVE_PATH relative ${CMAKE_SOURCE_DIR}/tests ${path})
    get_filename_component(folder ${relative} DIRECTORY)
    get_filename_component(stem ${relative} NAME_WE)
    string(REGEX REPLACE "^${prefix}" "" stem ${stem})
    string(REPLACE "/" "_" folder "${folder}")
    if(folder)
        set(stem ${folder}_${stem})
    endif()
    set(${out} ${prefix}${stem} PARENT_SCOPE)
endfunction()

add_test(NAME layers COMMAND ${CMAKE_COMMAND} -P ${CMAKE_SOURCE_DIR}/tests/layers.cmake
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
add_test(NAME citations COMMAND python3 ${CMAKE_SOURCE_DIR}/tests/citations.py)
add_test(NAME hosts COMMAND python3 ${CMAKE_SOURCE_DIR}/tests/hosts.py)
add_test(NAME mutants COMMAND python3 ${CMAKE_SOURCE_DIR}/tests/mutants/run.py --check) # plants nothing
add_test(NAME conformance_ids COMMAND ${CMAKE_SOURCE_DIR}/scripts/conformance.sh)

file(GLOB support CONFIGURE_DEPENDS tests/support/*.c tests/fake/*.c)
if(support)
    add_library(test_support STATIC ${support})
    target_link_libraries(test_support PRIVATE jobflow_flags thirdparty)
endif()

# A test links its own layer and those below it, so it builds even if another layer does not. The first matching row
# applies; tests without a row (system, conformance, fuzz, …) link all libraries.
set(api_below "base api_types api_store api_registry api_client api_cluster")
set(test_layers
    "^base/|base"
    "^api/types/|base api_types"
    "^api/store/|base api_types api_store"
    "^api/registry/|base api_types api_store api_registry"
    "^api/client/|base api_types api_client"
    "^api/submit/|base api_types api_store api_registry api_submit"
    "^api/server/|${api_below} api_submit api_server"
    "^api/cluster_remote/|${api_below} api_submit api_cluster_remote api_server"
    "^api/|${api_below}"
    "^probes/|${api_below} probes"
    "^template/|${api_below} template"
    "^flow/|${api_below} api_submit api_cluster_remote api_server probes template flow"
    "^job/|${api_below} job"
    "^schedule/|${api_below} schedule"
    "^node/|${api_below} node probes")

function(link_test name path)
    file(RELATIVE_PATH relative ${CMAKE_SOURCE_DIR}/tests ${path})
    set(libs "")
    foreach(row IN LISTS test_layers)
        if(row MATCHES "^([^|]*)[|](.*)$")
            set(wanted "${CMAKE_MATCH_2}")
            if(relative MATCHES "${CMAKE_MATCH_1}")
                string(REPLACE " " ";" libs "${wanted}")
                break()
            endif()
        endif()
    endforeach()
    foreach(lib IN LISTS libs)
        if(NOT TARGET ${lib})
            list(REMOVE_ITEM libs ${lib})
        endif()
    endforeach()
    if(TARGET test_support)
        target_link_libraries(${name} PRIVATE test_support)
    endif()
    if(libs)
        string(REPLACE ";" "," group "${libs}")
        target_link_libraries(${name} PRIVATE "$<LINK_GROUP:RESCAN,${group}>" jobflow_flags thirdparty)
    else()
        target_link_libraries(${name} PRIVATE jobflow_all)
    endif()
endfunction()

# A line "/* wraps: f g */" of a source: calls of f and g in the libraries of jobflow go to its __wrap_f and __wrap_g.
function(link_wraps name path)
    file(STRINGS ${path} wraps REGEX "^/\\* wraps: .* \\*/$")
    file(STRINGS ${path} torn REGEX "^/\\* wraps: .*[^/]$")
    if(torn)
        message(FATAL_ERROR "${path}: \"${torn}\" goes on in the next line: begin another /* wraps: … */ there")
    endif()
    foreach(line IN LISTS wraps)
        string(REGEX REPLACE "^/\\* wraps: (.*) \\*/$" "\\1" line "${line}")
        string(REPLACE " " ";" functions "${line}")
        list(TRANSFORM functions PREPEND "LINKER:--wrap=")
        target_link_options(${name} PRIVATE ${functions})
    endforeach()
endfunction()

if(NOT JOBFLOW_MODE STREQUAL "fuzz")
    pkg_check_modules(cmocka REQUIRED IMPORTED_TARGET cmocka)
    file(GLOB_RECURSE tests CONFIGURE_DEPENDS tests/test_*.c)
    foreach(path IN LISTS tests)
        name_from_path(${path} test_ name)
        add_executable(${name} ${path})
        set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
        link_test(${name} ${path})
        target_link_libraries(${name} PRIVATE PkgConfig::cmocka)
        link_wraps(${name} ${path})
        jobflow_add_test(${name} LABEL unit COMMAND $<TARGET_FILE:${name}>)
        # The flow controller cannot tell a remote cluster from the embedded one. The tests left out compare with rules that
        # know the embedded one (random, planted), or need PodLogs or CacheEntries, which other clusters do not have.
        if(name MATCHES "^test_flow_" AND NOT name MATCHES "_(model|graph)_|_reuse|_(random|planted|kept_logs|decide|remote)$")
            jobflow_add_test(${name}_remote LABEL unit
                COMMAND ${CMAKE_COMMAND} -E env JOBFLOW_REMOTE_CLUSTER=1 $<TARGET_FILE:${name}>)
        endif()
    endforeach()

    if(TARGET jobflow AND NOT JOBFLOW_MODE MATCHES "asan|tsan") # a sanitizer must be the first preloaded library
        foreach(name syscalls clock_jumps)
            add_library(${name} MODULE tests/preload/${name}.c)
            target_compile_definitions(${name} PRIVATE _GNU_SOURCE)
            target_compile_options(${name} PRIVATE -Wall -Wextra -Wno-unused-parameter -Werror -fvisibility=hidden)
            set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
        endforeach()
    endif()

    if(TARGET jobflow)
        file(GLOB scripts CONFIGURE_DEPENDS tests/system/*.sh tests/system/*.py)
        foreach(path IN LISTS scripts)
            get_filename_component(stem ${path} NAME_WE)
            if(stem MATCHES "^(lib|common|helper)") # imported by other tests
                continue()
            endif()
            if(path MATCHES "\\.py$")
                jobflow_add_test(system_${stem} LABEL system COMMAND python3 ${path})
            else()
                jobflow_add_test(system_${stem} LABEL system COMMAND bash ${path})
            endif()
        endforeach()
    endif()

    # tests/web/*.py: tests of the page; browser_* drive a browser through python3-selenium, a package of Debian's own python3.
    if(TARGET jobflow AND JOBFLOW_WEB)
        find_program(DEBIAN_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
        if(NOT DEBIAN_PYTHON)
            set(DEBIAN_PYTHON python3)
        endif()
        file(GLOB scripts CONFIGURE_DEPENDS tests/web/*.py)
        foreach(path IN LISTS scripts)
            get_filename_component(stem ${path} NAME_WE)
            if(stem MATCHES "^lib")
                continue()
            elseif(NOT stem MATCHES "^browser_")
                set(stem web_${stem})
            endif()
            jobflow_add_test(${stem} LABEL system COMMAND ${DEBIAN_PYTHON} ${path})
            set_property(TEST ${stem} APPEND PROPERTY ENVIRONMENT "JOBFLOW_BUILD=${CMAKE_BINARY_DIR}")
        endforeach()
    endif()

    file(GLOB benches CONFIGURE_DEPENDS bench/bench_*.c)
    foreach(path IN LISTS benches)
        get_filename_component(name ${path} NAME_WE)
        add_executable(${name} ${path})
        set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
        link_test(${name} ${path})
        target_link_libraries(${name} PRIVATE shim_image)
    endforeach()
    if(TARGET bench_dag)
        target_link_libraries(bench_dag PRIVATE PkgConfig::igraph)
    endif()
endif()

file(GLOB fuzzers CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
foreach(path IN LISTS fuzzers)
    get_filename_component(name ${path} NAME_WE)
    string(REGEX REPLACE "^fuzz_" "" subject ${name})
    set(corpus ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${subject})
    if(JOBFLOW_MODE STREQUAL "fuzz")
        add_executable(${name} ${path})
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
        jobflow_add_test(${name} LABEL fuzz COMMAND $<TARGET_FILE:${name}> -runs=0 ${corpus})
    else()
        add_executable(${name} ${path} tests/fuzz/replay.c)
        jobflow_add_test(${name} LABEL fuzz COMMAND $<TARGET_FILE:${name}> ${corpus})
    endif()
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
    link_test(${name} ${path})
    link_wraps(${name} ${path})
endforeach()
