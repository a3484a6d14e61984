import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRuntime } from '../../src/index.ts';
import { findSurvivors } from '../leaks.ts';

/**
 * `npm run faults`: every way in which a process can misbehave, one command each, with what the command line
 * says, its exit code, and what processes are left behind. Ends with 1 when something is not as expected.
 */
const bin = join(import.meta.dirname, '../fixtures/bin');
const main = join(import.meta.dirname, '../../src/surface/cli/main.ts');
const folder = mkdtempSync(join(tmpdir(), 'signalbox-faults-'));
// Children are given TMPDIR, and the finder of survivors knows them by it.
process.env['TMPDIR'] = folder;
let unexpected = 0;

const filterFaults: readonly (readonly [title: string, command: string])[] = [
  ['crashes', 'crash.sh'],
  ['hangs', 'hang.sh'],
  ['hangs, and so does its child, both deaf to SIGTERM', 'hang-ignoring-term.sh'],
  ['prints garbage', 'garbage.sh'],
  ['prints two objects', 'two-objects.sh'],
  ['prints {"allow": "true"}', 'allow-string.sh'],
  ['prints nothing', 'silent.sh'],
  ['floods stdout with 64 MiB', 'flood.sh'],
  ['is missing', 'is-not-there.sh'],
];

const before = [
  'hook',
  'fire',
  '--hook',
  'provider',
  '--phase',
  'before_call',
  '--event',
  '{"request":{"messages":[]}}',
];
const start = [
  'hook',
  'fire',
  '--hook',
  'session',
  '--phase',
  'session_start',
  '--event',
  '{"event":{"session_id":"s"}}',
];

for (const [title, command] of filterFaults) {
  await show(`a filter that ${title}`, hook('provider', command), before, 1);
}
const held = 'leaves a child that holds stdout, after a clean allow';
await show(`a filter that ${held}`, hook('provider', 'grandchild-holds-stdout.sh'), before, 0);
for (const [title, command] of [...filterFaults, [held, 'grandchild-holds-stdout.sh'] as const]) {
  await show(`a session observer that ${title}`, hook('session', command), start, 0);
}
await show('a tool that is pending', tool('pending.sh'), ['tool', 'call', 'it'], 3);
await showServer('dies between calls', 'dies-between', ['ok', 'ok', 'ok']);
await showServer('dies during a call', 'dies-during', ['failed SERVER_EXIT', 'failed SERVER_EXIT']);
await showServer('answers late', 'late, "9000"', ['failed PROCESS_TIMEOUT', 'failed PROCESS_TIMEOUT']);
await showServer('answers out of order', 'out-of-order', ['ok', 'ok'], true);
await showServer('prints a banner first', 'banner-first', ['ok', 'ok', 'ok']);
await showServer('answers with a wrong id', 'wrong-id', ['failed PROCESS_TIMEOUT', 'failed PROCESS_TIMEOUT']);

rmSync(folder, { recursive: true, force: true });
process.stdout.write(
  unexpected === 0 ? 'everything as it should be\n' : `${unexpected} not as it should be\n`,
);
process.exitCode = unexpected === 0 ? 0 : 1;

function hook(kind: string, command: string): string {
  return `  hooks:\n    it: {command: ${join(bin, command)}, hook: ${kind}, timeout_ms: 1000, grace_ms: 500}\n`;
}

function tool(command: string): string {
  return `  tools:\n    it: {description: it, exec: {command: ${join(bin, command)}}}\n`;
}

function writeConfig(entries: string): string {
  const file = join(folder, 'runtime.yaml');
  writeFileSync(file, `apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec:\n${entries}`);
  return file;
}

async function show(
  title: string,
  entries: string,
  argv: readonly string[],
  expected: number,
): Promise<void> {
  const args = [...argv, '--json', '--log-level', 'silent', '--config', writeConfig(entries)];
  const { stdout, code } = await run(args);
  judge(
    title,
    code === expected,
    `signalbox ${argv.slice(0, 2).join(' ')} … --json`,
    `${stdout.trim()}\n  exit ${code}`,
  );
}

function run(args: readonly string[]): Promise<{ stdout: string; code: number | null }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.once('close', (code) => resolve({ stdout, code }));
  });
}

/** Several calls of one server need one runtime, so these go through the library. */
async function showServer(
  title: string,
  behaviour: string,
  expected: readonly string[],
  together = false,
): Promise<void> {
  const entries = `  tools:
    it: {description: it, exec: {command: ${join(bin, 'server')}, args: [${behaviour}], runtime: server, timeout_ms: 4000, grace_ms: 500}}
`;
  const ends: unknown[] = [];
  const runtime = await openRuntime(writeConfig(entries), {
    log: false,
    onEvent: (event) => event.type === 'process.ended' && ends.push(event),
  });
  const call = async (n: number) => {
    const outcome = await runtime.tools.call('it', { n });
    return outcome.status === 'failed' ? `failed ${outcome.error.code}` : outcome.status;
  };
  const calls = expected.map((_, n) => n);
  const outcomes: string[] = [];
  if (together) outcomes.push(...(await Promise.all(calls.map(call))));
  else {
    for (const n of calls) {
      outcomes.push(await call(n));
      // A server that dies after its reply must be dead, rather than die with the next request in its hands.
      if (behaviour.startsWith('dies')) while (ends.length < outcomes.length) await sleep(20);
    }
  }
  await runtime.close();
  judge(
    `a server tool that ${title}`,
    outcomes.join() === expected.join(),
    `runtime.tools.call, ${calls.length} times`,
    outcomes.join('; '),
  );
}

function judge(title: string, isExpected: boolean, command: string, answer: string): void {
  const survivors = findSurvivors(folder);
  const left = survivors.length === 0 ? 'none' : survivors.map(({ pid }) => pid).join(', ');
  if (!isExpected || survivors.length > 0) unexpected += 1;
  process.stdout.write(
    `${isExpected ? '✓' : '✗'} ${title}\n  $ ${command}\n  ${answer}\n  processes left: ${left}\n\n`,
  );
}
