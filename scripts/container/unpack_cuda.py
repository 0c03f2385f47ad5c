"""Extracts from wheels the shared objects that onnxruntime loads for CUDA. Usage: unpack_cuda.py WHEELS TARGET"""

import sys
import zipfile
from pathlib import Path, PurePosixPath

PROVIDERS = {"libonnxruntime_providers_cuda.so", "libonnxruntime_providers_shared.so"}
# BLAS for Fortran programs, and a second build of the same compiler.
UNUSED = ("libnvblas", "libnvrtc.alt", "libnvrtc-builtins.alt")

wheels, target = map(Path, sys.argv[1:])
for folder in ("providers", "libraries", "libraries/licenses"):
    (target / folder).mkdir(parents=True, exist_ok=True)


def place(archive: zipfile.ZipFile, member: str, path: Path) -> None:
    path.write_bytes(archive.read(member))
    path.chmod(0o644)


for wheel in sorted(wheels.glob("*.whl")):
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            name = PurePosixPath(member).name
            if name in PROVIDERS:
                place(archive, member, target / "providers" / name)
            elif member.startswith("nvidia/") and ".so" in name and not name.startswith(UNUSED):
                place(archive, member, target / "libraries" / name)
            elif name.lower().startswith("license"):
                place(archive, member, target / "libraries/licenses" / f"{wheel.name.split('-')[0]}-{name}")

missing = PROVIDERS - {path.name for path in (target / "providers").iterdir()}
if missing:
    sys.exit(f"The wheels lack {', '.join(sorted(missing))}")
# cuDNN's front end loads the library by this name.
(target / "libraries/libcudnn.so").symlink_to("libcudnn.so.9")
