# Packs the files of the page (cmake/web.cmake) into the program: web_image is linked into it. Without the page it is empty.
#
#   cmake/web.cmake ─► WEB_ASSETS_FILES ─► web_pack_tool ─► web/assets.pack ─► web/pack_image.c
add_library(web_image INTERFACE)
if(NOT WEB_ASSETS_FILES)
    return()
endif()
add_executable(web_pack_tool web/pack/main.c)
set_target_properties(web_pack_tool PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
target_link_libraries(web_pack_tool PRIVATE jobflow_flags PkgConfig::zlib)
set(pack ${CMAKE_BINARY_DIR}/web/assets.pack)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/web)
add_custom_command(OUTPUT ${pack} COMMAND web_pack_tool ${pack} ${WEB_ASSETS_FILES}
    DEPENDS web_pack_tool ${WEB_ASSETS_FILES} COMMENT "Files of the page" VERBATIM)
add_custom_target(web_pack_file DEPENDS ${pack})
add_dependencies(web_pack_file web_assets)
add_library(web_pack_object OBJECT web/pack_image.c)
set_source_files_properties(web/pack_image.c PROPERTIES OBJECT_DEPENDS ${pack})
target_compile_definitions(web_pack_object PRIVATE WEB_PACK="${pack}")
target_link_libraries(web_pack_object PRIVATE jobflow_flags)
add_dependencies(web_pack_object web_pack_file)
target_link_libraries(web_image INTERFACE $<TARGET_OBJECTS:web_pack_object>)
