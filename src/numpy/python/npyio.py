"""`np.lib.npyio`: archives of arrays."""
import numpy as np

__module__ = "numpy.lib.npyio"


class _Entry:
    """An entry of an archive, read like a file."""

    def __init__(self, archive, name, size):
        self.archive = archive
        self.name = name
        self.size = size
        self.position = 0
        self.head = np._npz_head(archive, name, np._MAX_HEADER_SIZE + 16)

    def read(self, count):
        end = self.position + count
        if end > len(self.head) and len(self.head) < self.size:
            self.head = np._npz_head(self.archive, self.name, end)
        data = self.head[self.position : end]
        self.position += len(data)
        return data

    def _elements(self, dtype, count):
        nbytes = count * dtype.itemsize
        if self.position + nbytes != self.size:
            data = np._npz_head(self.archive, self.name, self.size)[self.position : self.position + nbytes]
            if len(data) < nbytes:
                raise ValueError(f"EOF: reading array data, expected {nbytes} bytes got {len(data)}")
            return np.frombuffer(data, dtype).copy()
        storage = np._npz_storage(self.archive, self.name, self.position, nbytes)
        return np._on_storage(storage, dtype, (count,), "C", 0, None, None, True)


class BagObj:
    """The arrays of an archive as attributes: `npz.f.x`."""

    def __init__(self, of):
        self._of = of

    def __getattr__(self, key):
        try:
            return self._of[key]
        except KeyError:
            raise AttributeError(key) from None

    def __dir__(self):
        return list(self._of.keys())


class _View:
    """The keys, values or items of an archive."""

    def __init__(self, of, name, item):
        self._of = of
        self._name = name
        self._item = item

    def __iter__(self):
        return iter([self._item(key) for key in self._of.files])

    def __len__(self):
        return len(self._of.files)

    def __contains__(self, item):
        if self._name == "KeysView":
            return item in self._of
        return any([self._item(key) is item or self._item(key) == item for key in self._of.files])

    def __repr__(self):
        return f"{self._name}({self._of!r})"


class NpzFile:
    """An archive of arrays, each read when it is asked for."""

    def __init__(self, fid, own_fid=False, allow_pickle=False, pickle_kwargs=None, *, max_header_size=np._MAX_HEADER_SIZE):
        self.zip = np._npz_open(fid)
        self._sizes = dict(np._npz_entries(self.zip))
        names = list(self._sizes)
        self.files = [name.removesuffix(".npy") for name in names]
        self._files = dict(zip(self.files, names))
        self._files.update(zip(names, names))
        self.allow_pickle = allow_pickle
        self.max_header_size = max_header_size
        self.pickle_kwargs = pickle_kwargs
        self.f = BagObj(self)
        self.fid = fid if own_fid else None

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    def close(self):
        self.zip = None
        self.fid = None
        self.f = None

    def __iter__(self):
        return iter(self.files)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, key):
        if key not in self._files:
            raise KeyError(f"{key} is not a file in the archive")
        if self.zip is None:
            raise AttributeError("'NoneType' object has no attribute 'open'")
        name = self._files[key]
        entry = _Entry(self.zip, name, self._sizes[name])
        if entry.head[:6] == np._MAGIC:
            return np._read_array(entry, self.allow_pickle, self.max_header_size)
        return np._npz_head(self.zip, name, entry.size)

    def __contains__(self, key):
        return key in self._files

    def __repr__(self):
        name = "object" if self.fid is None else self.fid
        names = ", ".join(self.files[:5]) + ("..." if len(self.files) > 5 else "")
        return f"NpzFile {name!r} with keys: {names}"

    def get(self, key, default=None, /):
        return self[key] if key in self else default

    def keys(self):
        return _View(self, "KeysView", lambda key: key)

    def values(self):
        return _View(self, "ValuesView", self.__getitem__)

    def items(self):
        return _View(self, "ItemsView", lambda key: (key, self[key]))
