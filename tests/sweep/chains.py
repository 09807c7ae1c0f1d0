# Expressions of several calls: an element of a variable that becomes NaN changes exactly the elements of the result that
# `origin` says are made of it, and that `readers` says read it. Run by tests/sweep/origins.rs.
import torch
import torch.nn.functional as F

x = torch.tensor([[3.0, 9.0, 4.0], [7.0, 1.0, 8.0]])
y = torch.tensor([0.5, 2.0, 6.0])
i = torch.tensor([1, 0, 1])


def written():
    w = x * 1
    w[0] = y
    w[:, 1:][1].add_(y[1:])
    return w.t().contiguous() + 1


def gathered():
    out = torch.zeros(3)
    out.index_put_((i,), y)
    return out * 2


CHAINS = [
    lambda: x[i].T.sum(1),
    lambda: x[:, [0, 2]].flip(0).cumsum(1),
    lambda: (x @ y).softmax(0) * 2,
    lambda: (x - x.mean(1, keepdim=True)) / y,
    lambda: torch.cat([x, x.flip(1)])[1:3].t().reshape(2, 3),
    lambda: torch.stack([x[0], y]).max(0).values,
    lambda: torch.where(x > 3.5, x, y),
    lambda: torch.sort(x, dim=1).values[:, 1:],
    lambda: x.clamp(2, 8).prod(0),
    lambda: torch.einsum('ij,j->i', x, y).expand(2, 2),
    lambda: F.conv1d(x.view(2, 1, 3), y[:2].view(1, 1, 2)).squeeze(1),
    lambda: F.pad(x, (1, 1)).unfold(1, 2, 1).sum(-1),
    lambda: x.masked_fill(x > 5, 0).sum(0),
    lambda: x.view(torch.int32).view(torch.float32)[1] + y,
    lambda: torch.outer(y, x[1]).tril().diagonal(),
    lambda: x.transpose(0, 1)[1:].cummax(0).values,
    lambda: torch.scatter_add(torch.zeros(2, 3), 1, torch.tensor([[0, 0, 2], [1, 1, 1]]), x),
    written,
    gathered,
]


def same(a, b):
    return a == b or (a != a and b != b)


def places(sizes):
    found = [()]
    for size in sizes:
        found = [place + (at,) for place in found for at in range(size)]
    return found


def check(number, chain):
    before = chain()
    named, compared = set(), set()
    for place in places(before.shape):
        for read in origin(chain(), at=place).inputs:
            (named if read['taken'] else compared).add((place, read['name'], read['index']))
    calls = len(origin(chain(), at=place).calls)
    changed = set()
    for name, variable in [('x', x), ('y', y)]:
        for index in places(variable.shape):
            old = variable[index].item()
            reads = readers(variable[index], chain()).elements
            # The last call made the result, which is its first one.
            last = [read for read in reads if read['name'] in (f'#{calls}', f'#{calls}.0')]
            for value in [float('nan'), old + 100, old - 100]:
                variable[index] = value
                after = chain()
                variable[index] = old
                for place in places(before.shape):
                    if not same(before[place].item(), after[place].item()):
                        changed.add((place, name, index))
            forward = {(read['index'], name, index) for read in last if read['taken']}
            back = {entry for entry in named if entry[1:] == (name, index)}
            if forward != back:
                raise AssertionError(f'chain {number}: {name}{index} is read by {forward}, and named by {back}')
    if not named <= changed:
        raise AssertionError(f'chain {number}: named, but without effect: {sorted(named - changed)}')
    if not changed <= named | compared:
        raise AssertionError(f'chain {number}: not named: {sorted(changed - named - compared)}')


for number, chain in enumerate(CHAINS):
    check(number, chain)
print(len(CHAINS), 'chains')
