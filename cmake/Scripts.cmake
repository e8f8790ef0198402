# The Lua that runs inside Redis, as a C string of the room `redis`: call.lua, with the laws that it includes.
file(GLOB lua_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/redis/scripts/*.lua)
set(lua_out ${PROJECT_BINARY_DIR}/redis_script_text.c)
add_custom_command(OUTPUT ${lua_out} VERBATIM
  COMMAND ${CMAKE_COMMAND} -DNAME=laju_script_text -DHEADER=redis/script_text.h -DOUT=${lua_out}
          -DFILE=${PROJECT_SOURCE_DIR}/src/redis/scripts/call.lua -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${lua_files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
target_sources(redis PRIVATE ${lua_out})
