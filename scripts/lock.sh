#!/usr/bin/env bash
# Write the lock files: exact versions with hashes, and no host.
#   scripts/lock.sh            keep the versions that still fit, add what is new
#   scripts/lock.sh --upgrade  take the newest versions
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python=${VENV_PYTHON:-.venv/bin/python}
# Python 3.11 is the oldest that we support; a lock made by a newer one may leave it out.
"$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || {
    echo "Locks are made with Python 3.11: make .venv with it (PYTHON=python3.11 make install-dev)." >&2
    exit 1
}

compile() {
    local output=$1
    shift
    echo "Resolving $output (asks the package index for every hash; minutes the first time)"
    CUSTOM_COMPILE_COMMAND="make lock" "$python" -m piptools compile --quiet --no-header \
        --generate-hashes --allow-unsafe --strip-extras \
        --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-emit-options \
        --constraint requirements/constraints.in \
        --output-file "$output" "$@"
    # Whatever an option of this machine adds, a host or a path stays out.
    "$python" scripts/tidy_lock.py "$output"
}

compile requirements.lock --extra formats --extra frames --extra geography --extra models --extra optimise --extra reports --extra web "$@" pyproject.toml requirements/install.in
compile requirements-dev.lock --extra formats --extra frames --extra geography --extra models --extra optimise --extra reports --extra web --extra spark --extra dev --constraint requirements.lock "$@" pyproject.toml requirements/install.in
compile requirements/generator.lock "$@" requirements/generator.in
