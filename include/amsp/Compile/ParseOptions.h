//===- ParseOptions.h - The command line, with errors on one line -*- C++ -*-=//

#ifndef AMSP_COMPILE_PARSEOPTIONS_H
#define AMSP_COMPILE_PARSEOPTIONS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <unistd.h>

namespace amsp {

/// What a function writes to standard error; empty, and written there, if there
/// is no room for a temporary file.
inline std::string captureStandardError(llvm::function_ref<void()> function) {
  std::FILE *file = std::tmpfile();
  int saved = file ? dup(STDERR_FILENO) : -1;
  if (saved < 0) {
    if (file)
      std::fclose(file);
    function();
    return "";
  }
  dup2(fileno(file), STDERR_FILENO);
  function();
  dup2(saved, STDERR_FILENO);
  close(saved);
  std::string text;
  char buffer[256];
  std::rewind(file);
  while (size_t size = std::fread(buffer, 1, sizeof(buffer), file))
    text.append(buffer, size);
  std::fclose(file);
  return text;
}

/// Reads a tool's options. The library's first complaint becomes an error of
/// one line, without its preface.
inline llvm::Error parseOptions(int argc, char **argv,
                                llvm::StringRef overview) {
  std::string complaints;
  llvm::raw_string_ostream stream(complaints);
  bool isParsed = false;
  // Wrong values are not complained of on the stream.
  std::string ofValues = captureStandardError([&] {
    isParsed = llvm::cl::ParseCommandLineOptions(argc, argv, overview, &stream);
  });
  if (isParsed) {
    llvm::errs() << ofValues;
    return llvm::Error::success();
  }
  llvm::StringRef line = llvm::StringRef(complaints).trim();
  if (line.empty())
    line = llvm::StringRef(ofValues).trim();
  line = line.split('\n').first;
  if (!line.consume_front(argv[0]))
    line.consume_front(llvm::StringRef(argv[0]).rsplit('/').second);
  line.consume_front(":");
  line = line.trim();
  if (line.consume_front("for the ")) {
    auto [option, what] = line.split(" option: ");
    return llvm::createStringError(option + ": " + what.rtrim('!'));
  }
  return llvm::createStringError(line);
}

} // namespace amsp

#endif // AMSP_COMPILE_PARSEOPTIONS_H
