"""Writes syntax.txt: what CPython 3.11 says of typos that people make. `python3.11 syntax.py > syntax.txt`.

Each block is a source, the fault, and its line and column; an empty line ends it. It must not know of tensorsh.
"""

import sys
import warnings

# One source a line, its lines apart by a return sign.
SOURCES = r"""
f(a b)
f(a b
torch.zeros(2 3)
x = [1, 2 3]
x = {'a': 1 'b': 2}
x = {1, 2 3}
t[1 2]
x = ['a' 'b' c]
f(a, b)(c d)
f(x for x in y z)
f("%d" % x "a")
print("a" x)
print("total:" len(x), end="")
x = (1,⏎2⏎y = 3
x = [1, 2⏎print(x)
f(x, y
x = torch.tensor([[1, 2], [3, 4]
x = {'a': 1
(]
(⏎]
f(x))
x]
}
x = torch.ones((2, 3]
'abc
x = "abc⏎y = 2
f("a)
x = 'it's'
\"\"\"abc
x = '''abc⏎def
x = "abc'
1abc
0x
0xg
0b12
0o8
1_
1__0
1e+
12j3
3x + 2
0777
x = 007
08.5 + 09
“a”
print(‘a’)
x = 1；
x = 5 × 3
x = a – b
x ≤ y
x \ y
x = 1 \
if x⏎    y
if x == 1⏎    pass
while x⏎    y
for i in range(3)⏎    pass
for x in y z:⏎    pass
for x range(3):⏎    pass
for i in range(3) print(i)
def f()⏎    pass
def f:⏎    pass
def f(a, b⏎    pass
def f(:⏎    pass
class A⏎    pass
class A(B⏎    pass
with open('a') as f
with open('a') f:⏎    pass
with a⏎    b
try⏎    x
try:⏎    x⏎y
try: 1
try:⏎    x⏎except ValueError⏎    y
try:⏎    x⏎except A, B:⏎    y
try:⏎    x⏎finally⏎    y
except ValueError: pass
else: 1
elif x: 1
if a:⏎    b⏎else if c:⏎    d
if a:⏎    b⏎else⏎    d
if a:⏎    b⏎elseif c:⏎    d
if a:⏎    b⏎elif c⏎    d
if x:⏎y
if x:
if a:⏎    x⏎else:⏎y
if a:⏎    x⏎elif b:⏎y
while 1:⏎x
for a in b:⏎x
for a in b:
def f():⏎return 1
def f():
async def f():⏎return 1
class A:⏎x = 1
try:⏎x
try:⏎    x⏎except:⏎y
with a:⏎b
match x:⏎case 1: pass
match x:⏎    case 1:⏎    y
    x
x = 1⏎    y = 2
if x:⏎    a⏎        b
if x:⏎    a⏎  b
if x:⏎        a⏎→b
print 1
print "hello"
print x, y
exec "x = 1"
x = print 1
raise ValueError, "a"
x <> y
x = `a`
x++
++x--
x =
x = = 1
x == = 1
x = 1 +
1 + * 2
a && b
a || b
!x
a ? b : c
x => 1
x := 1
if x = 1: pass
if x = 1 and y: pass
if x.y = 1: pass
if f() = 1: pass
if x == 1 and y = 2: pass
while (x = 1): pass
[x = 1]
t[a=1]
5 = x
'a' = x
f() = 1
x + 1 = 2
-x = 2
x.y() = 2
[a, 1] = 2
(a, 1) = 2
x, 1 = 2
x = f() = 1
a < b = 3
not x = 3
None = 1
True = 1
x if y else z = 1
lambda x: x = 1
f'{a}' = 1
{} = 1
f() += 1
(a, b) += 1
x + 1 -= 2
1: int
f(): int
(a, b): int
(1 := 2)
(a.b := 2)
for 1 in x: pass
for f() in x: pass
with a as 1: pass
[x for 1 in y]
del f()
del 1
del a + b
del (a, 1)
import 1
import a from b
import a as b.c
import
from a import
from a import b,
from import a
import a-b
f(a=1, 2)
f(**a, b)
f(**a, *b)
f(a=1, *b, c)
f(a.b=1)
f(True=1)
f(1=2)
f("a"=2)
f(a+b=2)
f(a[0]=1)
f(x=)
f(,)
f(a,,b)
f(a for a in b, c)
f(c, a for a in b)
f(a=1 for a in b)
def f(a=1, b): pass
lambda a=1, b: 2
def f(**k, a): pass
def f(*): pass
def f(*a=1): pass
def f(*a, *b): pass
def f(a, /, b, /): pass
def f((a, b)): pass
def f(1): pass
def f(a b): pass
def f(a.b): pass
def f(a, a=): pass
def 1f(): pass
def class(): pass
class 1: pass
lambda (x): 1
lambda x return 1
lambda x: return 1
x = 1 if 2
f(1 if 2)
[x if y for x in z]
{1: 2, 3}
{1:}
{1: *a}
{'a': 1, 'b' 2}
[x, y for x in z]
[*x for x in y]
[x for x in]
[for x in y]
(*x)
(**x)
t[,]
t[]
t[1:2:3:4]
f(*)
x y
x.1
x.
1.2.3
a..b
pass pass
return return
global x = 1
class
del
not
@
await
async x
None.x =
type X = int
def f[T](x): pass
class A[T]: pass
x = yield = 1
f'{x'
f'{'
f'}'
f'{}'
f'{a b}'
f'{a.}'
f'{a!x}'
f'{a!}'
f'{a\n}'
f'{#}'
f'{a:{b}'
f'{a[0}'
f"{x["a"]}"
f'{x = 1'
f'{lambda x: 1}'
f'{!r}'
'C:\Users\x'
'\x1'
'\N{foo}'
b'\xz'
b'é'
'a' b'b'
return 5
yield 1
await x
break
continue
if x:⏎    break
def f():⏎    continue
class A:⏎    return 1
def f():⏎    await x
def f():⏎    async with x: pass
async def f():⏎    yield from x
nonlocal x
def f():⏎    nonlocal x
def f():⏎    x = 1⏎    global x
def f():⏎    print(x)⏎    global x
def f(x):⏎    global x
def f(a, a): pass
lambda a, a: 1
f(a=1, a=2)
*a = [1]
*a
x = *a
*a, *b = c
del *a
return *a
[(yield x) for x in y]
[x := 1 for x in y]
[y for x in (z := w)]
def f():⏎    from a import *
try: x⏎except: y⏎except A: z
"""


def blocks():
    warnings.simplefilter("ignore")
    for line in SOURCES.strip("\n").splitlines():
        source = line.replace("⏎", "\n").replace("→", "\t").replace(r"\"", '"')
        try:
            compile(source, "<s>", "exec", dont_inherit=True)
        except SyntaxError as fault:
            yield f"{source}\n{type(fault).__name__}: {fault.msg}\n{fault.lineno}:{fault.offset}\n"
        else:
            print("no fault:", line, file=sys.stderr)


print("\n".join(blocks()), end="")
