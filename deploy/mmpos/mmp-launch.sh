#!/usr/bin/env bash
# Mines with the arguments of the mmpOS profile. Its advanced arguments:
#   ./mmp-launch.sh --pool-protocol %pool_protocol% --pool %pool_server%:%pool_port% --user %user% --password %password%
#   --pool URL, --pool-protocol P   address of a node or of a pool (stratum+tcp://, stratum+ssl://); several with commas
#   --user USER                     the paid account: k:KEY, the key alone, or the name of an account, each with or without .WORKER
#   --password PASS                 for nodes the token for control over HTTP, for pools their password; empty or x: none
#   --api-port PORT                 port for mmp-stats.sh, at 127.0.0.1
#   --coin, --worker                accepted; the worker name separates the worker from the account
# All other arguments are options of newcut mine. They override the above.

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd) || exit 1
sheet=$here/rig-sheet.sh
[ -r "$sheet" ] || sheet=$here/../rig-sheet.sh
. "$sheet" || exit 1

url='' protocol='' user='' pass='' worker='' http='' port=4148 own='' rest=()
[ "$1" = mine ] && shift
while [ $# -gt 0 ]; do
  name=${1%%=*}
  case $name in
    --pool | --url | --pool-protocol | --user | --password | --pass | --api-port | --coin | --worker | --http)
      if [[ $1 == *=* ]]; then value=${1#*=}; else
        value=$2
        if [ $# -lt 2 ]; then
          newcut_remark "$name has no value"
          exit 2
        fi
        shift
      fi
      ;;
  esac
  case $name in
    --pool | --url) url+=${url:+,}$value ;;
    --pool-protocol) protocol=$value ;;
    --user) user=$value ;;
    --password | --pass) pass=$value ;;
    --api-port) port=$value ;;
    --worker) worker=$value ;;
    --coin) ;;
    # Written to the file for mmp-stats.sh.
    --http) http=$value ;;
    *)
      [[ $name == --* ]] && own+="${name#--}: "$'\n'
      rest+=("$1")
      ;;
  esac
  shift
done

addresses=
IFS=$' \t\n,;' read -r -d '' -a list <<<"$url"
for each in "${list[@]}"; do
  [[ $each == *://* || -z $protocol ]] || each=${protocol%://}://$each
  addresses+="$each "
done

configuration() {
  echo "# Written by mmp-launch.sh from the profile. Changes here are lost."
  newcut_sheet "$addresses" "$user" "$pass" "$worker" "${http:-127.0.0.1:$port}" '' "$own"
}

# The file may contain a token.
(umask 077 && configuration >"$here/newcut.yaml") || exit 1
exec "$here/newcut" mine --config "$here/newcut.yaml" "${rest[@]}"
