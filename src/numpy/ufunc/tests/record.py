"""Records what NumPy's universal functions give, for the tests beside this file: `python record.py`, with
NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL AVX512_SPR". Each line of loops.txt has a function and its loops for pairs
of dtypes; of values.txt, a function, the dtype and bytes of each operand, and of each result, and the errors reported."""
import itertools
import warnings
import numpy as np

CODES = '?bBhHiIlLefdFD'
WEAK = {'w': int, 'x': float, 'y': complex}
FUNCTIONS = {getattr(np, n).__name__: getattr(np, n) for n in sorted(dir(np)) if isinstance(getattr(np, n), np.ufunc)}
FUNCTIONS['clip'] = np._core.umath.clip
SHORT = {'q': 'l', 'Q': 'L'}


def loop(function, codes):
    kinds = tuple(WEAK.get(c) or np.dtype(c) for c in codes)
    try:
        found = function.resolve_dtypes(kinds + (None,) * function.nout)
    except TypeError:
        return '-'
    return ''.join(SHORT.get(d.char, d.char) for d in found)


def record_loops(file):
    for name, function in sorted(FUNCTIONS.items()):
        answers = {}
        for codes in itertools.product(CODES + ''.join(WEAK), repeat=min(function.nin, 2)):
            codes = ''.join(codes)
            if function.nin == 3:
                codes += codes[1]
            answers.setdefault(loop(function, codes), []).append(codes)
        for types, codes in answers.items():
            print(name, types, ','.join(codes), file=file)


SPECIAL = {
    'f': [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 3.0, np.inf, -np.inf, np.nan, 1e-3, 7.25, -0.75, 100.0],
}


def values(code):
    kind = np.dtype(code).kind
    if kind == 'b':
        return np.array([False, True], code)
    if kind in 'iu':
        info = np.iinfo(code)
        some = [0, 1, 2, 3, 5, 7, 8, 31, 64, 100, info.max, info.max - 1, info.min]
        some += [-1, -2, -3, -7, -100, info.min + 1] if kind == 'i' else []
        return np.array(some, code)
    if kind == 'f':
        info = np.finfo(code)
        return np.array(SPECIAL['f'] + [info.max, info.min, info.tiny, info.smallest_subnormal], code)
    parts = [0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan]
    return np.array([complex(a, b) for a in parts for b in parts], code)


def flags_of(call):
    found = set()
    with np.errstate(all='call', under='ignore'):
        np.seterrcall(lambda kind, flag: found.add({'d': 'd', 'o': 'o', 'i': 'i'}[kind[0]]))
        result = call()
    return result, ''.join(sorted(found)) or '-'


def show(array):
    return array.dtype.char + ':' + array.tobytes().hex()


def combined(name, ins):
    operands = [values(c) for c in ins]
    if len(ins) == 2:
        operands = [o[::5] if o.dtype.kind == 'c' else o[::2] if o.dtype.kind in 'iu' else o for o in operands]
    if len(ins) == 3:
        operands = [o[:7] for o in operands]
    operands = [np.ascontiguousarray(o.ravel()) for o in np.meshgrid(*operands)]
    if name == 'power' and np.dtype(ins[1]).kind == 'i':
        operands[1] = np.abs(operands[1]) & 63
    return operands


def record_values(file):
    for name, function in sorted(FUNCTIONS.items()):
        if function.signature or name == 'isnat':
            continue
        seen = set()
        for types in function.types:
            ins = types.split('->')[0]
            if ins in seen or not set(ins) <= set(CODES):
                continue
            seen.add(ins)
            operands = combined(name, ins)
            try:
                result, flags = flags_of(lambda: function(*operands))
            except TypeError:
                continue
            result = result if isinstance(result, tuple) else (result,)
            print(name, flags, ins, '=', *map(show, result), file=file)


def base(count, code):
    """Numbers that the test computes in the same way."""
    bits = (np.arange(count, dtype=np.uint64) * np.uint64(2654435761)) & np.uint64(0xffffffff)
    kind = np.dtype(code).kind
    if kind == 'b':
        return (bits & np.uint64(1 << 20)) != 0
    if kind in 'iu':
        return bits.astype(code)
    wide = bits.astype(float) / 2**32 - 0.5
    wide = wide * wide * wide
    if kind == 'c':
        return (wide + 1j * wide[::-1]).astype(code)
    return wide.astype(code)


def digest(array):
    """FNV-1a of the bytes in row-major order."""
    total = 0xcbf29ce484222325
    for byte in array.tobytes():
        total = ((total ^ byte) * 0x100000001b3) & 0xffffffffffffffff
    return f'{total:016x}'


