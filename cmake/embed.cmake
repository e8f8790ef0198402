# Writes a text as a C string: cmake -DNAME=laju_x -DHEADER=x.h -DOUT=x.c -DFILE=a -P embed.cmake
# A line that is `--@include FILE` stands for that file, beside it.
get_filename_component(folder ${FILE} DIRECTORY)
file(READ ${FILE} text)
while(text MATCHES "--@include ([a-z_.]+)\n")
  set(line "${CMAKE_MATCH_0}")
  file(READ ${folder}/${CMAKE_MATCH_1} part)
  string(REPLACE "${line}" "${part}" text "${text}")
endwhile()
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\n" "\\n\"\n  \"" text "${text}")
file(WRITE ${OUT} "#include \"${HEADER}\"\n\nconst char ${NAME}[] =\n  \"${text}\";\nconst size_t ${NAME}_len = sizeof ${NAME} - 1;\n")
