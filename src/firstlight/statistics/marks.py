"""Marks on tokens: a byte for each, set in any order and read in ascending order, 64 at a time.

To find which places of a row were filled, sorting them takes longer than setting a mark at each visit and reading all
marks once, since that is one instruction or a few for 64 of them.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.core import cgutils

# Marks that are read at once; their array has a multiple of it.
GROUP = 64

# What it decorates is called with one argument less than it is defined with.
intrinsic: Any = extending.intrinsic

_INTEGER = ir.IntType(64)
_MARKS = ir.VectorType(ir.IntType(8), GROUP)


def no_marks(size: int) -> np.ndarray:
    """Return room for the marks of so many tokens."""
    return np.zeros(-(-size // GROUP) * GROUP, np.uint8)


@intrinsic
def marked(_: Any, marks: Any, start: Any) -> Any:
    """Return which of marks[start : start + 64] are set, the first of them as the lowest bit."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, given[0]).data
        where = builder.bitcast(builder.gep(data, [given[1]]), _MARKS.as_pointer())
        loaded = builder.load(where)
        loaded.align = 1
        return builder.bitcast(builder.icmp_unsigned("!=", loaded, ir.Constant(_MARKS, [0] * GROUP)), _INTEGER)

    return types.uint64(marks, types.int64), generate


@intrinsic
def lowest(_: Any, bits: Any) -> Any:
    """Return the place of the lowest bit that is set; there is one."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kind = ir.FunctionType(_INTEGER, [_INTEGER, ir.IntType(1)])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.cttz.i64")  # type: ignore[no-untyped-call]
        return builder.call(function, [given[0], ir.IntType(1)(1)])

    return types.int64(types.uint64), generate
