"""Archives that have the same bytes whenever and wherever they are written: members sorted, of one date, owned by root."""

import gzip
import io
import tarfile
import time
import zipfile


def tarred(files, date):
    """The bytes of a .tar.gz. `files` maps names to pairs of bytes and whether they are a program."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, (content, is_program) in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(content), date, 0o755 if is_program else 0o644
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(written.getvalue(), compresslevel=9, mtime=0)


def zipped(files, date):
    """The bytes of a .zip of the same files, in the order in which they are given."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, (content, is_program) in files.items():
            member = zipfile.ZipInfo(name, time.gmtime(date)[:6])
            # As on Unix, which keeps the mode, whatever this machine is.
            member.create_system, member.external_attr = 3, (0o100755 if is_program else 0o100644) << 16
            archive.writestr(member, content, zipfile.ZIP_DEFLATED, 9)
    return written.getvalue()
