# How a room (a folder of src/) becomes a library, and how everything here is compiled.

option(LAJU_TESTS "Build the tests (needs cmocka, jansson)" ON)
option(LAJU_BENCH "Build the benchmarks" ON)
option(LAJU_FUZZ "Build the fuzz targets (clang only)" OFF)
option(LAJU_WERROR "Treat warnings as errors" OFF)
set(LAJU_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them: address,undefined or thread")

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)

add_compile_definitions(_GNU_SOURCE LAJU_VERSION="${PROJECT_VERSION}")

# Warnings are for our own code only; llhttp's sources are compiled without them.
add_library(laju_warnings INTERFACE)
target_compile_options(laju_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes
  -Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wundef -Wvla -Wformat=2
  $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation>) # messages for people are cut on purpose, into buffers of a named size
if(LAJU_WERROR)
  target_compile_options(laju_warnings INTERFACE -Werror)
endif()

if(CMAKE_INTERPROCEDURAL_OPTIMIZATION AND CMAKE_C_COMPILER_ID STREQUAL GNU)
  add_link_options(-flto=auto) # on all processors
  if(LAJU_TESTS OR LAJU_BENCH)
    add_compile_options(-ffat-lto-objects) # tests take the code as it is: optimising each of them anew would take minutes
  endif()
endif()

if(LAJU_SANITIZE)
  add_compile_options(-fsanitize=${LAJU_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${LAJU_SANITIZE})
endif()

# laju_room(NAME FLOOR n NEEDS targets...): every .c of src/NAME, as one library.
function(laju_room name)
  cmake_parse_arguments(ROOM "" "FLOOR" "NEEDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.c)
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PRIVATE laju_warnings PUBLIC ${ROOM_NEEDS})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${ROOM_NEEDS})
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  endif()
endfunction()
