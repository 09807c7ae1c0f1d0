"""Records the tables of this folder with PyTorch 2.7.0: which calls there are follows from its schemas and from the names
in docs/reference.md, what they answer is PyTorch's.

    OMP_NUM_THREADS=1 MKL_CBWR=COMPATIBLE ATEN_CPU_CAPABILITY=avx2 python tests/calls/record.py TENSORSH

The program is asked the same. A call that it answers otherwise is marked with `~`, a known difference, and its own answer stands behind PyTorch's.
"""
import collections
import inspect
import os
import re
import subprocess
import sys
import tempfile
import warnings

import torch

warnings.simplefilter("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))
REF = open(os.path.join(HERE, "../../docs/reference.md")).read()
SECTIONS = {"torch": torch, "torch.Tensor": torch.Tensor, "torch.linalg": torch.linalg, "torch.fft": torch.fft,
            "torch.special": torch.special, "torch.nn": torch.nn.functional}
SKIP = set('''save load seed initial_seed manual_seed get_rng_state set_rng_state set_default_dtype set_default_device set_default_tensor_type
set_printoptions set_grad_enabled set_num_threads use_deterministic_algorithms compile vmap data_ptr from_file share_memory_ no_grad enable_grad
inference_mode is_grad_enabled set_warn_always set_deterministic_debug_mode set_flush_denormal backward register_hook typename retain_grad
register_post_accumulate_grad_hook _register_hook from_dlpack asarray as_tensor from_numpy numpy tensor_repr to_dlpack requires_grad_ detach_ set_
frombuffer set_float32_matmul_precision set_anomaly_enabled set_autocast_enabled mH mT H T grad data real imag shape names device dtype layout
is_cpu is_cuda is_leaf grad_fn _base _version pin_memory is_pinned lobpcg pca_lowrank svd_lowrank get_device storage untyped_storage
_typed_storage cuda share_memory is_shared storage_type __dlpack__ __dlpack_device__ __array__ stride_ apply_ map_ map2_ module_load
element_size dir reinforce init_seed __reduce_ex__ __setstate__ __deepcopy__ __setitem__ __getitem__ __contains__ __iter__ __len__ __bool__ __float__ __int__
__complex__ __hash__ __repr__ __str__ __format__ __index__ __dir__ __class__ __array_wrap__ __cuda_array_interface__ thread_safe_generator'''.split())
def names():
    section = None
    seen = []
    for line in REF.splitlines():
        if line.startswith('## '): section = line[3:]
        m = re.match(r'\| `([\w.]+)` \| `([^`]*)`', line)
        if m and section in SECTIONS:
            path = m.group(1)
            if section == 'torch' and re.search(r'\(\w*(Tensor|Scalar|Operand|Either)[^,]* self\b', m.group(2)):
                bare = path.split('.')[-1]
                seen.append(('torch.Tensor', bare, m.group(2)))
            seen.append((section, path, m.group(2)))
    out = collections.OrderedDict()
    for section, path, sig in seen:
        bare = path.split('.')[-1]
        if bare in SKIP or bare[0].isupper(): continue
        if section == 'torch.nn' and 'nn.functional.' not in path and 'nn.functional' not in sig: pass
        out.setdefault((section, bare), []).append(sig)
    return out
SCHEMAS = collections.defaultdict(list)
for s in torch._C._jit_get_all_schemas():
    if s.name.startswith('aten::'): SCHEMAS[s.name[6:]].append(s)
PREFIX = {'torch': '', 'torch.Tensor': '', 'torch.linalg': 'linalg_', 'torch.fft': 'fft_', 'torch.special': 'special_', 'torch.nn': ''}
SHOWN = {'torch': 'torch', 'torch.linalg': 'torch.linalg', 'torch.fft': 'torch.fft', 'torch.special': 'torch.special', 'torch.nn': 'F'}

# literals by parameter name, then by type
BY_NAME = {'index': 'i', 'indices': 'i', 'mask': 'b', 'condition': 'b', 'pivots': 'p', 'LU_pivots': 'p', 'vec': 'v', 'vec1': 'v', 'vec2': 'v',
  'batch1': 'q', 'batch2': 'q', 'rounding_mode': "'floor'", 'reduce': "'sum'", 'mode': "'constant'", 'indexing': "'ij'", 'ord': '2', 'driver': "'gelsd'",
  'UPLO': "'L'", 'norm': "'ortho'", 'interpolation': "'linear'", 'side': "'left'", 'equation': "'ij->ji'", 'reduction': '1', 'approximate': "'tanh'",
  'size': '[3, 3]', 'shape': '[3, 3]', 'sizes': '[3, 3]', 'memory_format': 'torch.contiguous_format', 'dims': '[0, 1]', 'repeats': '2', 'bins': '4',
  'boundaries': 'v', 'sorted_sequence': 'v', 'tau': 'v', 'device': "'cpu'", 'layout': 'torch.strided', 'names': "('A', 'B')", 'split_size': '2',
  'split_sizes': '[1, 2]', 'split_size_or_sections': '2', 'section': '2', 'sections': '3', 'chunks': '2', 'n': '3', 'steps': '4', 'window_length': '4', 'k': '1', 'n_fft': '4', 'upper': 'False',
  'physical_layout': '[1, 0]', 'stride': '[3, 1]', 'num_samples': '2', 'weights': 's', 'tensors': '[s, s]', 'operands': '[s, s]', 'operand': 's', 'window': 'w'}
FUNC = {'dot': 'v', 'vdot': 'v', 'outer': 'v', 'ger': 'v', 'bmm': 'q', 'baddbmm': 'q', 'bincount': 'n', 'conv1d': 'q', 'bitwise_and': 'i', 'bitwise_or': 'i', 'bitwise_xor': 'i',
  'bitwise_not': 'i', 'bitwise_left_shift': 'i', 'bitwise_right_shift': 'i', 'gcd': 'i', 'lcm': 'i', '__and__': 'i', '__or__': 'i', '__xor__': 'i', '__lshift__': 'i', '__rshift__': 'i', '__ilshift__': 'i', '__irshift__': 'i', '__iand__': 'i', '__ior__': 'i', '__ixor__': 'i',
  'irfft': 'c', 'hfft': 'c', 'view_as_real': 'c', 'complex': 's', 'combinations': 'v', 'cartesian_prod': 'v', 'view_as_complex': 'r2', 'vander': 'v', 'diag_embed': 'v', 'trapz': 'v', 'trapezoid': 'v',
  'multinomial': 's', 'histc': 's', 'tril_indices': '3', 'triu_indices': '3', 'nll_loss': 's', 'one_hot': 'i', 'embedding': 'i', 'item': 't', 'unflatten': 's'}
KEEP_DIMS = {'dims': {'tile': '[2, 1]', 'tensordot': '1', 'rot90': '[0, 1]', 'flip': '[0]'}}
def literal(func, p, t, first):
    n = p
    if first and func.rstrip('_') in FUNC: return FUNC[func.rstrip('_')]
    if first and func in FUNC: return FUNC[func]
    if n == 'other' and func.rstrip('_') in FUNC and t.startswith('Tensor'): return FUNC[func.rstrip('_')] 
    if n == 'dims' and func in KEEP_DIMS['dims']: return KEEP_DIMS['dims'][func]
    t0 = t.replace('Optional[', '').rstrip(']') if t.startswith('Optional') else t
    if t0 in ('Tensor', 'Optional[Tensor'): return BY_NAME[n] if BY_NAME.get(n) in ('i', 'b', 'p', 'v', 'q', 's', 'w') else 's'
    if t0.startswith('List[Tensor') or t0.startswith('List[Optional[Tensor'): return '[s, s]'
    if t0 == 'str': return BY_NAME.get(n, "'sum'") if BY_NAME.get(n, "'").startswith("'") else "'fro'"
    if t0 == 'bool': return 'True' if n != 'upper' else 'False'
    if t0.startswith('List[int') or t0 == 'int[]': 
        if n in ('size', 'shape', 'sizes', 'dims', 'split_sizes', 'physical_layout', 'stride'): return BY_NAME[n]
        if n in ('dim',): return '[0]'
        if n in ('padding', 'pad'): return '[1, 1]'
        return '[1]'
    if t0.startswith('List[float'): return '[0.5]'
    if t0.startswith('List[str'): return "('A', 'B')"
    if t0.startswith('List[bool'): return "[True]"
    if t0 in ('number', 'Scalar'): return BY_NAME[n] if n in ('ord', 'n') else '2' if n in ('value', 'other', 'exponent', 'p', 'max', 'high', 'end') else '0.5'
    if n in ('dtype',): return 'torch.float64'
    if n in ('layout', 'device', 'memory_format') : return BY_NAME[n]
    if n == 'pin_memory': return 'False'
    if t0 == 'int': 
        v = BY_NAME.get(n, '0' if n.startswith('dim') else '1')
        return v if v.isdigit() else '1'
    if t0 == 'float': return '0.5'
    if t0 in ('Generator', 'Stream', 'Storage'): return None
    if n in BY_NAME: return BY_NAME[n]
    return None
def by_python(func, prm, i):
    """a literal of a parameter of a function written in Python"""
    n, a = prm.name, str(prm.annotation)
    if n in ('self', 'input', 'A', 'B', 'x', 'x1', 'x2', 'a', 'b', 'target', 'weight', 'query', 'key', 'anchor', 'positive', 'negative'): 
        return 's'
    if n in ('dim', 'axis'): return '0'
    if n == 'dtype': return 'torch.float64'
    if n in BY_NAME: return BY_NAME[n]
    if isinstance(prm.default, bool): return 'True'
    if isinstance(prm.default, int): return '1'
    if isinstance(prm.default, float): return '0.5'
    if isinstance(prm.default, str): return repr(prm.default)
    if 'bool' in a: return 'True'
    if 'int' in a: return '1'
    if 'float' in a: return '0.5'
    if 'Tensor' in a: return 's'
    return '1'
class P:
    def __init__(s, name, value, required, kwonly, kind): s.name, s.value, s.required, s.kwonly, s.kind = name, value, required, kwonly, kind
def signatures(section, bare):
    """lists of P"""
    holder = SECTIONS[section]
    f = getattr(holder, bare, None)
    if f is None or not callable(f): return
    if section == 'torch.nn' : prefixes = ['']
    pref = PREFIX[section]
    found = SCHEMAS.get(pref + bare, []) if not inspect.isfunction(f) else []
    for s in found:
        args = s.arguments
        if any(a.is_out for a in args): continue
        if args and (args[0].name in ('a', 'l', 'd', 't', 'dict', 'string') and bare not in ('complex',)): continue
        if section == 'torch.Tensor' and args and 'Tensor' != str(args[0].type): continue
        if args and args[0].name == 'self' and str(args[0].type) in ('str', 'List[int]', 'List[float]', 'List[bool]', 'List[str]', 'List[Tensor]'): continue
        if any('Stream' in str(a.type) or 'Storage' in str(a.type) for a in args): continue
        ps = []
        for k, a in enumerate(args):
            n = a.name
            shown = 'input' if n == 'self' and section != 'torch.Tensor' else n
            v = literal(bare, n, str(a.type), k == 0)
            if v is None and not a.has_default_value(): break
            if v is None: continue
            ps.append(P(shown, v, not a.has_default_value(), a.kwarg_only, str(a.type)))
        else:
            if section == 'torch.Tensor' and (not ps or ps[0].name != 'self'): continue
            yield ps
    if not found:
        try: sig = inspect.signature(f)
        except (ValueError, TypeError): return
        ps = []
        for i, prm in enumerate(sig.parameters.values()):
            if prm.name == 'out' or prm.name.startswith('_'): continue
            if prm.kind == prm.VAR_POSITIONAL: ps.append(P('*', 's', True, False, 'Tensor')); continue
            if prm.kind == prm.VAR_KEYWORD: continue
            ps.append(P(prm.name, by_python(bare, prm, i), prm.default is prm.empty, prm.kind == prm.KEYWORD_ONLY, 'python'))
        yield ps
def wrong(p):
    out = ["'a'", 'None']
    if 'Tensor' in p.kind: out += ['2', '[s]']
    elif 'List' in p.kind: out += ['1', '[1.5]', 't', '()']
    elif p.kind in ('bool',): out += ['1', 't']
    elif p.kind in ('int', 'Optional[int]'): out += ['1.5', 'True', 't', 's']
    elif p.kind in ('number', 'Optional[number]', 'float', 'Optional[float]'): out += ['s', 't', '[1]', '1j']
    elif p.kind == 'python': out += ['2', '1.5']
    return out
def calls(section, bare):
    out = collections.OrderedDict()
    for ps in signatures(section, bare):
        method = section == 'torch.Tensor'
        head = (ps[0].value if method else SHOWN[section]) + '.' + bare
        if method and not re.match(r'[a-z]', head): head = '(' + ps[0].value + ').' + bare
        rest = ps[1:] if method else ps
        positional = [p for p in rest if not p.kwonly]
        req = [p for p in rest if p.required]
        reqpos = [p for p in positional if p.required]
        reqkw = [p for p in rest if p.kwonly and p.required]
        def add(pos, kw=()):
            pos = [x if isinstance(x, str) else x.value for x in pos]
            kw = [f'{k}={v}' for k, v in kw]
            # What is not written yet has no sum.
            unwritten = ".zero_()" if re.match("(new_)?empty", bare) else ""
            out.setdefault(f"{head}({', '.join(pos + kw)})" + unwritten)
        k0 = [(p.name, p.value) for p in reqkw]
        add(reqpos, k0)
        add(positional, k0)
        add([], [(p.name, p.value) for p in rest if p.name != '*'])
        add([], [(p.name, p.value) for p in req if p.name != '*'])
        for p in rest:
            if not p.required:
                add(reqpos, k0 + [(p.name, p.value)])
                add(reqpos, k0 + [(p.name, 'None')])
        for j, p in enumerate(reqpos):
            for v in wrong(p):
                add([v if q is p else q for q in reqpos], k0)
        for p in rest:
            if not p.required:
                for v in wrong(p)[:1] + wrong(p)[2:]: add(reqpos, k0 + [(p.name, v)])
        if reqpos: add(reqpos[:-1], k0)
        add([], [])
        add(positional + ['1'], k0)
        add(reqpos + ['1'], k0)
        add(reqpos, k0 + [('foo', '1')])
        for a, b in (('dim', 'axis'), ('keepdim', 'keepdims'), ('input', 'x'), ('other', 'x2'), ('input', 'x1')):
            if any(p.name == a for p in rest): add([], [(b if p.name == a else p.name, p.value) for p in rest if (p.required or p.name == a) and p.name != '*'])
    return list(out)


def prelude(table):
    """What stands before every call of a table: Python to run once, a statement for each call, and how a result is shown."""
    setup, each, show = [], "", ""
    for line in open(os.path.join(HERE, table + ".txt")):
        if line.startswith("| "):
            setup.append(line[2:])
        elif line.startswith("each "):
            each = line[5:].strip()
        elif line.startswith("show "):
            show = line[5:].strip()
    return "".join(setup), each, show


def first_of_each(calls):
    """The calls without those that are answered as an earlier one of the same function is, but for the types named."""
    seen = set()
    for call, answer in calls:
        kind = (call.split("(")[0], re.sub(r"got \(.*?\)|not \w+$|[\d.]+", "", answer))
        if kind not in seen:
            seen.add(kind)
            yield call, answer

def layouts_and_outputs():
    """Calls that show how results lie in memory, and calls with `out=`, by function."""
    g = {}
    setup, each, _ = prelude("outputs")
    exec(setup, g)
    exec(each, g)
    RANDOM = set('bernoulli rand randn randint randperm normal multinomial poisson rand_like randn_like randint_like empty empty_like empty_strided empty_permuted new_empty new_empty_strided rrelu dropout alpha_dropout feature_dropout feature_alpha_dropout native_dropout binomial uniform_ normal_ random_ exponential_ cauchy_ log_normal_ geometric_ bernoulli_'.split())
    TWO_TENSOR_SAME = {'other','tensor1','tensor2','end','source','src','mat2','values','exponent','x2','max','min','weight'}
    INPUTS = ['c1','c2','c3','c4','t2','t3','l4','e2','p1','p2','p3','n2','z1','z2','z3','m3','u0']
    def ok(e):
        try: eval(e, g); return True
        except Exception: return False
    layouts = collections.OrderedDict(); outs = collections.OrderedDict()
    for (section, bare), sigs in names().items():
        if bare.endswith('_') and not bare.startswith('__'): continue
        fn = getattr(SECTIONS[section], bare, None)
        if not callable(fn): continue
        es = []
        oe = []
        for ps in signatures(section, bare) or []:
            if not ps: continue
            req = [p for p in ps if p.required]
            if not any('Tensor' in p.kind or p.kind == 'python' for p in req): 
                # factories
                if section != 'torch.Tensor' and bare not in RANDOM:
                    e = f"{SHOWN[section]}.{bare}({', '.join(p.value for p in req if not p.kwonly)})"
                    if ok(e): oe.append((e, None))
                continue
            if any(p.name == '*' for p in ps): continue
            head = None
            for x in INPUTS + ['i1', 'b2', 's3']:
                vals = []
                for j, p in enumerate(req):
                    if p.kwonly: vals.append(f'{p.name}={p.value}'); continue
                    if j == 0 and ('Tensor' in p.kind and 'List' not in p.kind or p.kind == 'python'): vals.append(x)
                    elif 'List[Tensor' in p.kind: vals.append(f'[{x}, {x}]')
                    elif p.kind.startswith('Tensor') and p.value == 's': vals.append(x)
                    elif p.value == 'i' : vals.append('i1' if x in ('c1','p1','z1') else 'i2')
                    elif p.value == 'b' : vals.append('b2')
                    elif p.value == 's' and p.kind == 'python': vals.append(x)
                    elif p.value in ('s','v','q','p','w'): vals.append(x)
                    else: vals.append(p.value)
                if section == 'torch.Tensor': e = f"{vals[0]}.{bare}({', '.join(vals[1:])})"
                else: e = f"{SHOWN[section]}.{bare}({', '.join(vals)})"
                if ok(e):
                    if x not in ('i1','b2','s3'): es.append(e)
                    if section != 'torch.Tensor' and x in ('c2','t2','c1','s3','i1','c3'): oe.append((e, x))
                # with a dim
                for p in ps:
                    if not p.required and p.name in ('dim', 'keepdim') and not p.kwonly and x in ('t3','c3','p3','z3','l4') and section != 'torch.Tensor':
                        e2 = e[:-1] + f", {p.name}={'1' if p.name == 'dim' else 'True'})"
                        if ok(e2): es.append(e2)
        es = list(dict.fromkeys(es))
        if es and bare not in RANDOM and not (section == 'torch.Tensor' and ('torch', bare) in names()): layouts[section, bare] = es
        if oe and bare not in RANDOM:
            o2 = []
            seen = 0
            for e, x in dict.fromkeys(oe):
                def w(o): return e[:-1] + f', out={o})'
                r = eval(e, g)
                def has(o):
                    try: eval(w(o), g); return True
                    except TypeError as ex: return not re.search("unexpected keyword|invalid combination", str(ex))
                    except Exception: return True
                n = len(r) if isinstance(r, (tuple, list)) and all(isinstance(q, torch.Tensor) for q in r) else 0
                if not isinstance(r, torch.Tensor) and not n: continue
                if n:
                    forms = ['(%s,)' % ', '.join(['o0'] * n), '(%s,)' % ', '.join(['oi'] * n), 'o0']
                elif seen == 0:
                    forms = ['o0', 'oi', 'oh', 'od', 'oc', 'ob', 'ou', 'ot', 'ow', 'oe', 'os', 'og', 'om', 'None'] + ([x] if x else [])
                    if x == 'c2': forms += ['c2[:2]', 'c2.t()', 'k2']
                else: forms = ['o0', 'ot', 'ow', 'oi']
                forms2 = [w(f) for f in forms]
                if seen == 0 and not has('o0'): forms2 = forms2[:1]
                o2 += forms2
                seen += 1
                if seen == 3: break
            if o2: outs[section, bare] = list(dict.fromkeys(o2))
    return layouts, outs


def answered(table, calls):
    """The calls of a table with PyTorch's answers."""
    setup, each, show = prelude(table)
    g = {}
    exec(setup, g)
    for call in calls:
        exec(each, g)
        try:
            answer = str(eval(show.replace("@", call), g))
        except SyntaxError:
            continue
        except Exception as error:
            answer = f"{type(error).__name__}: " + str(error).split("\n")[0].rstrip()
        # What depends on the machine.
        if "NVIDIA" not in answer:
            yield call, answer.replace("\n", " ")


def called(call):
    """The function's name as refusals have it."""
    path = call.split("(")[0].split(".")[1:]
    return "_".join(path)


def write(table, rows, program):
    """Writes a table with the answers, those of the program that differ marked."""
    path = os.path.join(HERE, table + ".txt")
    head = open(path).read().split("\n\n")[0]
    rows = [(call, answer.replace(called(call) + "()", "@()") if called(call) else answer) for call, answer in rows]
    count = collections.Counter(answer for _, answer in rows)
    often = [answer for answer, n in count.most_common() if n > 1 and len(answer) > 10 and (n - 1) * (len(answer) - 4) > 20]
    short = {answer: f"${i}" for i, answer in enumerate(often)}
    lines = [f"{short[answer]} {answer}" for answer in often] + [""]
    lines += [f"{call}\t{short.get(answer, answer)}" for call, answer in rows]
    with open(path, "w") as f:
        f.write(head + "\n\n" + "\n".join(lines) + "\n")
    # The program's test names the calls that it answers otherwise.
    with tempfile.NamedTemporaryFile("r") as different:
        subprocess.run([program, "calls::", "--nocapture"], env={**os.environ, "DIFFERENT_CALLS": different.name, "TABLE": table})
        known = dict(line.split("\t", 1) for line in different.read().splitlines())
    marked = lambda line: f"~ {line}\t{known[call]}" if "\t" in line and (call := line.split("\t")[0]) in known else line
    lines = list(map(marked, lines))
    with open(path, "w") as f:
        f.write(head + "\n\n" + "\n".join(lines) + "\n")


def main():
    program = sys.argv[1]
    overloads = {key: calls(*key) for key in names()}
    layouts, outputs = layouts_and_outputs()
    flat = lambda table: [call for calls in table.values() for call in calls]
    write("overloads", list(first_of_each(answered("overloads", flat(overloads)))), program)
    write("layouts", list(answered("layouts", flat(layouts))), program)
    write("outputs", list(answered("outputs", flat(outputs))), program)


main()
