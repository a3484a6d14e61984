/**
 * Reads what `Watcher` writes until this process is gone, however it went; then SIGTERM, a second, SIGKILL to every
 * group that is left. A number that somebody else has since is known by when its process began, where /proc tells. A
 * process whose start was announced and no more is found by its stdout.
 */
export const watcherScript = `: signalbox ends what its owner leaves running
trap '' HUP INT QUIT TERM
set -f
groups=' ' mark=
began() {
  start= stat=
  [ -e "/proc/$1/stat" ] || return 0
  while read -r part; do stat="$stat $part"; done <"/proc/$1/stat"
  set -- \${stat##*") "}
  start=\${20}
}
watch() {
  began "$1"
  groups="$groups$1:$start "
}
while read -r verb what; do
  case $verb in
  '?') mark=$what ;;
  +) mark=
    [ -z "$what" ] || watch "$what" ;;
  -) before=\${groups%%" $what:"*}
    [ "$before" = "$groups" ] || { after=\${groups#*" $what:"}; groups="$before \${after#* }"; } ;;
  esac
done
each() {
  left=1
  for group in $groups; do
    began "\${group%:*}"
    [ -z "$start" ] || [ "$start" = "\${group#*:}" ] || continue
    kill -s "$1" -- "-\${group%:*}" && left=0
  done
  return $left
}
pause() { sleep 0.1 || sleep 1; }
for try in 1 2 3 4 5; do
  [ -n "$mark" ] || break
  set +f
  for found in $(ls -l /proc/[0-9]*/fd/1 | while read -r line; do
    case $line in *"-> $mark") line=\${line#*/proc/}; echo "\${line%%/*}" ;; esac
  done); do watch "$found"; mark=; done
  set -f
  [ -z "$mark" ] || pause
done
each TERM || exit 0
for try in 1 2 3 4 5 6 7 8 9 10; do pause; each 0 || exit 0; done
each KILL`;
