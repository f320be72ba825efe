#!/usr/bin/env bash
# Converts the settings of a mining operating system (addresses, user, password, further lines) to a configuration file of
# newcut. The scripts of HiveOS and mmpOS source this file, some in the shell of the system, so all names begin with newcut_.

# Quotes any text for YAML.
newcut_quoted() { printf "'%s'" "${1//\'/\'\'}"; }

# Logs a setting that was dropped or changed.
newcut_remark() { echo "newcut: $*" >&2; }

# Cleans the further lines: removes Windows line ends and a common indentation.
newcut_lines() {
  local text=${1//$'\r'/} indent='' line first=$'^\n*([ \t]+)[^ \t\n]'
  [[ $text =~ $first ]] && indent=${BASH_REMATCH[1]}
  while IFS= read -r line; do printf '%s\n' "${line#"$indent"}"; done <<<"$text"
}

# Whether a YAML text has one of these keys: newcut_has TEXT KEY...
newcut_has() {
  local text=$1 keys
  shift
  keys=$(IFS='|' && echo "$*")
  grep -Eq "^[\"']?($keys)[\"']?[[:space:]]*:([[:space:]]|\$)" <<<"$text"
}

# Extracts the account of USER or USER.WORKER. In k: and c: accounts a dot starts the worker. Other principals may contain
# dots, so only the name of this rig counts as a worker there.
newcut_account() {
  local user=$1 worker=${2:-}
  if [[ $user =~ ^((k:)?[0-9a-fA-F]{64}|c:[A-Za-z0-9_-]{43})(\..*)?$ ]]; then
    user=${BASH_REMATCH[1]}
  elif [ -n "$worker" ] && [[ $user == ?*".$worker" ]]; then
    user=${user%".$worker"}
  elif [[ $user == ?*.* ]] && [[ ! $user =~ ^[a-z]: ]]; then
    newcut_remark "the account is ${user%%.*}: .${user#*.} is taken for the name of the worker; another account: account: 'NAME'"
    user=${user%%.*}
  fi
  printf '%s' "$user"
}

# Encodes a user or password for a pool address. A colon that may belong to an account stays, because newcut checks those.
newcut_encoded() {
  local LC_ALL=C text=$1 kept=$2 i char
  for ((i = 0; i < ${#text}; i++)); do
    char=${text:i:1}
    if [[ $char =~ [A-Za-z0-9._~-] || $char == "$kept" ]]; then printf '%s' "$char"; else printf '%%%02X' "'$char"; fi
  done
}

# The address of a pool, with user and password unless it has its own. Empty if it is not a pool.
newcut_pool() {
  local url=$1 user=$2 pass=$3 scheme rest colon=
  [[ ${url,,} =~ ^(stratum(\+tcp|\+ssl|\+tls)?|ssl|tls|tcp):// ]] || return 1
  case ${BASH_REMATCH[1]} in *ssl | *tls) scheme=stratum+ssl ;; *) scheme=stratum+tcp ;; esac
  rest=${url#*://}
  if [[ $rest != *@* && -n $user ]]; then
    [[ $user =~ ^[kcwurmKCWURM]: ]] && colon=:
    user=$(newcut_encoded "$user" "$colon")
    [ -n "$pass" ] && user+=:$(newcut_encoded "$pass" '')
    rest=$user@$rest
  fi
  printf '%s://%s' "$scheme" "$rest"
}

# Prints the configuration: newcut_sheet URLS USER PASS WORKER HTTP LINES [OTHERS]. Keys in LINES, which are printed too, and
# in OTHERS, which stand elsewhere, take precedence.
newcut_sheet() {
  local urls=$1 user=$2 pass=$3 worker=$4 http=$5 lines own url pool reason list pools=() nodes=()
  lines=$(newcut_lines "$6")
  own=$lines$'\n'$7
  [[ ${pass,,} == x ]] && pass=
  newcut_has "$own" http || echo "http: $http"
  newcut_has "$own" node nodes pool pools fleet && urls=
  IFS=$' \t\n,;' read -r -d '' -a list <<<"$urls"
  for url in "${list[@]}"; do
    if pool=$(newcut_pool "$url" "$user" "$pass"); then pools+=("$pool"); else nodes+=("$url"); fi
  done
  if [ ${#pools[@]} -gt 0 ]; then
    echo "pool:"
    for url in "${pools[@]}"; do echo "  - $(newcut_quoted "$url")"; done
    [ ${#nodes[@]} -eq 0 ] || newcut_remark "left out, since pools take the place of nodes: ${nodes[*]}"
  else
    if [ ${#nodes[@]} -gt 0 ]; then
      echo "nodes:"
      for url in "${nodes[@]}"; do echo "  - $(newcut_quoted "$url")"; done
    fi
    newcut_has "$own" pool pools fleet || newcut_payee "$user" "$worker" "$own"
  fi
  # A pool uses it as its password.
  if [ -n "$pass" ] && [ ${#pools[@]} -eq 0 ] && ! newcut_has "$own" http-token; then
    if [[ $pass =~ ^[A-Za-z0-9._~+/=-]{8,200}$ ]]; then
      echo "http-token: $(newcut_quoted "$pass")"
    else
      reason="the pass is left out, since it cannot be a token: a token has 8 to 200 letters, digits and the signs -._~+/="
      echo "# $reason"
      newcut_remark "$reason"
    fi
  fi
  [ -z "$lines" ] || printf '%s\n' "$lines"
}

# The account that blocks pay.
newcut_payee() {
  local account
  account=$(newcut_account "$1" "$2")
  if [[ $account =~ ^[0-9a-fA-F]{64}$ ]]; then
    newcut_has "$3" public-key || echo "public-key: $(newcut_quoted "$account")"
  elif [ -n "$account" ]; then
    newcut_has "$3" account || echo "account: $(newcut_quoted "$account")"
  fi
}

# HTTP address of the miner in a configuration file: HOST:PORT, off, or empty if the file does not set it.
newcut_address() {
  local line value
  [ -r "$1" ] || return 0
  line=$(grep -E "^[\"']?http[\"']?[[:space:]]*:([[:space:]]|\$)" -- "$1" | tail -n 1)
  value=${line#*:}
  value=${value%%[[:space:]]#*}
  value=${value//[[:space:]\"\']/}
  value=${value/#0.0.0.0:/127.0.0.1:}
  value=${value/#\[::\]:/[::1]:}
  [[ $value == false ]] && value=off
  printf '%s' "$value"
}
