//===- AMSPAttentionOps.td - Attention as one op -----------*- tablegen -*-===//

#ifndef AMSP_DIALECT_AMSP_IR_AMSPATTENTIONOPS_TD
#define AMSP_DIALECT_AMSP_IR_AMSPATTENTIONOPS_TD

include "amsp/Dialect/AMSP/IR/AMSPCollectiveOps.td"

def AMSP_FloatTensor : StaticShapeTensorOf<[AnyFloat]>;
def AMSP_PredTensor : StaticShapeTensorOf<[I1]>;

class AMSP_AttentionOpBase<string mnemonic>
    : AMSP_Op<mnemonic, [Pure, AttrSizedOperandSegments]> {
  dag sharedOptions = (ins Optional<AMSP_FloatTensor>:$bias,
    Optional<AMSP_PredTensor>:$mask, Optional<AMSP_PredTensor>:$keep,
    F64Attr:$scale, UnitAttr:$causal, OptionalAttr<F64Attr>:$masked_score,
    OptionalAttr<F64Attr>:$keep_scale);
  let hasVerifier = 1;
}

def AMSP_AttentionOp : AMSP_AttentionOpBase<"attention"> {
  let summary = "softmax(scale q k^T + bias) v, and the rows' statistics";
  let description = [{
    ```mlir
    %result, %max, %sum = amsp.attention %q, %k, %v mask %mask scale = 1.250000e-01
        causal masked_score = -1.000000e+09
        : (tensor<2x8x64x16xf32>, tensor<2x4x96x16xf32>, tensor<2x4x96x16xf32>, tensor<2x1x1x96xi1>)
        -> (tensor<2x8x64x16xf32>, tensor<2x8x64xf32>, tensor<2x8x64xf32>)
    ```
    With leading dimensions `L`, `n` heads of `t` queries and `m` heads of `s` keys, of which each serves `n / m` heads of queries in turn:

    | value | shape | |
    |---|---|---|
    | `q` | L x n x t x d | queries |
    | `k` | L x m x s x d | keys |
    | `v` | L x m x s x e | values |
    | `bias` | as L x n x t x s, dimensions of size 1 repeated | added to the scaled scores |
    | `mask` | likewise, i1 | where it is false, the score is `masked_score` |
    | `keep` | likewise, i1 | dropout: behind the softmax, weights are multiplied by `keep_scale` where it is true, and are zero elsewhere |
    | `result` | L x n x t x e | |
    | `max`, `sum` | L x n x t | of each row: the largest score, and the sum of the exponentials of the scores less that |

    `causal` leaves out, as the mask does, the keys behind a query: those of a higher index. The element type of `max` and `sum` is the one
    in which scores and softmax are computed; weights are rounded to the type of `v`. Contractions add in f32 at least.

    A row of which nothing is left has equal weights if `masked_score` is finite. That, the logarithm of the sum added to the maximum could not tell
    (`-1e9 + log(64)` is `-1e9` in f32), which is why there are two statistics.
  }];
  let arguments = !con((ins AMSP_FloatTensor:$q, AMSP_FloatTensor:$k,
    AMSP_FloatTensor:$v), sharedOptions);
  let results = (outs AMSP_FloatTensor:$result, AMSP_FloatTensor:$max,
    AMSP_FloatTensor:$sum);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`bias` $bias^)? (`mask` $mask^)? (`keep` $keep^)?
    `scale` `=` $scale (`causal` $causal^)?
    (`masked_score` `=` $masked_score^)? (`keep_scale` `=` $keep_scale^)?
    attr-dict `:` functional-type(operands, results)
  }];
}

def AMSP_AttentionBackwardOp : AMSP_AttentionOpBase<"attention_backward"> {
  let summary = "the gradients of attention's queries, keys, values and bias";
  let description = [{
    Takes the operands and statistics of [`amsp.attention`](#amspattention-amspattentionop), and the gradient of its result. With the weights `p` computed again
    from the statistics, the dropped weights `z p`, `z` being `keep_scale` where `keep` is true and zero elsewhere (without `keep`: 1), and `dp = z (d_result v^T)`:

    - `ds = p (dp - rowsum(p dp))`, zero where `mask` or `causal` leave out;
    - `dq = scale ds k`, `dk = scale ds^T q`, `dv = (z p)^T d_result`; the heads that share keys add up;
    - `dbias`, which only an op with a `bias` may have: `ds` summed over the dimensions in which `dbias` is of size 1. These need not be those in which `bias` is, so a
      bias to which a mask was added still gives a gradient as small as what is learned.

    The rows' sums are made of `p dp`, not of `d_result` times the result, so the result is not kept for this op.
  }];
  let arguments = !con((ins AMSP_FloatTensor:$q, AMSP_FloatTensor:$k,
    AMSP_FloatTensor:$v, AMSP_FloatTensor:$max, AMSP_FloatTensor:$sum,
    AMSP_FloatTensor:$d_result), sharedOptions);
  let results = (outs AMSP_FloatTensor:$dq, AMSP_FloatTensor:$dk,
    AMSP_FloatTensor:$dv, Optional<AMSP_FloatTensor>:$dbias);
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $max `,` $sum `,` $d_result (`bias` $bias^)?
    (`mask` $mask^)? (`keep` $keep^)? `scale` `=` $scale (`causal` $causal^)?
    (`masked_score` `=` $masked_score^)? (`keep_scale` `=` $keep_scale^)?
    attr-dict `:` functional-type(operands, results)
  }];
}

#endif // AMSP_DIALECT_AMSP_IR_AMSPATTENTIONOPS_TD
