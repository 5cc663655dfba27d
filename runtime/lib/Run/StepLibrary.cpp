//===- StepLibrary.cpp - A compiled step, loaded --------------------------===//

#include "amsp/Run/StepLibrary.h"

#include "llvm/Object/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <dlfcn.h>

using namespace amsp::run;
using namespace llvm;

/// The dynamic loader maps a truncated file all the same, and dies when it
/// reads beyond the end: so the file is checked before it is loaded.
static Error checkElf(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file =
      MemoryBuffer::getFile(path, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!file)
    return createStringError(path + ": " + file.getError().message());
  StringRef bytes = (*file)->getBuffer();
  if (!bytes.starts_with("\x7F"
                         "ELF"))
    return createStringError(path + ": not a compiled step (no ELF file)");
  auto incomplete = [&](Error cause) {
    consumeError(std::move(cause));
    return createStringError(path + ": the file is truncated or damaged");
  };
  Expected<object::ELF64LEFile> elf = object::ELF64LEFile::create(bytes);
  if (!elf)
    return incomplete(elf.takeError());
  if (Expected<object::ELF64LEFile::Elf_Shdr_Range> sections = elf->sections();
      !sections)
    return incomplete(sections.takeError());
  Expected<object::ELF64LEFile::Elf_Phdr_Range> segments =
      elf->program_headers();
  if (!segments)
    return incomplete(segments.takeError());
  for (const object::ELF64LEFile::Elf_Phdr &segment : *segments)
    if (segment.p_offset > bytes.size() ||
        segment.p_filesz > bytes.size() - segment.p_offset)
      return incomplete(Error::success());
  return Error::success();
}

Expected<StepLibrary> StepLibrary::load(StringRef path) {
  if (Error error = checkElf(path))
    return std::move(error);
  // Without a slash the loader would search its own directories.
  SmallString<256> absolute = path;
  if (std::error_code code = sys::fs::make_absolute(absolute))
    return createStringError(path + ": " + code.message());
  void *handle = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return createStringError(path + ": cannot be loaded: " + dlerror());
  StepLibrary library;
  library.step =
      static_cast<const amsp_step *>(dlsym(handle, AMSP_STEP_SYMBOL));
  if (!library.step)
    return createStringError(path + ": not a compiled step (no symbol " +
                             AMSP_STEP_SYMBOL + ")");
  if (library.step->abi_version != AMSP_STEP_ABI_VERSION)
    return createStringError(path + ": compiled for ABI version " +
                             Twine(library.step->abi_version) +
                             ", this amsp-run runs version " +
                             Twine(AMSP_STEP_ABI_VERSION));
  Expected<Manifest> manifest = parseManifest(library.step->manifest);
  if (!manifest)
    return createStringError(path + ": " + toString(manifest.takeError()));
  library.manifest = std::move(*manifest);
  return library;
}
