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

# igraph as an archive: the shared one brings BLAS, LAPACK, gfortran and OpenMP into every start of the program (10 ms). The
# linker keeps the functions that are called, and of the libraries behind them only those that these need.
pkg_check_modules(igraph REQUIRED IMPORTED_TARGET igraph)
find_library(IGRAPH_ARCHIVE libigraph.a)
if(IGRAPH_ARCHIVE)
    target_include_directories(thirdparty SYSTEM INTERFACE ${igraph_INCLUDE_DIRS})
    target_link_libraries(thirdparty INTERFACE ${IGRAPH_ARCHIVE})
    foreach(name libstdc++.so.6 libgmp.so.10 libglpk.so.40 libarpack.so.2 liblapack.so.3 libblas.so.3 libplfit.so.0
            libgomp.so.1 libxml2.so.2)
        find_library(LIB_${name} ${name})
        if(LIB_${name})
            target_link_libraries(thirdparty INTERFACE ${LIB_${name}})
        endif()
    endforeach()
else()
    target_link_libraries(thirdparty INTERFACE PkgConfig::igraph)
endif()

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
