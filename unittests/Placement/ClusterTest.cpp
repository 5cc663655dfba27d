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
            "cluster 'nodes=0': '0' is no positive number; "
            "expected the form nodes=4,gpus=8");
  EXPECT_EQ(errorOf(parseCluster("levels=4x")),
            "cluster 'levels=4x': '' is no positive number; "
            "expected the form levels=8x4");
  EXPECT_EQ(errorOf(parseCluster("levels=4x-2")),
            "cluster 'levels=4x-2': '-2' is no positive number; "
            "expected the form levels=8x4");
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
  EXPECT_EQ(errorOfYaml("name: a\nlevels: []\n"),
            "c.yaml:1: a cluster needs at least one level");
  EXPECT_EQ(errorOfYaml("interference: 0.1\n"),
            "c.yaml:1: missing required key 'levels'");
  for (llvm::StringRef content : {"", "\n", "# nothing but a comment\n"})
    EXPECT_EQ(errorOfYaml(content), "c.yaml: no cluster") << content.str();
  EXPECT_NE(errorOfYaml("levels: [\n"), "");
}

/// A cluster that says everything, with one line exchanged.
static std::string describeCluster(llvm::StringRef line = "",
                                   llvm::StringRef replacement = "") {
  llvm::SmallVector<llvm::StringRef> lines = {
      "name: test",
      "levels:",
      "  - name: gpu",
      "    size: 8",
      "    bandwidth: 200e9",
      "    latency: 2e-6",
      "  - {name: node, size: 16, bandwidth: 1e11, latency: 1e-5, "
      "congestion: 0.05}",
      "device:",
      "  name: card",
      "  memory: 80e9",
      "  memory_bandwidth: 2e12",
      "  peak: {bf16: 312e12}",
      "  achieved:",
      "    - {operations: 1e9, share: 0.4}",
      "    - {operations: 1e12, share: 0.8}",
      "  attention: {forward: 0.5, backward: 0.4}",
      "interference: 0.2",
      "tensor_overhead: 2e-6",
      "collectives: [measured.csv]"};
  std::string text;
  for (llvm::StringRef original : lines)
    text += (original == line ? replacement : original).str() + "\n";
  return text;
}

TEST(ClusterTest, ReadsAllThatAPlannerNeeds) {
  llvm::Expected<Cluster> cluster =
      parseClusterYaml(describeCluster(), "some/where.yaml");
  ASSERT_TRUE(static_cast<bool>(cluster)) << toString(cluster.takeError());
  EXPECT_EQ(cluster->levels[0].bandwidth, 200e9);
  EXPECT_EQ(cluster->levels[1].congestion, 0.05);
  ASSERT_TRUE(cluster->device.has_value());
  EXPECT_EQ(cluster->device->memory, 80e9);
  EXPECT_EQ(cluster->device->peakBF16, 312e12);
  EXPECT_EQ(cluster->device->peakF32, std::nullopt);
  EXPECT_EQ(cluster->device->achieved.back().share, 0.8);
  EXPECT_EQ(cluster->device->attentionForward, 0.5);
  EXPECT_EQ(cluster->device->attentionBackward, 0.4);
  EXPECT_EQ(cluster->interference, 0.2);
  EXPECT_EQ(cluster->tensorOverhead, 2e-6);
  EXPECT_EQ(cluster->collectiveTables.front(), "some/measured.csv");
  EXPECT_EQ(toString(verifyForPlanning(*cluster)), "");
}

