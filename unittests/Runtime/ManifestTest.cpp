//===- ManifestTest.cpp - What a compiled step says of itself -------------===//

#include "amsp/Run/Manifest.h"

#include "gtest/gtest.h"

using namespace amsp;
using namespace amsp::run;

static const char *const replicated =
    R"("name": null, "role": "state", "dtype": "f32", "shape": [2],
       "local_shape": [2], "placement": {"kind": "replicated"})";

static std::string manifestOf(const std::string &arguments,
                              const std::string &results,
                              const std::string &world = "4") {
  return R"({"version": 1, "name": "m", "program_hash": "ab", "levels": [2, 2],
             "arena_bytes": 64, "state_bytes": 8, "collectives":
             [{"id": 0, "name": "gather.w", "kind": "all_gather",
               "dtype": "f32", "bytes": 64, "unit": "w",
               "digits": [[2, 2], [1, 2]]}],
             "world": )" +
         world + R"(, "arguments": [)" + arguments + R"(], "results": [)" +
         results + "]}";
}

static std::string errorOf(const std::string &text) {
  auto manifest = parseManifest(text);
  return manifest ? "none" : toString(manifest.takeError());
}

static std::string value(const std::string &extra) {
  return std::string("{") + replicated + extra + "}";
}

TEST(ManifestTest, ParsesValues) {
  auto manifest = parseManifest(
      manifestOf(value(R"(, "result": 1)"),
                 R"({"name": "loss", "role": "output", "dtype": "bf16",
                     "shape": [3, 5], "local_shape": [3, 2], "placement":
                     {"kind": "flat", "keep": 1, "digits": [[2, 2], [1, 2]],
                      "piece": 2}}, )" +
                     value(R"(, "argument": 0)")));
  ASSERT_TRUE(bool(manifest)) << toString(manifest.takeError());
  EXPECT_EQ(manifest->world, 4);
  EXPECT_EQ(manifest->collectives[0].name, "gather.w");
  EXPECT_EQ(manifest->collectives[0].unit, "w");
  EXPECT_EQ(manifest->identity().hash, "ab");
  EXPECT_EQ(manifest->identity().collectives,
            std::vector<std::string>{"'gather.w' (id 0, all_gather of f32, 64 "
                                     "bytes over [[2, 2], [1, 2]])"});
  EXPECT_EQ(manifest->arguments[0].partner, 1);
  const Value &loss = manifest->results[0];
  EXPECT_EQ(loss.describe(), "out0 ('loss')");
  EXPECT_EQ(loss.dtype, AMSP_BF16);
  EXPECT_FALSE(loss.partner);
  EXPECT_EQ(loss.placement.kind, Placement::Kind::Flat);
  ASSERT_EQ(loss.placement.digits.size(), 2U);
  EXPECT_EQ(loss.placement.digits[0].stride, 2);
}

TEST(ManifestTest, NamesWhatIsWrong) {
  EXPECT_NE(errorOf("{").find("the manifest: "), std::string::npos);
  EXPECT_NE(errorOf("{}").find("version"), std::string::npos);
  EXPECT_EQ(errorOf(manifestOf("", "", "6")),
            "the manifest: the levels do not make a world of 6 ranks");
  EXPECT_NE(errorOf(manifestOf(value(R"(, "dtype": "f8")"), "")).find("dtype"),
            std::string::npos);
  EXPECT_EQ(errorOf(manifestOf(value(R"(, "result": 0)"), value(""))),
            "the manifest: arg0 is state, but is not paired with its value of "
            "the next step");
  EXPECT_EQ(errorOf(manifestOf(R"({"name": null, "role": "batch",
                "dtype": "f32", "shape": [6], "local_shape": [2], "placement":
                {"kind": "split", "dim": 0, "digits": [[1, 3]]}})",
                               "")),
            "the manifest: arg0: digit [1, 3] does not fit a world of 4 ranks");
}
