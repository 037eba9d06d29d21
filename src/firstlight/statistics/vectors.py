"""Instructions that compiled loops need and Numba does not offer: fetching ahead, rounding, eight numbers at once.

Loops over pairs are short, about a hundred turns: what the compiler leaves over when it does many turns at once, and
the first access to a window that is not in the cache, take longer than the turns themselves. Eight numbers at once is
one instruction or a few, as the processor has them.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.core import cgutils

# Adding 1.5 * 2**52 rounds a float64 below 2**51 to the nearest integer, which then stands in the lower bits; unlike a
# call to rint and a conversion this is compiled to plain additions.
ROUND = 6755399441055744.0
ROUND_BITS = int(np.float64(ROUND).view(np.int64))

# Arrays that are worked on eight at a time have this many places after their end.
WIDTH = 8
# Columns that are summed at once.
WEIGHED = 32

# What it decorates is called with one argument less than it is defined with.
intrinsic: Any = extending.intrinsic
declared: Any = cgutils
tuple_of: Any = types.UniTuple

_INTEGER, _FLOAT, _SHORT = ir.IntType(64), ir.DoubleType(), ir.IntType(32)
_INTEGERS, _FLOATS = ir.VectorType(_INTEGER, WIDTH), ir.VectorType(_FLOAT, WIDTH)
_ZEROS = ir.Constant(_INTEGERS, [0] * WIDTH)


@intrinsic
def fetch(_: Any, array: Any, place: Any) -> Any:
    """Ask for the line of memory that holds a place of a flat array; a place outside of it does no harm."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, _SHORT, _SHORT, _SHORT])
        function = declared.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        where = _pointer(context, builder, signature.args[0], given[0], given[1], ir.IntType(8))
        # To be read, as near as can be, of the data cache.
        builder.call(function, [where, _SHORT(0), _SHORT(3), _SHORT(1)])
        return context.get_dummy_value()

    return types.void(array, types.uint64), generate


@intrinsic
def rounded(_: Any, number: Any) -> Any:
    """Return the nearest integer of a float64 below 2**51."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        moved = builder.fadd(given[0], _FLOAT(ROUND))
        return builder.sub(builder.bitcast(moved, _INTEGER), _INTEGER(ROUND_BITS))

    return types.int64(types.float64), generate


@intrinsic
def add_rounded(_: Any, target: Any, to: Any, source: Any, start: Any, factor: Any) -> Any:
    """Add source[start : start + 8] * factor, rounded, to target[to : to + 8]: flat arrays of float64 and int64."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        where = _pointer(context, builder, signature.args[0], given[0], given[1], _INTEGERS)
        origin = _pointer(context, builder, signature.args[2], given[2], given[3], _FLOATS)
        terms = builder.fmul(_load(builder, origin), _all(builder, given[4], _FLOATS))
        builder.store(builder.add(_load(builder, where), _rounded(builder, terms)), where).align = 8
        return context.get_dummy_value()

    return types.void(target, types.uint64, source, types.uint64, types.float64), generate


