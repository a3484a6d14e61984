import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { waitForSettled } from '../../base/time/deadline.ts';
import { openTable, type Row, type Table } from './system/group-table.ts';
import { keepNodeAlive } from './system/stream-output.ts';

/**
 * A small shell process that ends the process groups that this process leaves running, even when it is killed. It does
 * nothing until then: what it has to end stands in a table.
 */
export interface Watcher {
  /** Adds what `describeStart` or its neighbours give; undefined where there is no watcher any more. */
  add(text: string): Row | undefined;
  /** Nothing is left to be ended, by the watcher or by a later start: for the exit of this process. Never throws. */
  discard(): void;
  /** Ends the watcher, and with it whatever its table still has. Never rejects. */
  close(): Promise<void>;
}

/** A process is about to start; `stdout` is how /proc shows what the process alone will have there. */
export function describeStart(stdout: string): string {
  return stdout === '' ? '' : `? ${stdoutMark(stdout)}`;
}

/** What a table has of a stdout. */
export function stdoutMark(stdout: string): string {
  return stdout.replaceAll('\n', '?').slice(-MARK_CHARACTERS);
}

/** A process leads this group. */
export function describeGroup(group: number): string {
  return `+ ${group}`;
}

/** The process that led this group is gone for good, so that a process of this number is somebody else's. */
export function describeRest(group: number): string {
  return `- ${group}`;
}

/** What the rows of a table say, as the watcher reads them too. */
export function readRows(table: string): {
  readonly groups: readonly number[];
  readonly stdouts: readonly string[];
} {
  const rows = table.split('\n').map((line) => line.trimEnd());
  return {
    groups: rows.filter((row) => /^[+-] \d+$/.test(row)).map((row) => Number(row.slice(2))),
    stdouts: rows.filter((row) => row.startsWith('? ')).map((row) => row.slice(2)),
  };
}

/** Of a long path the end is enough, and of three bytes each they fit into a row. */
const MARK_CHARACTERS = 80;

/**
 * Starts a watcher, which does not keep this process alive, holds none of its other descriptors and is in a group and
 * session of its own. `onLost` is called once, with the reason, when the watcher ended without `close`.
 */
export function startWatcher(onLost: (reason: string) => void): Watcher {
  let isEnded = false;
  let opened: { readonly table: Table; readonly child: ChildProcess } | undefined;
  const reportLoss = (reason: string) => {
    if (isEnded) return;
    isEnded = true;
    // Without a word: a watcher that hears the end of this process would end what runs.
    opened?.child.kill('SIGKILL');
    opened?.table.close();
    onLost(reason);
  };
  try {
    const table = openTable();
    opened = { table, child: spawnShell(table.fd, reportLoss) };
  } catch (error) {
    // What the system refuses outright. Later, since nobody has the watcher yet.
    queueMicrotask(() => reportLoss(messageOf(error)));
  }
  const guarded = (change: () => void) => {
    if (isEnded) return;
    try {
      change();
    } catch (error) {
      reportLoss(messageOf(error));
    }
  };
  return {
    add: (text) => {
      let row: Row | undefined;
      guarded(() => {
        row = opened?.table.add(text);
      });
      return (
        row && { write: (next) => guarded(() => row?.write(next)), free: () => guarded(() => row?.free()) }
      );
    },
    discard: () => opened?.table.discard(),
    close: async () => {
      if (isEnded || opened === undefined) return;
      isEnded = true;
      const { child, table } = opened;
      table.close();
      // Keeps this process alive until the watcher has ended.
      child.ref();
      child.stdin?.end();
      await waitForSettled(once(child, 'exit'), ENDS_WITHIN_MS);
      child.unref();
    },
  };
}

const ENDS_WITHIN_MS = 2_000;

function spawnShell(table: number, reportLoss: (reason: string) => void): ChildProcess {
  const child = spawn('/bin/sh', ['-c', watcherScript, 'signalbox-watcher'], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    // A session of its own: what ends the group or the terminal of this process must not end it.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore', table],
  });
  child.once('error', ({ message }) => reportLoss(message));
  child.once('exit', (code, signal) => reportLoss(`it ended with ${signal ?? code}`));
  child.stdin?.on('error', ({ message }) => reportLoss(message));
  child.unref();
  keepNodeAlive(child.stdin, false);
  return child;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Waits until its owner is gone, however it went, which ends stdin; then reads the table on descriptor 3 and ends every
 * group in it: SIGTERM, a second, SIGKILL. A number that somebody else has since is known by when its process began, where
 * /proc tells. A process whose start was announced and no more is found by its stdout.
 */
const watcherScript = `: signalbox ends what its owner leaves running
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
