# The libraries of record, each from its Debian package (scripts/deps.sh); one interface library: thirdparty.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL 3 REQUIRED)

add_library(thirdparty INTERFACE)
foreach(module libuv libcurl jansson yaml-0.1 igraph sqlite3 libxxhash libseccomp libcap)
    pkg_check_modules(${module} REQUIRED IMPORTED_TARGET ${module})
    target_link_libraries(thirdparty INTERFACE PkgConfig::${module})
endforeach()
target_link_libraries(thirdparty INTERFACE OpenSSL::SSL OpenSSL::Crypto Threads::Threads m)

find_path(UTHASH_DIR uthash.h REQUIRED)

# node-llhttp ships C sources; they are compiled as they are, with our hardening but without our warnings.
find_path(LLHTTP_INCLUDE llhttp.h PATHS /usr/share/include/llhttp PATH_SUFFIXES llhttp REQUIRED)
find_path(LLHTTP_SOURCE llhttp.c PATHS /usr/share/llhttp PATH_SUFFIXES llhttp REQUIRED)
add_library(llhttp STATIC ${LLHTTP_SOURCE}/api.c ${LLHTTP_SOURCE}/http.c ${LLHTTP_SOURCE}/llhttp.c)
target_include_directories(llhttp SYSTEM PUBLIC ${LLHTTP_INCLUDE})
target_link_libraries(llhttp PRIVATE jobflow_flags)
target_compile_options(llhttp PRIVATE -w)
target_link_libraries(thirdparty INTERFACE llhttp)
