//===- CheckpointTest.cpp - Directories of safetensors files --------------===//

#include "amsp/Run/Checkpoint.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace amsp::run;
using namespace llvm;

namespace {
struct CheckpointTest : testing::Test {
  CheckpointTest() {
    cantFail(errorCodeToError(
        sys::fs::createUniqueDirectory("amsp-checkpoint", directory)));
  }
  ~CheckpointTest() override { (void)sys::fs::remove_directories(directory); }

  size_t countFiles() const {
    size_t count = 0;
    std::error_code code;
    for (sys::fs::directory_iterator entry(directory, code), end;
         !code && entry != end; entry.increment(code))
      ++count;
    return count;
  }

  SmallString<128> directory;
};
} // namespace

static std::vector<char> contentOf(const CheckpointTensor &tensor, char first) {
  SafetensorsEntry entry{tensor.name, tensor.dtype, tensor.shape, 0};
  std::vector<char> bytes(entry.bytes());
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

TEST_F(CheckpointTest, SplitsFilesBySizeAndReadsPieces) {
  std::vector<CheckpointTensor> tensors = {{"small", AMSP_BF16, {3}},
                                           {"scalar", AMSP_I1, {}},
                                           {"large", AMSP_F64, {3, 5}},
                                           {"empty", AMSP_F32, {0, 4}},
                                           {"odd \"name\"", AMSP_U16, {7}}};
  for (int64_t steps : {10, 20}) {
    auto writer = cantFail(CheckpointWriter::create(
        directory, tensors, {steps, 2}, /*maxFileBytes=*/16));
    for (size_t number = 0; number < tensors.size(); ++number) {
      std::vector<char> bytes = contentOf(tensors[number], char(steps));
      // In two pieces, the later one first.
      size_t middle = bytes.size() / 2;
      cantFail(
          writer->write(number, middle, ArrayRef(bytes).drop_front(middle)));
      cantFail(writer->write(number, 0, ArrayRef(bytes).take_front(middle)));
    }
    cantFail(writer->finish());
  }
  // The index; small and scalar; large; empty and odd.
  EXPECT_EQ(countFiles(), 4U);
  auto reader = cantFail(CheckpointReader::open(directory));
  EXPECT_EQ(reader->position().steps, 20);
  EXPECT_EQ(reader->position().batches, 2);
  for (const CheckpointTensor &tensor : tensors) {
    const SafetensorsEntry *entry = reader->find(tensor.name);
    ASSERT_TRUE(entry) << tensor.name;
    EXPECT_EQ(entry->dtype, tensor.dtype);
    EXPECT_EQ(entry->shape, tensor.shape);
    std::vector<char> expected = contentOf(tensor, 20);
    std::vector<char> found(expected.size());
    cantFail(reader->read(tensor.name, 0, found));
    EXPECT_EQ(found, expected) << tensor.name;
    if (expected.size() < 3)
      continue;
    found.resize(2);
    cantFail(reader->read(tensor.name, 1, found));
    EXPECT_EQ(ArrayRef(found), ArrayRef(expected).slice(1, 2)) << tensor.name;
  }
  EXPECT_FALSE(reader->find("other"));
}

TEST_F(CheckpointTest, AnUnfinishedOneLeavesTheLastOne) {
  std::vector<CheckpointTensor> tensors = {{"w", AMSP_F32, {2}}};
  cantFail(
      cantFail(CheckpointWriter::create(directory, tensors, {1, 0}))->finish());
  auto writer = cantFail(CheckpointWriter::create(directory, tensors, {2, 0}));
  EXPECT_EQ(countFiles(), 3U);
  EXPECT_EQ(cantFail(CheckpointReader::open(directory))->position().steps, 1);
  writer.reset();
  EXPECT_EQ(countFiles(), 2U);
  EXPECT_EQ(cantFail(CheckpointReader::open(directory))->position().steps, 1);
}
