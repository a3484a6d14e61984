/**
 * Waits until its owner is gone, however it went, which ends stdin; then reads the table on descriptor 3 and ends every
 * group in it: SIGTERM, a second, SIGKILL. A number that somebody else has since is known by when its process began, where
 * /proc tells. A process whose start was announced and no more is found by its stdout.
 */
export const watcherScript = `: signalbox ends what its owner leaves running
trap '' HUP INT QUIT TERM
set -f
groups=' ' marks=
began() {
  start= leader= stat=
  [ -e "/proc/$1/stat" ] || return 0
  while read -r part; do stat="$stat $part"; done <"/proc/$1/stat"
  set -- \${stat##*") "}
  leader=$3 start=\${20}
}
watch() {
  began "$1"
  groups="$groups$1:$start "
}
while read -r line; do :; done
while read -r verb what; do
  case $verb in
  '?') marks="$marks$what
" ;;
  +) watch "$what" ;;
  -) groups="$groups$what: " ;;
  esac
done <&3
each() {
  left=1
  for group in $groups; do
    began "\${group%:*}"
    [ -z "$start" ] || [ "$start" = "\${group#*:}" ] || continue
    kill -s "$1" -- "-\${group%:*}" && left=0
  done
  return $left
}
owners() {
  set +f
  ls -l /proc/[0-9]*/fd/1 | while read -r line; do
    case $line in *"$1") line=\${line#*/proc/}; echo "\${line%%/*}" ;; esac
  done
  set -f
}
pause() { sleep 0.1 || sleep 1; }
for try in 1 2 3 4 5; do
  [ -n "$marks" ] || break
  wanted=$marks marks=
  while read -r mark; do
    [ -n "$mark" ] || continue
    found=$(owners "$mark")
    [ -n "$found" ] || marks="$marks$mark
"
    for pid in $found; do
      began "$pid"
      watch "\${leader:-$pid}"
    done
  done <<EOF
$wanted
EOF
  [ -z "$marks" ] || pause
done
each TERM || exit 0
for try in 1 2 3 4 5 6 7 8 9 10; do pause; each 0 || exit 0; done
each KILL`;
