# The Lua that runs inside Redis, as a C string of the room `redis`: the laws first, then the call that uses them.
set(lua_folder ${PROJECT_SOURCE_DIR}/src/redis/scripts)
set(lua_files ${lua_folder}/bucket.lua ${lua_folder}/window.lua ${lua_folder}/log.lua ${lua_folder}/call.lua)
set(lua_out ${PROJECT_BINARY_DIR}/redis_script_text.c)
add_custom_command(OUTPUT ${lua_out} VERBATIM
  COMMAND ${CMAKE_COMMAND} -DNAME=laju_script_text -DHEADER=redis/script_text.h -DOUT=${lua_out} "-DFILES=${lua_files}"
          -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${lua_files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
target_sources(redis PRIVATE ${lua_out})
