#!/usr/bin/env bash
# Packages of the operating system: install what is missing, or say what to run.
#   scripts/system.sh PACKAGE...     (Debian names; nothing happens when all are there)
# May be sourced for its function.

install_system_packages() {
    local package missing=()
    for package in "$@"; do
        dpkg-query --show --showformat='${db:Status-Status}\n' "$package" 2>/dev/null |
            grep -qx installed || missing+=("$package")
    done
    ((${#missing[@]})) || return 0

    local as=()
    if ! command -v apt-get >/dev/null; then
        echo "Please install what this system calls: ${missing[*]}. Then run make again." >&2
        return 1
    elif [[ $(id -u) != 0 ]]; then
        if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
            as=(sudo -n)
        else
            echo "This needs an administrator. Please run, and then make again:" >&2
            echo "  sudo apt-get update && sudo apt-get install -y ${missing[*]}" >&2
            return 1
        fi
    fi
    echo "Installing system packages: ${missing[*]}"
    # A fresh machine has no package lists; elsewhere they are often good enough as they are.
    as+=(env DEBIAN_FRONTEND=noninteractive)
    local install=("${as[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}")
    if ! "${install[@]}" >/dev/null 2>&1; then
        "${as[@]}" apt-get update -qq >/dev/null || true
        "${install[@]}" >/dev/null || {
            echo "apt-get could not install ${missing[*]}; its message stands above." >&2
            return 1
        }
    fi
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    set -euo pipefail
    install_system_packages "$@"
fi
