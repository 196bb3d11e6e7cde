"""Fails when the stripped library is larger than a limit. usage: library_size.py STRIP LIBRARY BYTES"""
import os
import subprocess
import sys
import tempfile

strip, library, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
with tempfile.TemporaryDirectory() as folder:
    stripped = os.path.join(folder, "stripped.so")
    subprocess.run([strip, "--strip-all", "-o", stripped, library], check=True)
    size = os.path.getsize(stripped)
print(f"{size} bytes stripped; the limit is {limit}")
sys.exit(size > limit)
