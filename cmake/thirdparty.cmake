# The third-party libraries, all from Debian packages (scripts/deps.sh), in one interface library: thirdparty.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL 3 REQUIRED)

add_library(thirdparty INTERFACE)
foreach(module libuv jansson yaml-0.1 sqlite3 libxxhash libseccomp libcap zlib libzstd)
    pkg_check_modules(${module} REQUIRED IMPORTED_TARGET ${module})
    target_link_libraries(thirdparty INTERFACE PkgConfig::${module})
endforeach()

# base/net/curl_dlopen.c loads libcurl on first use, so only its header is needed here.
pkg_check_modules(libcurl REQUIRED libcurl)
target_include_directories(thirdparty SYSTEM INTERFACE ${libcurl_INCLUDE_DIRS})
target_link_libraries(thirdparty INTERFACE ${CMAKE_DL_LIBS})

# view/graph/igraph_dlopen.c loads igraph when a graph is drawn. A program linked with it would load GLPK, BLAS, LAPACK and
# OpenMP at every start. Only the benchmark of graphs links it (cmake/tests.cmake).
pkg_check_modules(igraph REQUIRED IMPORTED_TARGET igraph)
target_include_directories(thirdparty SYSTEM INTERFACE ${igraph_INCLUDE_DIRS})

find_path(UTHASH_DIR uthash.h REQUIRED)

# node-llhttp ships C sources. They are compiled unchanged, with the hardening flags but without the warnings of jobflow.
find_path(LLHTTP_INCLUDE llhttp.h PATHS /usr/share/include/llhttp PATH_SUFFIXES llhttp REQUIRED)
find_path(LLHTTP_SOURCE llhttp.c PATHS /usr/share/llhttp PATH_SUFFIXES llhttp REQUIRED)
add_library(llhttp STATIC ${LLHTTP_SOURCE}/api.c ${LLHTTP_SOURCE}/http.c ${LLHTTP_SOURCE}/llhttp.c)
target_include_directories(llhttp SYSTEM PUBLIC ${LLHTTP_INCLUDE})
target_link_libraries(llhttp PRIVATE jobflow_flags)
target_compile_options(llhttp PRIVATE -w)
target_compile_definitions(llhttp PRIVATE LLHTTP_STRICT_MODE=1) # without it the parser accepts any two bytes as the end of a chunk
target_link_libraries(thirdparty INTERFACE llhttp)

target_link_libraries(thirdparty INTERFACE OpenSSL::SSL OpenSSL::Crypto Threads::Threads m)
