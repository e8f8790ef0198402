# What is installed: the binary `laju`, and liblaju (shared and static) with its header, its pkg-config file and a man page.

file(GLOB laju_main CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/main.c)
if(laju_main)
  add_executable(laju ${laju_main})
  target_link_libraries(laju PRIVATE laju_warnings cli)
  install(TARGETS laju)
endif()

# A sanitized library is of no use to programs that are not.
if(LAJU_SANITIZE)
  return()
endif()

# The library: base, core, table, what decides in limiter, and what reads a rule's text in config. Only LAJU_API is visible.
set(laju_parts limiter/limiter.c config/rule_draft.c config/rule_text.c config/synonym.c config/value.c)
list(TRANSFORM laju_parts PREPEND ${PROJECT_SOURCE_DIR}/src/)

add_library(laju_shared SHARED ${laju_parts} $<TARGET_OBJECTS:base> $<TARGET_OBJECTS:core> $<TARGET_OBJECTS:table>)
set_target_properties(laju_shared PROPERTIES OUTPUT_NAME laju VERSION ${PROJECT_VERSION} SOVERSION 0)

# The static one is compiled once more without link-time optimisation, so that any linker can take it.
file(GLOB laju_static_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/base/*.c ${PROJECT_SOURCE_DIR}/src/core/*.c
  ${PROJECT_SOURCE_DIR}/src/table/*.c)
add_library(laju_static STATIC ${laju_parts} ${laju_static_sources})
set_target_properties(laju_static PROPERTIES OUTPUT_NAME laju INTERPROCEDURAL_OPTIMIZATION OFF)

foreach(library laju_shared laju_static)
  target_link_libraries(${library} PRIVATE laju_warnings Threads::Threads)
  target_include_directories(${library} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
endforeach()
target_link_options(laju_shared PRIVATE -Wl,--no-undefined)

file(RELATIVE_PATH laju_prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/laju.pc.in ${PROJECT_BINARY_DIR}/laju.pc @ONLY)

install(TARGETS laju_shared laju_static)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/laju DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_BINARY_DIR}/laju.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/docs/man/laju.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
