"""Compiles, exports and runs training steps, and checks what the amsp compiler
makes of them."""


def __getattr__(name):
    # Tools that only read files need not load JAX.
    if name == "compile":
        from amsp.compiled_step import compile

        return compile
    raise AttributeError(f"module 'amsp' has no attribute '{name}'")
