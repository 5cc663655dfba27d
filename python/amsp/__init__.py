"""Exports training steps, and checks what the amsp compiler makes of them."""
