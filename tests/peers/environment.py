"""The Python environment of the comparisons: build/peers/venv with the pins of requirements.txt."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "peers"


def enter():
    """Runs the calling script again inside the environment, which is made when it is not there.

    VITASCOPE_PEERS_PYTHON names the Python of another environment that has the packages.
    """
    if os.environ.get("VITASCOPE_INSIDE_PEERS"):
        return
    python = os.environ.get("VITASCOPE_PEERS_PYTHON") or _make_environment()
    os.environ["VITASCOPE_INSIDE_PEERS"] = "1"
    os.execv(python, [python, *sys.argv])


def _make_environment():
    requirements = Path(__file__).with_name("requirements.txt")
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
    venv, stamp = FOLDER / "venv", FOLDER / "venv" / "requirements.sha256"
    python = str(venv / "bin" / "python")
    if not (stamp.exists() and stamp.read_text() == digest):
        print(f"peers: installing timm, transformers and onnxruntime into {venv} (3 GB)", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv)], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                        "-r", str(requirements)], check=True)
        stamp.write_text(digest)
    return python
