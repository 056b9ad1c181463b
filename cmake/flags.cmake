# Compiler and linker flags, all in the interface library jobflow_flags.
include(CheckCCompilerFlag)

add_library(jobflow_flags INTERFACE)
target_include_directories(jobflow_flags INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
target_compile_definitions(jobflow_flags INTERFACE _GNU_SOURCE)
target_compile_options(jobflow_flags INTERFACE
    -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wundef -Wvla
    -Wimplicit-fallthrough -Wswitch-enum -Wformat=2
    -Wno-missing-field-initializers -Wno-unused-parameter
    -ffunction-sections -fdata-sections -fPIE -fvisibility=hidden -fno-common -fno-strict-overflow -fno-delete-null-pointer-checks -fno-omit-frame-pointer)
target_link_options(jobflow_flags INTERFACE -pie -Wl,--as-needed -Wl,--gc-sections)
if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
    # {0} initialises structs of any type to zero; clang would demand nested braces.
    target_compile_options(jobflow_flags INTERFACE -Wno-missing-braces)
endif()
if(NOT JOBFLOW_MODE STREQUAL "release")
    target_compile_options(jobflow_flags INTERFACE -Werror)
endif()

# SEC-38. Flags that the processor or compiler does not support are left out; tests/system/hardening.sh checks the program.
set(hardening -D_FORTIFY_SOURCE=3 -fstack-protector-strong)
foreach(flag -fstack-clash-protection -fcf-protection=full)
    string(MAKE_C_IDENTIFIER "HAVE${flag}" have)
    check_c_compiler_flag(${flag} ${have})
    if(${have})
        list(APPEND hardening ${flag})
    endif()
endforeach()
set(hardening_link -Wl,-z,relro,-z,now,-z,noexecstack)

if(JOBFLOW_MODE STREQUAL "release")
    check_c_compiler_flag(-ftrivial-auto-var-init=zero HAVE_AUTO_VAR_INIT)
    target_compile_options(jobflow_flags INTERFACE -O2 -g ${hardening}
        $<$<BOOL:${HAVE_AUTO_VAR_INIT}>:-ftrivial-auto-var-init=zero>)
    target_link_options(jobflow_flags INTERFACE ${hardening_link})
elseif(JOBFLOW_MODE STREQUAL "dev")
    # No automatic zeroing in this mode, so that valgrind and the compiler detect a missing initialisation.
    target_compile_options(jobflow_flags INTERFACE -O1 -g -gdwarf-4 ${hardening})
    target_link_options(jobflow_flags INTERFACE ${hardening_link})
elseif(JOBFLOW_MODE STREQUAL "asan")
    set(sanitizers -fsanitize=address,undefined)
elseif(JOBFLOW_MODE STREQUAL "tsan")
    set(sanitizers -fsanitize=thread)
elseif(JOBFLOW_MODE STREQUAL "fuzz")
    set(sanitizers -fsanitize=address,undefined)
    target_compile_options(jobflow_flags INTERFACE -fsanitize=fuzzer-no-link)
elseif(JOBFLOW_MODE STREQUAL "cov")
    target_compile_options(jobflow_flags INTERFACE -O0 -g -gdwarf-4 --coverage -fprofile-update=atomic)
    target_link_options(jobflow_flags INTERFACE --coverage LINKER:--wrap=_exit)
    add_library(coverage STATIC cmake/coverage.c)
    target_compile_definitions(coverage PRIVATE _GNU_SOURCE)
    target_link_libraries(jobflow_flags INTERFACE coverage)
    set_source_files_properties(node/sandbox/rootfs.c PROPERTIES COMPILE_DEFINITIONS JOBFLOW_COVERAGE)
    # Before execve, gcc's own variant of it writes the counters and marks them as written. In a child that shares memory
    # with its parent that would be the end of the parent's counters.
    set_source_files_properties(node/sandbox/spawn.c PROPERTIES COMPILE_OPTIONS -fno-builtin-execve)
else()
    message(FATAL_ERROR "JOBFLOW_MODE must be dev, release, asan, tsan, fuzz or cov, not '${JOBFLOW_MODE}'")
endif()
if(sanitizers)
    target_compile_options(jobflow_flags INTERFACE -O1 -g -gdwarf-4 ${sanitizers} -fno-sanitize-recover=all)
    target_link_options(jobflow_flags INTERFACE ${sanitizers})
endif()
