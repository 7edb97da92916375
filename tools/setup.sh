#!/bin/sh
# Makes .venv, or brings it up to date; `make setup` calls it.
#
#   setup.sh ok [PYTHON]   exit 0 if .venv works as it stands (and is of PYTHON's version, when named)
#   setup.sh build PYTHON [PYTHON]
#                          make it so; the second as above, decides whether a working one may stay
#
# The stamp .venv/.ready is written last and removed first, so an interrupted run never looks finished.
# It holds the folder it was made in: scripts in a venv name their interpreter by full path, and a venv
# that was copied along with a checkout would run the other checkout's code.

set -eu
cd "$(dirname "$0")/.."
unset PYTHONHOME PYTHONPATH
export PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

venv=.venv
stamp=$venv/.ready
python_min=3.11

say() { printf '%s\n' "$*"; }
die() { printf 'setup: %s\n' "$@" >&2; exit 1; }

version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null; }
is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

# A package that was removed or replaced by hand shows here; so does a dev.txt with other pins.
has_every_pin() {
    "$1" - 2>/dev/null <<'END'
import re, sys
from importlib.metadata import version
pins = re.findall(r"^([\w.-]+)==(\S+)", open("requirements/dev.txt").read(), re.MULTILINE)
version("detent")
sys.exit(any(version(name) != pin for name, pin in pins))
END
}

is_ok() {
    [ -d tests/node/node_modules ] || ! command -v npm >/dev/null 2>&1 || return 1
    [ -f $stamp ] && [ "$(cat $stamp)" = "$(pwd -P)" ] || return 1
    is_new_enough $venv/bin/python && has_every_pin $venv/bin/python || return 1
    [ -z "${1:-}" ] || [ "$(version_of "$1")" = "$(version_of $venv/bin/python)" ]
}

check_python() {
    remedy="Install Python $python_min or newer, or name one: make setup PYTHON=/path/to/python3"
    command -v "$1" >/dev/null 2>&1 || die "there is no '$1'." "$remedy"
    found=$(version_of "$1") || die "'$1' does not run." "$remedy"
    is_new_enough "$1" || die "'$1' is Python $found; Detent needs $python_min or newer." "$remedy"
}

# Debian and Ubuntu leave ensurepip out of python3. Then the venv is made bare, and a pip or a virtualenv
# from outside fills it.
make_venv() {
    rm -rf $venv
    "$1" -m venv $venv >/dev/null 2>&1 && return
    rm -rf $venv
    "$1" -m virtualenv --quiet $venv >/dev/null 2>&1 && return
    rm -rf $venv
    if "$1" -m pip --version >/dev/null 2>&1 && "$1" -m venv --without-pip $venv >/dev/null 2>&1; then return; fi
    rm -rf $venv
    die "'$1' can make no virtual environment: it has neither ensurepip nor virtualenv nor pip." \
        "On Debian or Ubuntu: apt install python3-venv. Otherwise name another Python: make setup PYTHON=/path/to/python3"
}

pip_into_venv() {
    if $venv/bin/python -m pip --version >/dev/null 2>&1; then
        $venv/bin/python -m pip "$@"
    else
        "$python" -m pip --python $venv/bin/python "$@"
    fi
}

install() {
    pip_into_venv install -qq --progress-bar off "$@" || die "pip failed, see above." \
        "If it was the network, run make setup again: it starts where nothing is half done."
}

# Workers in other languages are tested with the real thing. Whoever may install it has it done; others are told.
see_to_programs() {
    missing=
    for program in node npm curl openssl; do
        command -v $program >/dev/null 2>&1 || missing="$missing $program"
    done
    [ -n "$missing" ] || return 0
    packages=$(say "$missing" | sed 's/\bnode\b/nodejs/')
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        say "setup: installing$packages"
        # shellcheck disable=SC2086  # several words they are
        { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends $packages; } \
            >/dev/null 2>&1 && return
    fi
    say "setup: there is no$missing here, and some tests will fail for that. On Debian or Ubuntu: apt install$packages"
}

# The client that engines in JavaScript use, from the registry that npm knows; the lock file has its hashes. Node brings
# certificates of its own: those that this machine trusts beside them, a company's for instance, it has to be told of.
see_to_node() {
    command -v npm >/dev/null 2>&1 || return 0
    say "setup: installing tests/node"
    trusted=/etc/ssl/certs/ca-certificates.crt
    [ -n "${NODE_EXTRA_CA_CERTS:-}" ] || [ ! -f $trusted ] || export NODE_EXTRA_CA_CERTS=$trusted
    npm ci --prefix tests/node --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error >/dev/null ||
        say "setup: npm failed, see above, and tests of engines will fail for that. It is tried again the next time."
}

build() {
    python=$1
    if is_ok "${2:-}"; then
        say "setup: updating $venv"
    else
        check_python "$python"
        say "setup: making $venv with $("$python" -c 'import sys; print("Python %d.%d.%d" % sys.version_info[:3])')"
        make_venv "$python"
    fi
    rm -f $stamp
    say "setup: installing requirements/dev.txt"
    install --require-hashes -r requirements/dev.txt
    say "setup: installing detent, editable"
    install --no-deps --no-build-isolation --editable .
    see_to_programs
    see_to_node
    pwd -P >$stamp
}

case "${1:-}" in
    ok) is_ok "${2:-}" ;;
    build) build "$2" "${3:-}" ;;
    *) die "usage: setup.sh ok [PYTHON] | build PYTHON [PYTHON]" ;;
esac
