# The page of `jobflow ui`: ${CMAKE_BINARY_DIR}/web/assets is made from web/page and web/vendor by esbuild. Nothing generated is
# in the source tree, and equal sources give equal bytes.
#
#   JOBFLOW_WEB        option; OFF builds a program without the page, and without esbuild
#   web_assets         target that makes the files
#   WEB_ASSETS_DIR     their folder; WEB_ASSETS_FILES their paths; both empty without the page
option(JOBFLOW_WEB "build the page of `jobflow ui`, which needs esbuild" ON)
set(WEB_ASSETS_DIR "")
set(WEB_ASSETS_FILES "")
if(NOT JOBFLOW_WEB)
    return()
endif()
find_program(ESBUILD esbuild)
if(NOT ESBUILD)
    message(FATAL_ERROR "esbuild is missing: scripts/deps.sh installs it, or -DJOBFLOW_WEB=OFF builds without the page")
endif()

set(page ${CMAKE_SOURCE_DIR}/web/page)
set(WEB_ASSETS_DIR ${CMAKE_BINARY_DIR}/web/assets)
set(favicons "")
foreach(name 0 1 2 3 4 5 6 7 8 9 10 done failed)
    list(APPEND favicons ${WEB_ASSETS_DIR}/favicon-${name}.svg)
endforeach()
set(report_dir ${CMAKE_BINARY_DIR}/web/report)
set(WEB_ASSETS_FILES ${WEB_ASSETS_DIR}/index.html ${WEB_ASSETS_DIR}/app.js ${WEB_ASSETS_DIR}/app.css ${favicons} ${report_dir}/report.js ${report_dir}/report.css)

file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${page}/*.ts ${page}/*.tsx ${page}/*.css ${CMAKE_SOURCE_DIR}/web/vendor/*.mjs)
set(notice "/* jobflow, with preact (c) 2015-present Jason Miller and signals-core (c) 2022-present Preact Team, both MIT licensed */")
set(esbuild_flags --bundle --charset=utf8 --log-level=warning --tsconfig=${page}/bundle.json --target=es2022,chrome109,firefox115,safari16.4)
set(script_flags --minify --format=iife --legal-comments=none --jsx=automatic --jsx-import-source=preact "--banner:js=${notice}")
add_custom_command(OUTPUT ${WEB_ASSETS_DIR}/app.js ${WEB_ASSETS_DIR}/app.css
    COMMAND ${ESBUILD} main.tsx ${esbuild_flags} ${script_flags} --define:REPORT=false --outfile=${WEB_ASSETS_DIR}/app.js
    COMMAND ${ESBUILD} page.css ${esbuild_flags} --minify --outfile=${WEB_ASSETS_DIR}/app.css
    DEPENDS ${sources} ${page}/bundle.json WORKING_DIRECTORY ${page} COMMENT "Page" VERBATIM)
# The same views for `jobflow report`, which writes them into one file with what they show.
add_custom_command(OUTPUT ${report_dir}/report.js ${report_dir}/report.css
    COMMAND ${ESBUILD} report/main.tsx ${esbuild_flags} ${script_flags} --define:REPORT=true --outfile=${report_dir}/report.js
    COMMAND ${ESBUILD} report/report.css ${esbuild_flags} --minify --outfile=${report_dir}/report.css
    DEPENDS ${sources} ${page}/bundle.json WORKING_DIRECTORY ${page} COMMENT "Report" VERBATIM)
add_custom_command(OUTPUT ${WEB_ASSETS_DIR}/index.html
    COMMAND ${CMAKE_COMMAND} -E copy ${page}/index.html ${WEB_ASSETS_DIR}/index.html
    DEPENDS ${page}/index.html VERBATIM)
add_custom_command(OUTPUT ${favicons}
    COMMAND ${CMAKE_COMMAND} -DOUT=${WEB_ASSETS_DIR} -P ${page}/favicons.cmake
    DEPENDS ${page}/favicons.cmake VERBATIM)
add_custom_target(web_assets ALL DEPENDS ${WEB_ASSETS_FILES})
