# Writes the device code into a C++ file, as sources.h declares it.
set(text "#include \"runtime/cuda/plugin/kernels/sources.h\"\n\nnamespace shw::runtime::cuda {\nnamespace {\nconst KernelSource kHeaders[] = {\n")
foreach(header ${HEADERS})
  string(REGEX REPLACE "^.*/src/(runtime/cuda/plugin/kernels/)?" "" name ${header})  # as it is included
  file(READ ${header} content)
  string(APPEND text "{\"${name}\", R\"device(${content})device\"},\n")
endforeach()
string(APPEND text "};\n}  // namespace\nstd::span<const KernelSource> kernel_headers() { return kHeaders; }\n")
string(APPEND text "}  // namespace shw::runtime::cuda\n")
file(WRITE ${OUTPUT} "${text}")