@intrinsic
def gather_floats(_: Any, target: Any, begin: Any, end: Any, row: Any, tokens: Any, start: Any) -> Any:
    """Write row[tokens[start + j]] to target[j] as float64 for j in range(begin, end), then zeros to a multiple of 8.

    Numbers are put together in a register and written eight at once: reading eight numbers that were written one by one
    has to wait until all of them have left the processor.

    Arguments:
        target: a flat array of float64.
        begin: a multiple of 8.
        row: int64.
        tokens: a flat array of token ids.

    Returns:
        the sum of the integers for j below the last multiple of 8, and the sum of those after it.
    """

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        target, row, tokens = (
            context.make_array(signature.args[a])(context, builder, given[a]).data for a in (0, 3, 4)
        )
        begin, end, start = given[1], given[2], given[5]
        whole = builder.and_(end, _INTEGER(-WIDTH))
        kind = ir.FunctionType(_INTEGER, [_INTEGERS])
        sum_of = declared.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.add.v{WIDTH}i64")

        def eight(first: Any, most: Any = None) -> Any:
            """Gather eight numbers; none of the tokens after `most` is read, but its own again."""
            numbers = ir.Constant(_INTEGERS, ir.Undefined)
            for lane in range(WIDTH):
                place = builder.add(first, _INTEGER(lane))
                if most is not None:
                    place = builder.select(builder.icmp_signed("<", place, most), place, most)
                token = builder.load(builder.gep(tokens, [builder.add(start, place)]))
                number = builder.load(builder.gep(row, [builder.zext(token, _INTEGER)]))
                numbers = builder.insert_element(numbers, number, _SHORT(lane))
            return numbers

        def write(first: Any, numbers: Any) -> None:
            where = builder.bitcast(builder.gep(target, [first]), _FLOATS.as_pointer())
            builder.store(builder.sitofp(numbers, _FLOATS), where).align = 8

        before, loop, after, rest, done = builder.block, *(builder.append_basic_block() for _ in range(4))
        builder.cbranch(builder.icmp_signed("<", begin, whole), loop, after)

        builder.position_at_end(loop)
        first, so_far = builder.phi(_INTEGER), builder.phi(_INTEGERS)
        numbers = eight(first)
        write(first, numbers)
        added, coming = builder.add(so_far, numbers), builder.add(first, _INTEGER(WIDTH))
        for value, initial, again in ((first, begin, coming), (so_far, _ZEROS, added)):
            value.add_incoming(initial, before)
            value.add_incoming(again, loop)
        builder.cbranch(builder.icmp_signed("<", coming, whole), loop, after)

        builder.position_at_end(after)
        total = builder.phi(_INTEGERS)
        total.add_incoming(_ZEROS, before)
        total.add_incoming(added, loop)
        sum_of_whole = builder.call(sum_of, [total])
        builder.cbranch(builder.icmp_signed("<", whole, end), rest, done)

        builder.position_at_end(rest)
        lanes = builder.add(ir.Constant(_INTEGERS, list(range(WIDTH))), _all(builder, whole, _INTEGERS))
        before_end = builder.icmp_signed("<", lanes, _all(builder, end, _INTEGERS))
        last = builder.select(before_end, eight(whole, builder.sub(end, _INTEGER(1))), _ZEROS)
        write(whole, last)
        sum_of_last = builder.call(sum_of, [last])
        builder.branch(done)

        builder.position_at_end(done)
        sum_of_rest = builder.phi(_INTEGER)
        sum_of_rest.add_incoming(_INTEGER(0), after)
        sum_of_rest.add_incoming(sum_of_last, rest)
        return context.make_tuple(builder, signature.return_type, [sum_of_whole, sum_of_rest])

    integer = types.int64
    return tuple_of(integer, 2)(target, integer, integer, row, tokens, integer), generate


@intrinsic
def add_attention(
    _: Any, row: Any, values: Any, tokens: Any, at: Any, means: Any, mean: Any, inverse: Any, share: Any, scaled: Any
) -> Any:
    """Add the attention terms of eight positions of a window to a row by query token.

    In Python it is, for k in range(8),
    row[tokens[at + k]] += rounded(scaled * inverse[share + k] * (values[tokens[at + k + 1]] - means[mean + k])).
    All arrays are flat.
    """

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        row, values, tokens = (context.make_array(signature.args[a])(context, builder, given[a]).data for a in range(3))
        means, shares = (
            _load(builder, _pointer(context, builder, signature.args[a], given[a], given[a + 1], _FLOATS))
            for a in (4, 6)
        )
        ids = [
            builder.zext(builder.load(builder.gep(tokens, [builder.add(given[3], _INTEGER(k))])), _INTEGER)
            for k in range(WIDTH + 1)
        ]
        found = ir.Constant(_FLOATS, ir.Undefined)
        for lane, following in enumerate(ids[1:]):
            found = builder.insert_element(found, builder.load(builder.gep(values, [following])), _SHORT(lane))
        factors = builder.fmul(_all(builder, given[8], _FLOATS), shares)
        integers = _rounded(builder, builder.fmul(factors, builder.fsub(found, means)))
        for lane, query in enumerate(ids[:-1]):
            where = builder.gep(row, [query])
            term = builder.extract_element(integers, _SHORT(lane))
            builder.store(builder.add(builder.load(where), term), where)
        return context.get_dummy_value()

    place = types.int64
    return types.void(row, values, tokens, place, means, place, inverse, place, types.float64), generate


