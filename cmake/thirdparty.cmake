# The libraries of record, each from its Debian package (scripts/deps.sh); one interface library: thirdparty.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL 3 REQUIRED)

add_library(thirdparty INTERFACE)
foreach(module libuv jansson yaml-0.1 sqlite3 libxxhash libseccomp libcap zlib libzstd)
    pkg_check_modules(${module} REQUIRED IMPORTED_TARGET ${module})
    target_link_libraries(thirdparty INTERFACE PkgConfig::${module})
endforeach()

# libcurl is loaded when it is needed (base/curl_dlopen.c): its header, not its library.
pkg_check_modules(libcurl REQUIRED libcurl)
target_include_directories(thirdparty SYSTEM INTERFACE ${libcurl_INCLUDE_DIRS})
target_link_libraries(thirdparty INTERFACE ${CMAKE_DL_LIBS})

# igraph is loaded when a graph is drawn (view/igraph_dlopen.c): the library brings GLPK, BLAS, LAPACK and OpenMP into every start of a
# program that is linked with it. Only its benchmark links it (cmake/tests.cmake).
pkg_check_modules(igraph REQUIRED IMPORTED_TARGET igraph)
target_include_directories(thirdparty SYSTEM INTERFACE ${igraph_INCLUDE_DIRS})

find_path(UTHASH_DIR uthash.h REQUIRED)

# node-llhttp ships C sources; they are compiled as they are, with our hardening but without our warnings.
find_path(LLHTTP_INCLUDE llhttp.h PATHS /usr/share/include/llhttp PATH_SUFFIXES llhttp REQUIRED)
find_path(LLHTTP_SOURCE llhttp.c PATHS /usr/share/llhttp PATH_SUFFIXES llhttp REQUIRED)
add_library(llhttp STATIC ${LLHTTP_SOURCE}/api.c ${LLHTTP_SOURCE}/http.c ${LLHTTP_SOURCE}/llhttp.c)
target_include_directories(llhttp SYSTEM PUBLIC ${LLHTTP_INCLUDE})
target_link_libraries(llhttp PRIVATE jobflow_flags)
target_compile_options(llhttp PRIVATE -w)
target_compile_definitions(llhttp PRIVATE LLHTTP_STRICT_MODE=1) # else a chunk may end with any two bytes
target_link_libraries(thirdparty INTERFACE llhttp)

target_link_libraries(thirdparty INTERFACE OpenSSL::SSL OpenSSL::Crypto Threads::Threads m)
