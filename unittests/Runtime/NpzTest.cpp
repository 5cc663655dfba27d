//===- NpzTest.cpp - Numpy's formats --------------------------------------===//

#include "amsp/Run/Npz.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include "gtest/gtest.h"

using namespace amsp::run;
using namespace llvm;

static Expected<NpyHeader> parse(StringRef bytes) {
  return readNpyHeader([&](MutableArrayRef<char> into) -> Error {
    if (bytes.size() < into.size())
      return createStringError("too short");
    copy(bytes.take_front(into.size()), into.begin());
    bytes = bytes.drop_front(into.size());
    return Error::success();
  });
}

static std::string withVersion(char major, const std::string &dictionary) {
  std::string bytes = "\x93NUMPY";
  bytes += major;
  bytes += '\0';
  bytes += static_cast<char>(dictionary.size());
  bytes.append(major == 1 ? 1 : 3, '\0');
  return bytes + dictionary;
}

static std::string errorOf(const std::string &bytes) {
  Expected<NpyHeader> header = parse(bytes);
  return header ? "none" : toString(header.takeError());
}

TEST(NpyTest, ReadsAllVersions) {
  for (char version : {1, 2, 3}) {
    Expected<NpyHeader> header = parse(withVersion(
        version,
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 30), }  \n"));
    ASSERT_TRUE(bool(header)) << toString(header.takeError());
    EXPECT_EQ(header->descr, "<f4");
    EXPECT_EQ(header->shape, (std::vector<int64_t>{2, 30}));
  }
  Expected<NpyHeader> scalar =
      parse(withVersion(1, "{'shape':(),'fortran_order':False,'descr':'|b1'}"));
  ASSERT_TRUE(bool(scalar)) << toString(scalar.takeError());
  EXPECT_TRUE(scalar->shape.empty());
}

TEST(NpyTest, ReadsWhatItWrites) {
  for (const std::vector<int64_t> &shape :
       {std::vector<int64_t>{}, {3}, {0, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9}}) {
    std::string bytes = writeNpyHeader("<i8", shape);
    EXPECT_EQ(bytes.size() % 64, 0U);
    Expected<NpyHeader> header = parse(bytes);
    ASSERT_TRUE(bool(header)) << toString(header.takeError());
    EXPECT_EQ(header->shape, shape);
  }
}

TEST(NpyTest, RefusesWhatItCannotRead) {
  EXPECT_EQ(errorOf("nothing of the kind"), "it is not an npy array");
  EXPECT_EQ(errorOf(withVersion(4, "{}")),
            "its npy format version is 4, known are 1 to 3");
  auto dictionary = [](const std::string &descr, const std::string &order,
                       const std::string &shape) {
    return errorOf(withVersion(1, "{'descr': " + descr + ", 'fortran_order': " +
                                      order + ", 'shape': " + shape + "}"));
  };
  EXPECT_EQ(dictionary("'<f4'", "True", "(2, 3)"),
            "arrays in Fortran order are not supported; save "
            "numpy.ascontiguousarray of it");
  EXPECT_EQ(dictionary("'>f4'", "False", "()"),
            "arrays in big-endian byte order are not supported");
  EXPECT_EQ(dictionary("[('a', '<f4')]", "False", "()"),
            "arrays of structured types are not supported");
  for (const char *shape :
       {"(2, ", "(-1,)", "(x,)", "2", "(1 2)", "(9223372036854775807, 9)"})
    EXPECT_EQ(dictionary("'<f4'", "False", shape),
              "its npy header cannot be read")
        << shape;
  EXPECT_EQ(errorOf(withVersion(1, "{'descr': '<f4'}")),
            "its npy header cannot be read");
}

namespace {
struct NpzTest : testing::Test {
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("amsp-npz", directory));
    file = (directory + "/a.npz").str();
  }
  void TearDown() override { sys::fs::remove_directories(directory); }

  Error write() {
    Expected<std::unique_ptr<NpzWriter>> writer = NpzWriter::create(file);
    if (!writer)
      return writer.takeError();
    for (const char *name : {"out0", "out1"})
      if (Error error = (*writer)->add(name, AMSP_I8, {1000},
                                       [](MutableArrayRef<char> data) {
                                         fill(data, 7);
                                         return true;
                                       }))
        return error;
    return (*writer)->finish();
  }

  SmallString<128> directory;
  std::string file;
};
} // namespace

TEST_F(NpzTest, RoundTrip) {
  ASSERT_FALSE(bool(write()));
  auto reader = NpzReader::open(file);
  ASSERT_TRUE(bool(reader)) << toString(reader.takeError());
  EXPECT_EQ((*reader)->names(), (std::vector<std::string>{"out0", "out1"}));
  auto entry = (*reader)->entry("out1");
  ASSERT_TRUE(bool(entry)) << toString(entry.takeError());
  EXPECT_EQ((*entry)->header().descr, "|i1");
  std::vector<char> data(1000);
  ASSERT_FALSE(bool((*entry)->read(data)));
  EXPECT_EQ(data, std::vector<char>(1000, 7));
  EXPECT_FALSE(bool((*entry)->finish()));
  EXPECT_EQ(toString((*reader)->entry("out2").takeError()),
            file + ": out2 is missing");
}

TEST_F(NpzTest, DamageIsFound) {
  ASSERT_FALSE(bool(write()));
  std::string bytes =
      (*MemoryBuffer::getFile(file, false, false))->getBuffer().str();
  auto rewrite = [&](StringRef content) {
    std::error_code code;
    raw_fd_ostream(file, code) << content;
  };
  rewrite(StringRef(bytes).drop_back(100));
  auto truncated = NpzReader::open(file);
  ASSERT_FALSE(bool(truncated));
  EXPECT_NE(toString(truncated.takeError()).find("cannot be read as an npz"),
            std::string::npos);
  bytes[500] ^= 1; // in out0's data: only the checksum can tell
  rewrite(bytes);
  auto reader = NpzReader::open(file);
  ASSERT_TRUE(bool(reader)) << toString(reader.takeError());
  auto entry = (*reader)->entry("out0");
  ASSERT_TRUE(bool(entry)) << toString(entry.takeError());
  std::vector<char> data(1000);
  Error error = (*entry)->read(data);
  if (!error)
    error = (*entry)->finish();
  EXPECT_NE(toString(std::move(error)).find("CRC"), std::string::npos);
}

TEST_F(NpzTest, NothingIsLeftWithoutFinish) {
  {
    auto writer = NpzWriter::create(file);
    ASSERT_TRUE(bool(writer));
    ASSERT_FALSE(bool((*writer)->add("out0", AMSP_I8, {1}, {})));
  }
  EXPECT_FALSE(sys::fs::exists(file));
  EXPECT_EQ(toString(NpzWriter::create("/nonexistent/a.npz").takeError()),
            "/nonexistent/a.npz: there is no directory /nonexistent");
}