TEST(ClusterTest, ImpossibleNumbersNameTheirLine) {
  auto errorWith = [](llvm::StringRef line, llvm::StringRef replacement) {
    return errorOf(
        parseClusterYaml(describeCluster(line, replacement), "c.yaml"));
  };
  llvm::StringRef bandwidth =
      "c.yaml:5: a bandwidth is a number of bytes per second from 1e3 to 1e17";
  EXPECT_EQ(errorWith("    bandwidth: 200e9", "    bandwidth: 0"), bandwidth);
  EXPECT_EQ(errorWith("    bandwidth: 200e9", "    bandwidth: -3"), bandwidth);
  EXPECT_EQ(errorWith("    bandwidth: 200e9", "    bandwidth: 1e30"),
            bandwidth);
  EXPECT_EQ(errorWith("    bandwidth: 200e9", "    bandwidth: nan"), bandwidth);
  EXPECT_EQ(errorWith("    bandwidth: 200e9", "    bandwidth: fast"),
            bandwidth);
  EXPECT_EQ(errorWith("    latency: 2e-6", "    latency: 2000"),
            "c.yaml:6: a latency is a number of seconds from 1e-9 to 10");
  EXPECT_EQ(errorWith("interference: 0.2", "interference: 20"),
            "c.yaml:17: interference is a share of the compute time from 0 to "
            "10");
  for (llvm::StringRef wrong : {"-1e-6", "2", "slow"})
    EXPECT_EQ(
        errorWith("tensor_overhead: 2e-6", ("tensor_overhead: " + wrong).str()),
        "c.yaml:18: an overhead is a number of seconds from 0 to 1");
  EXPECT_EQ(errorWith("  memory: 80e9", "  memory: 80"),
            "c.yaml:10: memory is a number of bytes from 1024 to 1e16");
  EXPECT_EQ(errorWith("  peak: {bf16: 312e12}", "  peak: {bf8: 312e12}"),
            "c.yaml:12: unknown key 'bf8'");
  EXPECT_EQ(errorWith("    - {operations: 1e9, share: 0.4}",
                      "    - {operations: 1e9, share: 1.4}"),
            "c.yaml:14: a share is a number from 1e-6 to 1");
  EXPECT_NE(errorWith("    - {operations: 1e9, share: 0.4}",
                      "    - {operations: 1e13, share: 0.4}")
                .find("'achieved' must ascend in operations"),
            std::string::npos);
  EXPECT_EQ(errorWith("    - {operations: 1e9, share: 0.4}",
                      "    - {operations: 1e11, share: 0.1}"),
            "c.yaml:9: 'achieved': by a share of 0.80 after one of 0.10, more "
            "operations would take less time");
}

TEST(ClusterTest, SaysWhatAPlannerMisses) {
  llvm::Expected<Cluster> cluster = parseClusterYaml(
      "levels:\n  - {name: gpu, size: 4, latency: 1e-6}\n  - {size: 1}\n",
      "dir/c.yaml");
  ASSERT_TRUE(static_cast<bool>(cluster)) << toString(cluster.takeError());
  EXPECT_EQ(toString(verifyForPlanning(*cluster)),
            "dir/c.yaml:2: cluster 'c' cannot be planned for: it does not give "
            "bandwidth of level 'gpu', device.memory, device.memory_bandwidth, "
            "device.peak");
}

TEST(ClusterTest, WhatAPlannerMissesHasTheLineWhereItBelongs) {
  auto errorWithout = [](llvm::StringRef line, llvm::StringRef replacement) {
    llvm::Expected<Cluster> cluster =
        parseClusterYaml(describeCluster(line, replacement), "c.yaml");
    if (!cluster)
      return toString(cluster.takeError());
    cluster->collectiveTables.clear();
    return toString(verifyForPlanning(*cluster));
  };
  EXPECT_EQ(errorWithout("    latency: 2e-6", ""),
            "c.yaml:3: cluster 'test' cannot be planned for: it does not give "
            "latency of level 'gpu'");
  EXPECT_EQ(errorWithout("  - {name: node, size: 16, bandwidth: 1e11, latency: "
                         "1e-5, congestion: 0.05}",
                         "  - {size: 16, bandwidth: 1e11}"),
            "c.yaml:7: cluster 'test' cannot be planned for: it does not give "
            "latency of level 'level1'");
  EXPECT_EQ(errorWithout("  peak: {bf16: 312e12}", "  peak: {}"),
            "c.yaml:9: cluster 'test' cannot be planned for: it does not give "
            "device.peak");
  llvm::Expected<Cluster> bare = parseClusterYaml("levels: [{size: 1}]", "c");
  ASSERT_TRUE(static_cast<bool>(bare)) << toString(bare.takeError());
  EXPECT_EQ(toString(verifyForPlanning(*bare)),
            "c: cluster 'c' cannot be planned for: it does not give "
            "device.memory, device.memory_bandwidth, device.peak");
}

TEST(ClusterTest, AFileThatExistsMayHaveAnEqualsSign) {
  llvm::SmallString<128> directory;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("cluster", directory));
  std::string file = (directory + "/a=b,levels=2.yaml").str();
  {
    std::error_code error;
    llvm::raw_fd_ostream os(file, error);
    ASSERT_FALSE(error);
    os << "levels: [{size: 3}]\n";
  }
  llvm::Expected<Cluster> cluster = parseCluster(file);
  llvm::Expected<Cluster> resized = parseCluster(file + ",levels=5");
  llvm::sys::fs::remove_directories(directory);
  ASSERT_TRUE(static_cast<bool>(cluster)) << toString(cluster.takeError());
  EXPECT_EQ(cluster->getWorldSize(), 3);
  ASSERT_TRUE(static_cast<bool>(resized)) << toString(resized.takeError());
  EXPECT_EQ(resized->getWorldSize(), 5);
}
