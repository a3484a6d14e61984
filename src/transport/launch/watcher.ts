import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { waitForSettled } from '../../time/deadline.ts';

/**
 * A small shell process that ends the process groups that this process leaves running, even when it is
 * killed.
 */
export interface Watcher {
  /** A process is about to start; `stdout` is how /proc shows what it alone will have there. */
  starting(stdout: string): void;
  /** What was about to start is this group; null when it could not be started. */
  started(group: number | null): void;
  /** The group is not to be ended any more. */
  ended(group: number): void;
  /** Ends the watcher, and with it whatever it still watches. Never rejects. */
  close(): Promise<void>;
}

/**
 * Starts a watcher, which does not keep this process alive, holds none of its descriptors and is in a group
 * and session of its own. `onLost` is called once, with the reason, when the watcher ended without `close`.
 */
export function startWatcher(onLost: (reason: string) => void): Watcher {
  let isEnded = false;
  const reportLoss = (reason: string) => {
    if (isEnded) return;
    isEnded = true;
    onLost(reason);
  };
  const child = spawnShell(reportLoss);
  const writeLine = (line: string) => {
    if (!isEnded) child?.stdin?.write(line);
  };
  return {
    starting: (stdout) => writeLine(`? ${stdout}\n`),
    started: (group) => writeLine(group === null ? '+\n' : `+ ${group}\n`),
    ended: (group) => writeLine(`- ${group}\n`),
    close: async () => {
      if (isEnded || child === undefined) return;
      isEnded = true;
      // Keeps this process alive until the watcher has ended.
      child.ref();
      child.stdin?.end();
      await waitForSettled(once(child, 'exit'), ENDS_WITHIN_MS);
      child.unref();
    },
  };
}

const ENDS_WITHIN_MS = 2_000;

function spawnShell(reportLoss: (reason: string) => void): ChildProcess | undefined {
  try {
    const child = spawn('/bin/sh', ['-c', script, 'signalbox-watcher'], {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      // A session of its own: what ends the group or the terminal of this process must not end it.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.once('error', ({ message }) => reportLoss(message));
    child.once('exit', (code, signal) => reportLoss(`it ended with ${signal ?? code}`));
    child.stdin.on('error', ({ message }) => reportLoss(message));
    child.unref();
    unref(child.stdin);
    return child;
  } catch (error) {
    // What the system refuses outright. Later, since nobody has the watcher yet.
    queueMicrotask(() => reportLoss(error instanceof Error ? error.message : String(error)));
    return undefined;
  }
}

/** Node's types know a child's stdin as a stream only. */
function unref(stream: object): void {
  if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
}

/**
 * Reads what `Watcher` writes until this process is gone, however it went; then SIGTERM, a second, SIGKILL to every
 * group that is left. A number that somebody else has since is known by when its process began, where /proc tells. A
 * process whose start was announced and no more is found by its stdout.
 */
const script = `: signalbox ends what its owner leaves running
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
