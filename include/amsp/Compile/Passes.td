//===- Passes.td - Planning as a pass ----------------------*- tablegen -*-===//

#ifndef AMSP_COMPILE_PASSES_TD
#define AMSP_COMPILE_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanStrategies : Pass<"amsp-plan", "::mlir::ModuleOp"> {
  let summary = "Gives each unit of an imported step its strategy";
  let description = [{
    Works on a step with roles and units (`amsp-annotate-roles`), and writes
    `amsp.strategy` onto the arguments that have a unit; `amsp-insert-collectives`
    follows it. The strategies are those of a search for the cluster, which needs a
    file with links and device, or those of `strategy`: one for all units, or a plan
    file.

    ```mlir
    // --amsp-plan='cluster=levels=2x2 strategy=mics:2'
    func.func @main(
        %w: tensor<13x31xf32> {amsp.result = 0 : i64, amsp.role = #amsp.role<param>,
                               amsp.unit = "rest"},
        %x: tensor<24x13xf32> {amsp.role = #amsp.role<batch>})
        -> (tensor<13x31xf32> {amsp.argument = 0 : i64, amsp.role = #amsp.role<param>}) {
      return %w : tensor<13x31xf32>
    }
    ```
    becomes
    ```mlir
    func.func @main(
        %w: tensor<13x31xf32> {amsp.result = 0 : i64, amsp.role = #amsp.role<param>,
                               amsp.strategy = {g = array<i64: 2, 1>,
                                                os = array<i64: 2, 1>,
                                                p = array<i64: 2, 1>},
                               amsp.unit = "rest"},
        %x: tensor<24x13xf32> {amsp.role = #amsp.role<batch>})
        -> (tensor<13x31xf32> {amsp.argument = 0 : i64, amsp.role = #amsp.role<param>}) {
      return %w : tensor<13x31xf32>
    }
    ```
  }];
  let options = [
    Option<"cluster", "cluster", "std::string", "\"\"",
      "nodes=2,gpus=4, levels=4x2x2, or a YAML file">,
    Option<"strategy", "strategy", "std::string", "\"auto\"",
      "auto, one strategy for all units, or a plan file">,
    Option<"reduceType", "reduce-type", "std::string", "\"f32\"",
      "type of reductions: f32, bf16 or graph">
  ];
  let statistics = [
    Statistic<"numUnits", "units", "units that were given a strategy">
  ];
  let dependentDialects = ["::amsp::AMSPDialect"];
}

#endif // AMSP_COMPILE_PASSES_TD
