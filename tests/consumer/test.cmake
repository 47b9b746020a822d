# Run by CTest: installs the build into WORK, then configures, builds and runs the consumer against what was installed. The program
# of the README prints what the comment on its last statement says.

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\nended with ${status}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR} -D CMAKE_PREFIX_PATH=${WORK}/prefix
  -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer)
run(${WORK}/build/own_algorithm)
run(${WORK}/build/readme)
file(READ ${WORK}/build/readme.cpp program)
string(REGEX MATCH "// (rank [^\n]*)" comment "${program}")
if(NOT output STREQUAL "${CMAKE_MATCH_1}\n")
  message(FATAL_ERROR "the program of the README prints\n${output}and says that it prints\n${CMAKE_MATCH_1}")
endif()
run(${WORK}/prefix/bin/pdsim list --what errors)
foreach(printed share/man/man1/pdsim.1 share/bash-completion/completions/pdsim share/zsh/site-functions/_pdsim
    share/fish/vendor_completions.d/pdsim.fish)
  file(READ ${WORK}/prefix/${printed} text)
  if(NOT text MATCHES "pdsim")
    message(FATAL_ERROR "${printed} is empty")
  endif()
endforeach()
run(${WORK}/prefix/bin/pdsim scenario unused_params)
