
# CPython asks Windows for the final name of a file. This follows links one by one.
def realpath(path, *, strict=False):
    sep = b"\\" if isinstance(os.fspath(path), bytes) else "\\"

    def parts(full):
        drive, rest = splitdrive(full)
        return drive + sep, [part for part in reversed(rest.split(sep)) if part]

    links = 0
    done, waiting = parts(abspath(path))
    while waiting:
        here = join(done, waiting.pop())
        try:
            target = os.readlink(here)
        except OSError:
            if strict:
                os.lstat(here)
            done = here
            continue
        links += 1
        if links > 40:
            if strict:
                raise OSError(22, "Too many links", path)
            return abspath(path)
        done, more = parts(abspath(join(done, target)))
        waiting += more
    return done
