#!/usr/bin/env bash
# Make .venv and install sdcensus into it, with the versions of a lock file.
#   scripts/install.sh user    what a user needs (requirements.lock)
#   scripts/install.sh dev     and what the tests need (requirements-dev.lock, requirements/generator.lock)
# Does nothing when the installation is up to date. PYTHON chooses the Python, VENV the folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/system.sh
source scripts/system.sh

kind=${1:?"user or dev"}
venv=${VENV:-.venv}
case $kind in
    user) lock=requirements.lock ;;
    dev) lock=requirements-dev.lock ;;
    *)
        echo "usage: scripts/install.sh user|dev" >&2
        exit 2
        ;;
esac

say() { printf '%s\n' "$*"; }

recent_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    local candidate
    for candidate in ${PYTHON:-python3 python3.11 python3.12 python3.13}; do
        if command -v "$candidate" >/dev/null && recent_enough "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    say "sdcensus needs Python 3.11 or later, and ${PYTHON:-python3} is not that." >&2
    say "On Debian or Ubuntu: apt-get install python3 python3-venv. Or name one: make PYTHON=/path/to/python3" >&2
    return 1
}

# What was installed, from what, where: an installation knows its own path, so a moved one is stale.
fingerprint() {
    "$venv/bin/python" - "$PWD/$venv" "$@" <<'PY'
import hashlib, pathlib, sys

digest = hashlib.sha256(sys.version.encode() + sys.argv[1].encode())
for name in sys.argv[2:]:
    digest.update(pathlib.Path(name).read_bytes())
print(digest.hexdigest())
PY
}
fingerprint_of() {
    local files=("requirements$1.lock" pyproject.toml src/sdcensus/_version.py)
    [[ $1 == -dev ]] && files+=(requirements/generator.lock)
    fingerprint "${files[@]}"
}
up_to_date() {
    local stamp=$venv/.installed-$1
    [[ -f $stamp && $(<"$stamp") == "$(fingerprint_of "$2")" ]]
}

make_venv() {
    local python
    python=$(find_python)
    # Debian keeps what makes an environment in a package of its own.
    if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        say "This Python cannot make virtual environments yet: python3-venv is missing."
        local package=python3-venv
        [[ $(readlink -f "$python") == "$(readlink -f /usr/bin/python3)" ]] ||
            package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
        install_system_packages "$package"
        "$python" -c 'import ensurepip, venv' >/dev/null 2>&1 || {
            say "$python still cannot make virtual environments (no module ensurepip)." >&2
            say "Name another Python 3.11 or later: make PYTHON=/path/to/python3" >&2
            return 1
        }
    fi
    say "Making $venv with Python $("$python" -c 'import platform; print(platform.python_version())')"
    if ! "$python" -m venv --clear "$venv"; then
        rm -rf "$venv"
        say "$python -m venv failed; its message stands above." >&2
        return 1
    fi
    say "$PWD" >"$venv/.made-in"
}

# pip's own lines, as one line that counts.
count_packages() {
    local total=$1 done=0 line
    while IFS= read -r line; do
        case $line in
            Collecting*)
                done=$((done + 1))
                [[ -t 1 ]] && printf '\r\033[K  %d of %d  %.50s' "$done" "$total" "${line#Collecting }"
                ;;
            "Installing collected"*)
                [[ -t 1 ]] && printf '\r\033[K'
                say "  All at hand; unpacking them"
                ;;
        esac
    done
    [[ -t 1 ]] && printf '\r\033[K'
    return 0
}

pip() { "$venv/bin/python" -m pip --disable-pip-version-check --no-input "$@"; }

# An environment of another place or of a Python that is gone has to be made anew.
if [[ ! -x $venv/bin/python ]] || ! recent_enough "$venv/bin/python" ||
    [[ -f $venv/.made-in && $(<"$venv/.made-in") != "$PWD" ]]; then
    make_venv
fi

# The lock for developers holds everything that the lock for users holds.
if up_to_date dev -dev || { [[ $kind == user ]] && up_to_date user ""; }; then
    exit 0
fi
rm -f "$venv"/.installed-*

total=$(grep -c '^[a-z0-9].*==' "$lock")
say "Installing $total packages with the versions and hashes of $lock (a minute or two the first time)"
messages=$(mktemp)
trap 'rm -f "$messages"' EXIT
if ! pip install --require-hashes --progress-bar off -r "$lock" 2>"$messages" | count_packages "$total"; then
    tail -n 20 "$messages" >&2
    say "pip could not install the packages of $lock; its message stands above." >&2
    exit 1
fi

say "Installing sdcensus itself"
pip install --quiet --no-deps --no-build-isolation --editable .

suffix=""
if [[ $kind == dev ]]; then
    suffix=-dev
    # What makes clients from the OpenAPI document wants versions of its own.
    "$venv/bin/python" -m venv --clear --without-pip "$venv/generator"
    pip --python "$venv/generator/bin/python" install --quiet --require-hashes -r requirements/generator.lock
fi
fingerprint_of "$suffix" >"$venv/.installed-$kind"
say "Installed. The command is $venv/bin/sdcensus"
