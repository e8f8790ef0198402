# Installs the page's packages by web/package-lock.json, once for all build folders:
#   cmake -DNPM=npm -DWEB=web -DSTAMP=web/node_modules/.installed -P npm_ci.cmake
file(LOCK ${WEB}/.npm.lock GUARD PROCESS TIMEOUT 600)
file(SHA256 ${WEB}/package-lock.json wanted)
if(EXISTS ${STAMP})
  file(READ ${STAMP} installed)
  if(installed STREQUAL wanted)
    file(TOUCH_NOCREATE ${STAMP})
    return()
  endif()
endif()
# Without the packages' own scripts: nothing of theirs runs at installation.
execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error
  WORKING_DIRECTORY ${WEB} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "npm ci failed in ${WEB}. Configure with -DLAJU_PAGE=OFF to build laju without its page.")
endif()
file(WRITE ${STAMP} ${wanted})
