# All from Debian's packages (script/bootstrap installs them); nothing is downloaded by the build.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(uv REQUIRED IMPORTED_TARGET libuv)
pkg_check_modules(yaml REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(systemd REQUIRED IMPORTED_TARGET libsystemd)
pkg_check_modules(hiredis REQUIRED IMPORTED_TARGET hiredis)
find_package(ZLIB REQUIRED)
find_package(OpenSSL 3 REQUIRED COMPONENTS Crypto)

# llhttp comes as C sources, in Debian's package node-llhttp.
find_path(LLHTTP_INCLUDE_DIR llhttp.h PATH_SUFFIXES llhttp PATHS /usr/share/include REQUIRED)
find_path(LLHTTP_SOURCE_DIR llhttp.c PATH_SUFFIXES llhttp PATHS /usr/share REQUIRED)
add_library(llhttp STATIC ${LLHTTP_SOURCE_DIR}/llhttp.c ${LLHTTP_SOURCE_DIR}/http.c ${LLHTTP_SOURCE_DIR}/api.c)
target_include_directories(llhttp SYSTEM PUBLIC ${LLHTTP_INCLUDE_DIR})
# Strict: without it llhttp takes any byte for the line feed behind a carriage return.
target_compile_definitions(llhttp PRIVATE LLHTTP_STRICT_MODE=1)
