import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Group } from '../group.ts';
import {
  commands,
  type Ended,
  errorCodeIn,
  inShell,
  json,
  judge,
  newDesk,
  notBuilt,
  runProgram,
} from './program.ts';

/** Too few for Node, for any start of a process, and for some features. */
const descriptors = [16, 20, 24, 25, 26, 27, 28, 30, 32, 34, 36];

export const fewDescriptors: Group = {
  name: 'descriptors of the program itself',
  every: 22,
  missing: notBuilt,
  async *run(isChosen) {
    let at = 0;
    for (const count of descriptors)
      for (const { args, code } of commands) {
        if (!isChosen(at++)) continue;
        const all = json(...args);
        const ended = await runProgram(all, { cwd: newDesk(), prefix: inShell(`ulimit -n ${count};`) });
        yield judge(`starved: ${count} descriptors`, args.slice(0, 3).join(' '), ended, (it) =>
          problemOf(it, code),
        );
      }
  },
};

/** Below twelve threads Node itself fails: its thread pool aborts or waits forever for threads that never started. */
const processes = [12, 13, 14, 16];

/** A user without other processes, so that the limit counts only ours. */
const nobody = String(61_000 + (process.pid % 4_000));
const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];

function whyNoOtherUser(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can start processes of another user';
  const tried = spawnSync(asNobody[0] ?? '', [...asNobody.slice(1), process.execPath, '-e', '']);
  return tried.status === 0 ? undefined : 'another user cannot start Node here';
}

export const fewProcesses: Group = {
  name: 'processes of the user',
  every: 14,
  missing: notBuilt ?? whyNoOtherUser(),
  async *run(isChosen) {
    let at = 0;
    for (const count of processes)
      for (const { args, code } of commands) {
        if (!isChosen(at++)) continue;
        const cwd = newDesk();
        for (const name of ['.', ...readdirSync(cwd)]) chmodSync(join(cwd, name), 0o777);
        const prefix = [...asNobody, 'prlimit', `--nproc=${count}`];
        const all = json(...args);
        const ended = await runProgram(all, { cwd, prefix, env: { HOME: cwd, TMPDIR: cwd } });
        yield judge(`starved: ${count} processes and threads`, args.slice(0, 3).join(' '), ended, (it) =>
          problemOf(it, code),
        );
      }
  },
};

function problemOf({ code, signal, stdout }: Ended, usual: number): string | undefined {
  if (signal !== null || stdout === '') return code === 0 ? 'it has said nothing, and ended well' : undefined;
  if (errorCodeIn(stdout) === 'INTERNAL') return 'it calls that a defect of its own';
  // A guard that normally denies must never allow.
  if (usual === 1 && code === 0) return 'a guard that denies was passed';
  return code === usual || code === 1 || code === 2 ? undefined : 'no such exit code';
}
