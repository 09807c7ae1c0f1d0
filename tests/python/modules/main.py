"""The main program."""
import os, sys
import helpers
import helpers as h
from helpers import f, COUNT
from pkg import sub, VERSION as V
import pkg.inner.leaf
import pkg.inner.leaf as leaf
from pkg.inner import leaf as leaf2
from ns.deep.thing import name
from star import *
print(helpers.f(2), h is helpers, f(3), COUNT)
helpers.bump(); helpers.bump()
print(helpers.COUNT, COUNT)
helpers.COUNT = 10
print(helpers.bump(), helpers.COUNT)
print(sub.g(), V, pkg.inner.leaf is leaf, leaf is leaf2, pkg.sub is sub)
print(name, a_public, Shown)
try:
    print(_hidden)
except NameError as e:
    print(e)
try:
    print(not_in_all)
except NameError as e:
    print(e)
def attempt(run):
    try:
        run()
    except Exception as e:
        print(type(e).__name__, str(e).replace(sys.path[0], "FOLDER").replace(os.sep, "/"))
def one(): import nothing
def two(): import helpers.x
def three(): from helpers import zz
def four(): import pkg.zz
def five(): from pkg.zz import a
def six(): import broken
def seven(): import circular_a
def eight(): from . import helpers
def nine(): import wrong_syntax
def ten(): helpers.nothing
print(__doc__, __file__ == os.path.join(sys.path[0], "main.py"), helpers.__file__ == os.path.join(sys.path[0], "helpers.py"), repr(helpers) == f"<module 'helpers' from {helpers.__file__!r}>")
for run in (one, two, three, four, five, six, nine, ten):
    attempt(run)
attempt(seven)
attempt(eight)
print('broken' in sys.modules, 'helpers' in sys.modules, sys.modules['helpers'] is helpers)
print(helpers.__name__, helpers.__doc__, pkg.__package__, leaf.__package__, helpers.__package__ == '', type(helpers), type(helpers).__name__)
print(helpers.C, helpers.C.__module__, helpers.C().__class__, leaf.D.__qualname__, leaf.D, leaf.D.__module__, f.__module__, leaf.make.__module__)
print(helpers.C())
import importlib
before = helpers
helpers.COUNT = 99
importlib.reload(helpers)
print(before is helpers, helpers.COUNT)
print(importlib.import_module('pkg.sub') is sub, importlib.import_module('.sub', 'pkg') is sub)
print(__import__('pkg.sub').__name__, __import__('pkg.sub', None, None, ['g']).__name__)
setattr(helpers, 'fresh', 3); print(helpers.fresh, hasattr(helpers, 'zzz'), getattr(helpers, 'zzz', None))
del helpers.fresh
attempt(lambda: helpers.fresh)
print(sorted(n for n in vars(helpers) if not n.startswith('__')))
print(__name__, sys.argv[1:], helpers.who())
del sys.modules['helpers']
import helpers as again
print(again is helpers, again.COUNT)
print(helpers.inner_import())
import lazy
print(lazy.anything)
if __name__ == "__main__":
    print("run as a script")
def eleven(): import pkg.inner.up
attempt(eleven)
def twelve(): exec("from listed import *", {})
attempt(twelve)
names = {}
exec("from star import *\nfrom listed import ok", names)
print(sorted(n for n in names if not n.startswith("__")), names["ok"].v)
import starry
print(starry.area(1), starry.pi)
def thirteen(): return pi
attempt(thirteen)
import copy, textwrap
from copy import deepcopy
print(copy.deepcopy(1), deepcopy is copy.deepcopy, textwrap.dedent("  x"), hasattr(textwrap, "__path__"))
def fourteen(): import textwrap.page
attempt(fourteen)
