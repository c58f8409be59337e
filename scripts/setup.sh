#!/bin/sh
# Makes one virtual environment: `setup.sh DIR run|dev|peers|oracles`. Installs Debian packages that
# are missing, if it may; says which ones if it may not.
set -eu
dir=$1
what=$2
python=${PYTHON:-python3}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null 2>&1; then sudo "$@"
    else
        echo "laneway: this needs root once; please run: $*" >&2
        exit 1
    fi
}

install_debian() {
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "laneway: please install these packages yourself: $*" >&2
        exit 1
    fi
    echo "installing Debian packages: $*"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null
}

command -v "$python" >/dev/null 2>&1 || install_debian python3
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "laneway: Python 3.11 or newer is needed, $python is $("$python" -V 2>&1)" >&2
    exit 1
}
"$python" -c 'import ensurepip, venv' 2>/dev/null || install_debian python3-venv

if [ ! -x "$dir/bin/pip" ]; then
    echo "creating $dir"
    rm -rf "$dir"
    "$python" -m venv "$dir"
fi

need_postgres() {
    ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || install_debian postgresql
}

# The Redis store is tried and measured on servers of its own.
need_redis() {
    command -v redis-server >/dev/null 2>&1 || install_debian redis-server
}

# A real node for the tests of EVM lanes. Its binary lies in the package of this platform, so the
# scripts of the packages need not run.
need_anvil() {
    ls .tools/node_modules/@foundry-rs/anvil-*/bin/anvil >/dev/null 2>&1 && return
    echo "installing anvil"
    npm_install .tools @foundry-rs/anvil@1.7.1
}

# Real JAM state transitions for the tests. Which versions fit together stands in a package.json of
# the tests; the library needs Node 20, so a newer one is put beside it where the machine's is older.
need_typeberry() {
    folder=.tools/typeberry
    wanted=tests/typeberry/package.json
    command -v npm >/dev/null 2>&1 || install_debian npm
    newer=
    node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null ||
        newer=node-linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')
    cmp -s "$wanted" "$folder/.done" && [ -d "$folder/node_modules/$newer" ] && return
    echo "installing typeberry"
    rm -rf "$folder"
    mkdir -p "$folder"
    cp "$wanted" "$folder/package.json"
    npm_install "$folder" --no-save --no-package-lock ${newer:+"$newer@22.23.3"}
    cp "$wanted" "$folder/.done"
}

npm_install() {
    command -v npm >/dev/null 2>&1 || install_debian npm
    folder=$1
    shift
    mkdir -p "$folder"
    npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error \
        "$@" >/dev/null
}

pip() { "$dir/bin/python" -m pip --disable-pip-version-check install -q "$@"; }

case $what in
    run)
        # The demo's EVM accounts sign; a node of their own is in the package.
        echo "installing laneway"
        pip -e '.[evm]'
        touch "$dir/.run"
        ;;
    dev)
        need_postgres
        need_redis
        need_anvil
        need_typeberry
        echo "installing laneway, its benchmarks and its development tools"
        pip -e '.[dev]' -e bench
        touch "$dir/.run" "$dir/.dev"
        ;;
    peers)
        need_postgres
        need_redis
        need_anvil
        echo "installing the benchmarks' peers"
        pip -r bench/peers/requirements.txt
        # One name and version a line.
        # shellcheck disable=SC2046
        npm_install "$dir/node" $(cat bench/peers/npm.txt)
        touch "$dir/.done"
        ;;
    oracles)
        echo "installing what the EVM is compared with"
        pip -r tests/differential/requirements.txt
        touch "$dir/.done"
        ;;
    *)
        echo "usage: setup.sh DIR run|dev|peers|oracles" >&2
        exit 2
        ;;
esac
