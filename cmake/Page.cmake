# The page: web/ (TypeScript) and sim/ (the law as WebAssembly) into PROJECT_BINARY_DIR/web, and from there, as bytes, into the
# room `server`. Where a tool is missing laju is built without it. Release tarballs carry the built page in web/dist, and need
# no tool for it.
option(LAJU_PAGE "Build the page (needs node, npm, clang and wasm-ld)" ON)
set(page_folder ${PROJECT_BINARY_DIR}/web)
set(page_all index.html app.js app.css sim.wasm licenses.txt)
set(page_files "")

if(LAJU_PAGE AND EXISTS ${PROJECT_SOURCE_DIR}/web/dist/index.html)
  set(page_folder ${PROJECT_SOURCE_DIR}/web/dist)
  set(page_files ${page_all})
  set(page_built TRUE)
elseif(LAJU_PAGE)
  foreach(tool node npm clang wasm-ld)
    find_program(LAJU_TOOL_${tool} ${tool} HINTS ${PROJECT_SOURCE_DIR}/build/npm/bin)
    mark_as_advanced(LAJU_TOOL_${tool})
    if(NOT LAJU_TOOL_${tool})
      list(APPEND page_lacks ${tool})
    endif()
  endforeach()
  if(page_lacks)
    list(JOIN page_lacks ", " page_lacks)
    message(STATUS "laju is built without its page: no ${page_lacks} here (script/bootstrap installs what it takes)")
  else()
    set(page_files ${page_all})
  endif()
endif()

add_custom_target(page_packages) # what the page is built from, of npm's registry; empty where the page is not built here
list(TRANSFORM page_files PREPEND ${page_folder}/ OUTPUT_VARIABLE page_paths)
if(page_files AND NOT page_built)
  set(web ${PROJECT_SOURCE_DIR}/web)
  set(npm_stamp ${web}/node_modules/.installed)
  file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS ${web}/src/*.ts ${web}/src/*.css)
  file(GLOB law_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/core/*.[ch])

  add_custom_command(OUTPUT ${npm_stamp} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DNPM=${LAJU_TOOL_npm} -DWEB=${web} -DSTAMP=${npm_stamp}
            -P ${PROJECT_SOURCE_DIR}/cmake/npm_ci.cmake
    DEPENDS ${web}/package-lock.json COMMENT "Installing the page's packages")
  add_custom_command(VERBATIM
    OUTPUT ${page_folder}/index.html ${page_folder}/app.js ${page_folder}/app.css ${page_folder}/licenses.txt
    COMMAND sh ${web}/build.sh ${page_folder}
    DEPENDS ${page_sources} ${web}/index.html ${web}/build.sh ${npm_stamp} COMMENT "Building the page")
  add_custom_command(OUTPUT ${page_folder}/sim.wasm VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory ${page_folder}
    COMMAND sh ${PROJECT_SOURCE_DIR}/sim/build.sh ${PROJECT_SOURCE_DIR} ${page_folder}/sim.wasm
    DEPENDS ${PROJECT_SOURCE_DIR}/sim/law.c ${PROJECT_SOURCE_DIR}/sim/build.sh ${law_sources}
            ${PROJECT_SOURCE_DIR}/src/base/siphash.c ${PROJECT_SOURCE_DIR}/include/laju/laju.h)
  add_custom_target(page DEPENDS ${page_paths})
  add_custom_target(page_packages_here DEPENDS ${npm_stamp})
  add_dependencies(page_packages page_packages_here)
endif()

set(page_out ${PROJECT_BINARY_DIR}/page_files.c)
add_custom_command(OUTPUT ${page_out} VERBATIM
  COMMAND ${CMAKE_COMMAND} -DOUT=${page_out} -DFOLDER=${page_folder} "-DFILES=${page_files}"
          -P ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
  DEPENDS ${page_paths} ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake)
target_sources(server PRIVATE ${page_out})
