#!/usr/bin/env bash
# Makes the Python lock files again from their .in files. Usage: lock.sh UV (a uv of any recent version)
set -euo pipefail
cd "$(dirname "$0")/.."
compile() {
  "$uv" pip compile -q --generate-hashes --no-annotate --no-header --python-version 3.12 --python-platform linux "$@"
}
uv=${1:?usage: lock.sh UV}
compile _common/uv.in -o _common/uv.txt
compile netbox/requirements.in --override netbox/overrides.txt -o netbox/requirements.txt
compile redis/requirements.in -o redis/requirements.txt
