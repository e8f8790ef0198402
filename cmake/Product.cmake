# What is installed: the binary `laju`.

file(GLOB laju_main CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/main.c)
if(laju_main)
  add_executable(laju ${laju_main})
  target_link_libraries(laju PRIVATE laju_warnings cli)
  install(TARGETS laju)
endif()
