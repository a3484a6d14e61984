import { expect, test } from 'vitest';
import { faultOf } from '../../../src/process/limits/hold.ts';

const all = { memoryMb: 1, cpuSeconds: 2, openFiles: 3, processes: 4, fileSizeMb: 5 };
const exit = (exitCode: number) => ({ exitCode, signal: null });
const by = (signal: string) => ({ exitCode: null, signal });
const quiet = {
  oomKills: 0,
  refusedStarts: 0,
  killedFor: undefined,
  sawCpuLimit: undefined,
  end: exit(1),
  stderr: '',
  isSilent: true,
};
const killedFor = { limit: 'processes', value: 4, seen: 'it had 5' } as const;

const ends = [
  { title: 'SIGXCPU', how: { end: by('SIGXCPU') }, limit: 'cpu_seconds' },
  { title: 'SIGXCPU of what a shell ran', how: { end: exit(152) }, limit: 'cpu_seconds' },
  { title: 'SIGXFSZ', how: { end: by('SIGXFSZ') }, limit: 'file_size_mb' },
  { title: 'SIGXFSZ of what a shell ran', how: { end: exit(153) }, limit: 'file_size_mb' },
  { title: 'our own kill', how: { end: by('SIGKILL'), killedFor }, limit: 'processes' },
  { title: 'the kernel’s kill', how: { end: by('SIGKILL'), oomKills: 1 }, limit: 'memory_mb' },
  {
    title: 'the kernel’s kill of a part, and silence',
    how: { end: exit(0), oomKills: 1 },
    limit: 'memory_mb',
  },
  {
    title: 'a part that was killed, and an answer',
    how: { end: exit(0), oomKills: 1, isSilent: false },
    limit: undefined,
  },
  { title: 'a refused start, and failure', how: { refusedStarts: 1 }, limit: 'processes' },
  {
    title: 'a refused start, and waiting in vain',
    how: { refusedStarts: 1, end: undefined },
    limit: 'processes',
  },
  {
    title: 'Python without files',
    how: { stderr: "OSError: [Errno 24] Zu viele: 'x'" },
    limit: 'open_files',
  },
  { title: 'Node without files', how: { stderr: 'Error: EMFILE: open' }, limit: 'open_files' },
  { title: 'Python without memory', how: { stderr: 'Traceback\nMemoryError\n' }, limit: 'memory_mb' },
  { title: 'Java without memory', how: { stderr: 'java.lang.OutOfMemoryError: heap' }, limit: 'memory_mb' },
  {
    title: 'a loader without memory',
    how: { stderr: 'libc.so.6: failed to map segment' },
    limit: 'memory_mb',
  },
  {
    title: 'cp with a large file',
    how: { stderr: 'cp: error writing: File too large' },
    limit: 'file_size_mb',
  },
  {
    title: 'a shell whose child ran out of time',
    how: { end: exit(1), stderr: 'CPU time limit exceeded (core dumped)\n' },
    limit: 'cpu_seconds',
  },
  {
    title: 'Python whose child ran out of time',
    how: { stderr: "CalledProcessError: Command 'x' died with <Signals.SIGXCPU: 24>." },
    limit: 'cpu_seconds',
  },
  {
    title: 'Node whose child ran out of time',
    how: { stderr: "Error: Command failed: x\n  status: null,\n  signal: 'SIGXCPU'," },
    limit: 'cpu_seconds',
  },
  { title: 'other last words', how: { stderr: 'no such user' }, limit: undefined },
  { title: 'last words long ago', how: { stderr: `EMFILE${' '.repeat(5000)}` }, limit: undefined },
  { title: 'last words, and an answer', how: { end: exit(0), stderr: 'EMFILE' }, limit: undefined },
  { title: 'another signal', how: { end: by('SIGSEGV') }, limit: undefined },
];

test.each(ends)('$title: $limit', ({ how, limit }) => {
  const fault = faultOf('demo', all, { ...quiet, ...how });
  expect([fault?.code, fault?.details['limit']]).toEqual(
    limit ? ['LIMIT_EXCEEDED', limit] : [undefined, undefined],
  );
});

test('a limit that an entry does not have is never the reason', () => {
  const how = { ...quiet, stderr: 'EMFILE', end: by('SIGXCPU') };
  expect(faultOf('demo', { memoryMb: 1 }, how)).toBeUndefined();
});

test('a process that cannot be limited, or cannot run afterwards, has not started', () => {
  const codeOf = (exitCode: number, stderr: string) =>
    faultOf('demo', all, { ...quiet, end: exit(exitCode), stderr })?.code;
  expect(codeOf(125, 'signalbox: the system does not let it set its limit -n\n')).toBe('PROCESS_START');
  expect(codeOf(126, 'signalbox-limits: 12: exec: ./x: Permission denied\n')).toBe('PROCESS_START');
  expect(codeOf(125, 'something else')).toBeUndefined();
});