@intrinsic
def weigh_rows(
    _: Any, rows: Any, weights: Any, begin: Any, end: Any, block: Any, width: Any, first: Any, out: Any, to: Any
) -> Any:
    """Write 32 columns, from `first` on, of the sum of rows of a block to out[to : to + 32].

    In Python it is sum(weights[at] * block[rows[at], first : first + 32] for at in range(begin, end)), in this order;
    but the sums stay in registers, where Numba would add to memory, row after row.

    Arguments:
        rows: int32.
        weights: int64.
        block: a flat array of float64, as is `out`.
        width: of the block.
    """

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        places, numbers, source, target = (
            context.make_array(signature.args[a])(context, builder, given[a]).data for a in (0, 1, 4, 7)
        )
        zero = ir.Constant(_FLOATS, [0.0] * WIDTH)
        before, loop, after = builder.block, builder.append_basic_block(), builder.append_basic_block()
        builder.cbranch(builder.icmp_signed("<", given[2], given[3]), loop, after)

        builder.position_at_end(loop)
        at = builder.phi(_INTEGER)
        at.add_incoming(given[2], before)
        sums = [builder.phi(_FLOATS) for _ in range(WEIGHED // WIDTH)]
        row = builder.sext(builder.load(builder.gep(places, [at])), _INTEGER)
        weight = builder.sitofp(builder.load(builder.gep(numbers, [at])), _FLOAT)
        start = builder.add(builder.mul(row, given[5]), given[6])
        added = []
        for part, so_far in enumerate(sums):
            so_far.add_incoming(zero, before)
            origin = builder.gep(source, [builder.add(start, _INTEGER(part * WIDTH))])
            values = _load(builder, builder.bitcast(origin, _FLOATS.as_pointer()))
            added.append(builder.fadd(so_far, builder.fmul(_all(builder, weight, _FLOATS), values)))
            so_far.add_incoming(added[-1], loop)
        coming = builder.add(at, _INTEGER(1))
        at.add_incoming(coming, loop)
        builder.cbranch(builder.icmp_signed("<", coming, given[3]), loop, after)

        builder.position_at_end(after)
        totals = [builder.phi(_FLOATS) for _ in sums]
        for part, total in enumerate(totals):
            total.add_incoming(zero, before)
            total.add_incoming(added[part], loop)
        for part, total in enumerate(totals):
            where = builder.gep(target, [builder.add(given[8], _INTEGER(part * WIDTH))])
            builder.store(total, builder.bitcast(where, _FLOATS.as_pointer())).align = 8
        return context.get_dummy_value()

    integer = types.int64
    return types.void(rows, weights, integer, integer, block, integer, integer, out, integer), generate


def _pointer(context: Any, builder: Any, kind: Any, array: Any, place: Any, of: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [place]), of.as_pointer())


def _load(builder: Any, where: Any) -> Any:
    loaded = builder.load(where)
    loaded.align = 8
    return loaded


def _rounded(builder: Any, numbers: Any) -> Any:
    """Round eight numbers as `rounded` does one."""
    moved = builder.fadd(numbers, _all(builder, _FLOAT(ROUND), _FLOATS))
    return builder.sub(builder.bitcast(moved, _INTEGERS), _all(builder, _INTEGER(ROUND_BITS), _INTEGERS))


def _all(builder: Any, number: Any, kind: Any) -> Any:
    """Return a vector of eight times the same number."""
    undefined = ir.Constant(kind, ir.Undefined)
    one = builder.insert_element(undefined, number, _SHORT(0))
    return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(_SHORT, WIDTH), [0] * WIDTH))