def random_case(rng):
    """Returns shape, strides in elements, offset and the number of elements beneath a view."""
    ndim = int(rng.choice([1, 1, 1, 2, 2, 3, 3, 4]))
    sizes = [1, 2, 3, 5, 7, 8, 9, 16, 17, 33, 100, 127, 128, 129, 130, 255, 300, 1000, 8191, 8192, 8193, 20000]
    most = {1: 30000, 2: 30000, 3: 20000, 4: 10000}[ndim]
    while True:
        shape = [int(rng.choice(sizes)) for _ in range(ndim)]
        if np.prod(shape) <= most:
            break
    order = list(rng.permutation(ndim)) if rng.random() < 0.6 else list(range(ndim))
    strides, step = [0] * ndim, 1
    for d in reversed(order):
        step *= int(rng.choice([1, 1, 1, 1, 2, 3]))
        strides[d] = step
        step *= shape[d]
    offset = 0
    for d in range(ndim):
        if rng.random() < 0.15:
            offset += strides[d] * (shape[d] - 1)
            strides[d] = -strides[d]
        elif rng.random() < 0.05:
            strides[d] = 0
    return shape, strides, offset, step


def record_reductions(file):
    rng = np.random.default_rng(7)
    for k in range(2600):
        shape, strides, offset, count = random_case(rng)
        if count > 200000:
            continue
        code = str(rng.choice(list('effffddddFDilbB?')))
        name = str(rng.choice(['add'] * 6 + ['multiply', 'maximum', 'minimum', 'logical_or', 'subtract', 'fmax', 'hypot']))
        array = base(count, code)
        view = np.lib.stride_tricks.as_strided(
            array[offset:], shape, [s * array.itemsize for s in strides], writeable=False)
        ndim = len(shape)
        axes = None if rng.random() < 0.25 else sorted(rng.choice(ndim, int(rng.integers(1, ndim + 1)), replace=False).tolist())
        if name == 'subtract':
            axes = [int(rng.integers(0, ndim))]
        dtype = str(rng.choice(list('fdD'))) if rng.random() < 0.3 and name == 'add' else None
        method = str(rng.choice(['reduce'] * 8 + ['accumulate', 'reduceat', 'where']))
        function, more = getattr(np, name), ''
        with np.errstate(all='ignore'):
            warnings.simplefilter('ignore')
            try:
                if method == 'reduce':
                    result = function.reduce(view, axis=None if axes is None else tuple(axes), dtype=dtype)
                elif method == 'where':
                    if name not in ('add', 'multiply', 'logical_or'):
                        continue
                    mask = base(view.size, 'l').reshape(shape) % 7 != 0
                    result = function.reduce(view, axis=None if axes is None else tuple(axes), dtype=dtype, where=mask)
                elif method == 'accumulate':
                    axes = [int(rng.integers(0, ndim))]
                    result = function.accumulate(view, axis=axes[0], dtype=dtype)
                else:
                    axes = [int(rng.integers(0, ndim))]
                    indices = sorted(rng.integers(0, shape[axes[0]], 4).tolist())
                    more = ','.join(map(str, indices))
                    result = function.reduceat(view, indices, axis=axes[0], dtype=dtype)
            except TypeError:
                continue
        result = np.asarray(result)
        if not np.isfinite(result).all():
            continue
        join = lambda items: ','.join(map(str, items))
        print(name, method, code, dtype or '-', count, join(shape), join(strides), offset,
              '-' if axes is None else join(axes), more or '-', result.dtype.char, join(result.shape) or '-',
              join(s // result.itemsize for s in result.strides) or '-', digest(result), file=file)


def record_layouts(file):
    rng = np.random.default_rng(3)
    join = lambda items: ','.join(map(str, items)) or '-'

    def random_strides(shape):
        strides, step = [0] * len(shape), 8
        for d in rng.permutation(len(shape))[::-1]:
            strides[d] = step * int(rng.choice([1, 1, 2]))
            step = strides[d] * shape[d]
        return strides

    for _ in range(300):
        ndim = int(rng.integers(2, 5))
        shape = [int(x) for x in rng.choice([1, 2, 3, 4], ndim)]
        operands = []
        for _ in range(2):
            own = list(shape)
            if rng.random() < .4:
                own = [1 if rng.random() < .2 else s for s in shape][int(rng.integers(0, ndim)):]
            strides = random_strides(own)
            turned = [rng.random() < .15 for _ in own]
            offset = sum(s * (n - 1) for s, n, is_turned in zip(strides, own, turned) if is_turned)
            strides = [-s if is_turned else s for s, is_turned in zip(strides, turned)]
            operands.append((own, strides, offset))
        views = [np.lib.stride_tricks.as_strided(np.zeros(4000)[o // 8:], n, s) for n, s, o in operands]
        result = np.add(*views)
        print(*[f'{join(n)} {join(s)} {o}' for n, s, o in operands], join(result.shape), join(result.strides), file=file)


if __name__ == '__main__':
    warnings.simplefilter('ignore')
    with open('loops.txt', 'w') as file:
        record_loops(file)
    with open('operands.txt', 'w') as file:
        for name in ('add', 'power'):
            for count in (1, 2, 3):
                for codes in sorted({t.split('->')[0] for f in FUNCTIONS.values() if f.nin == count for t in f.types}):
                    if set(codes) <= set(CODES) and (name == 'add' or codes in ('bb', 'hh', 'ii', 'll')):
                        print(name if name == 'power' else '-', codes, *map(show, combined(name, codes)), file=file)
    with open('values.txt', 'w') as file:
        record_values(file)
    with open('reductions.txt', 'w') as file:
        record_reductions(file)
    with open('layouts.txt', 'w') as file:
        record_layouts(file)
