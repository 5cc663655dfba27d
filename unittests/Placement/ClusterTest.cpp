//===- ClusterTest.cpp - Parsing of clusters ------------------------------===//

#include "amsp/Placement/Cluster.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace amsp;
using llvm::SmallVector;

static SmallVector<int64_t> sizesOf(llvm::StringRef text) {
  llvm::Expected<Cluster> cluster = parseCluster(text);
  if (!cluster) {
    ADD_FAILURE() << toString(cluster.takeError());
    return {};
  }
  return cluster->getSizes();
}

static std::string errorOf(llvm::Expected<Cluster> cluster) {
  if (cluster)
    return "";
  return toString(cluster.takeError());
}

TEST(ClusterTest, ReadsShortForms) {
  EXPECT_EQ(sizesOf("nodes=2,gpus=4"), (SmallVector<int64_t>{4, 2}));
  EXPECT_EQ(sizesOf("gpus=4,nodes=2"), (SmallVector<int64_t>{4, 2}));
  EXPECT_EQ(sizesOf("gpus=3"), (SmallVector<int64_t>{3}));
  EXPECT_EQ(sizesOf("levels=4x2x2"), (SmallVector<int64_t>{4, 2, 2}));
  EXPECT_EQ(sizesOf("levels=1"), (SmallVector<int64_t>{1}));
}

TEST(ClusterTest, RejectsBadShortForms) {
  EXPECT_EQ(errorOf(parseCluster("nodes=0")),
            "cluster 'nodes=0': '0' is no positive number");
  EXPECT_EQ(errorOf(parseCluster("levels=4x")),
            "cluster 'levels=4x': '' is no positive number");
  EXPECT_EQ(errorOf(parseCluster("levels=4x-2")),
            "cluster 'levels=4x-2': '-2' is no positive number");
  EXPECT_EQ(errorOf(parseCluster("racks=2")),
            "cluster 'racks=2': unknown key 'racks', expected nodes, gpus or "
            "levels");
  EXPECT_EQ(errorOf(parseCluster("gpus=2,gpus=2")),
            "cluster 'gpus=2,gpus=2': 'gpus' twice");
  EXPECT_NE(errorOf(parseCluster("levels=100000x100000x100000x100000")), "");
  EXPECT_NE(errorOf(parseCluster("no-such-file.yaml")), "");
}

TEST(ClusterTest, ReadsYaml) {
  llvm::Expected<Cluster> cluster = parseClusterYaml(
      "levels:\n  - {name: gpu, size: 4}\n  - {name: node, size: 2}\n", "c");
  ASSERT_TRUE(static_cast<bool>(cluster)) << toString(cluster.takeError());
  ASSERT_EQ(cluster->levels.size(), 2u);
  EXPECT_EQ(cluster->levels[0].name, "gpu");
  EXPECT_EQ(cluster->levels[0].size, 4);
  EXPECT_EQ(cluster->levels[1].name, "node");
  EXPECT_EQ(cluster->getWorldSize(), 8);
}

TEST(ClusterTest, YamlErrorsNameFileAndLine) {
  auto errorOfYaml = [](llvm::StringRef content) {
    return errorOf(parseClusterYaml(content, "c.yaml"));
  };
  EXPECT_EQ(errorOfYaml("levels:\n  - {size: 4, speed: 2}\n"),
            "c.yaml:2: unknown key 'speed'");
  EXPECT_EQ(errorOfYaml("levels:\n  - {size: many}\n"),
            "c.yaml:2: invalid number");
  EXPECT_EQ(errorOfYaml("levels:\n  - {size: 2}\n  - {size: 0}\n"),
            "c.yaml:3: the size of a level must be positive");
  EXPECT_EQ(errorOfYaml("levels:\n  - {name: gpu}\n"),
            "c.yaml:2: missing required key 'size'");
  EXPECT_NE(errorOfYaml("levels: []\n"), "");
  EXPECT_NE(errorOfYaml(""), "");
  EXPECT_NE(errorOfYaml("levels: [\n"), "");
}
