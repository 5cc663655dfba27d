// RUN: not amsp-opt %s --amsp-decompose-collectives 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not amsp-opt %s --amsp-decompose-collectives=cluster=%S/Inputs/no-links.yaml 2>&1 | FileCheck %s --check-prefix=LINKS
// RUN: not amsp-opt %s --amsp-decompose-collectives=cluster=%S/Inputs/thin-links.yaml 2>&1 | FileCheck %s --check-prefix=LEVELS

// NONE: error: amsp-decompose-collectives needs a cluster
// LINKS: error: {{.*}}no-links.yaml:3: cluster 'no-links' cannot be planned for: no table measures all_gather, and level 'gpu' has no bandwidth or no latency
// LEVELS: error: the program is for levels 4x2, cluster 'thin-links' has 8x4
module attributes {amsp.levels = array<i64: 4, 2>} {
  func.func @main() {
    return
  }
}
