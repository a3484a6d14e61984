import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRuntime } from '../../src/index.ts';
import { findSurvivors, settle } from '../leaks.ts';

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
const denial = '{"decision": "block", "reason": "no"}';
const doubtful: readonly Doubtful[] = [
  ['says it twice', Buffer.from('{"decision": "block", "decision": "approve"}'), { claude: 1, agentao: 1 }],
  ['is cut off', Buffer.from(denial.slice(0, -3)), { claude: 0, agentao: 0 }],
  ['has text behind it', Buffer.from(`${denial}\ndone`), { claude: 0, agentao: 1 }],
  ['is in UTF-16 with its mark', Buffer.from(`\ufeff${denial}`, 'utf16le'), { claude: 1, agentao: 1 }],
  ['has NaN beside it', Buffer.from(`{"score": NaN, ${denial.slice(1)}`), { claude: 0, agentao: 1 }],
];
for (const [title, printed, open] of doubtful) {
  for (const dialect of ['claude', 'agentao'] as const) {
    for (const isClosed of [false, true]) {
      const how = isClosed ? 'with on_failure: deny' : 'by its own rules';
      const fire = fireTool(dialect);
      const expected = isClosed ? 1 : open[dialect];
      await show(
        `a ${dialect} denial that ${title}, ${how}`,
        guard(dialect, printed, isClosed),
        fire,
        expected,
      );
    }
  }
}
await show('a tool that is pending', tool('pending.sh'), ['tool', 'call', 'it'], 3);
for (const command of ['flood-stderr.sh', 'flood-stderr-short-lines.sh', 'flood-stderr-one-line.sh']) {
  await show(
    `a tool with ${command}: 64 MiB on stderr, then a reply`,
    tool(command),
    ['tool', 'call', 'it'],
    0,
  );
  await showUnread(`a host that never reads stderr, of a tool with ${command}`, command);
}
for (const launcher of ['native', 'portable']) {
  for (const signal of ['SIGKILL', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGINT'] as const) {
    await showEnded(`the command line, ended by ${signal}`, {
      signal,
      launcher,
      argv: [main, 'tool', 'call', 'it'],
    });
    await showEnded(`a program with the library, ended by ${signal}`, {
      signal,
      launcher,
      argv: hostOf(launcher),
    });
  }
}
await showOldNode();
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

type Doubtful = readonly [title: string, printed: Buffer, exit: { claude: number; agentao: number }];

/** A guard of another system before each tool call, which prints these bytes. */
function guard(dialect: 'claude' | 'agentao', printed: Buffer, isClosed: boolean): string {
  const command = `${join(bin, 'says.sh')} ${printed.toString('base64')} '' 0`;
  const more = isClosed ? ', on_failure: deny' : '';
  return `  hooks:\n    it: {dialect: ${dialect}, command: "${command}", ${dialect}: {event: PreToolUse}${more}}\n`;
}

function fireTool(dialect: 'claude' | 'agentao'): string[] {
  const payload =
    dialect === 'claude' ? { tool_name: 'Bash', tool_input: {} } : { toolName: 'Bash', toolInput: {} };
  return ['hook', 'fire', '--dialect', dialect, '--point', 'PreToolUse', '--event', JSON.stringify(payload)];
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
  await judge(
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
  await judge(
    `a server tool that ${title}`,
    outcomes.join() === expected.join(),
    `runtime.tools.call, ${calls.length} times`,
    outcomes.join('; '),
  );
}

/** Ends whoever is in the middle of a call of a tool that is deaf to SIGTERM. */
async function showEnded(
  title: string,
  { signal, launcher, argv }: { signal: NodeJS.Signals; launcher: string; argv: readonly string[] },
): Promise<void> {
  const config = writeConfig(tool('hang-ignoring-term.sh'));
  const args = argv[0] === main ? [...argv, '--log-level', 'info', '--config', config] : argv;
  const env = { ...process.env, SIGNALBOX_LAUNCHER: launcher };
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
  const [ended] = await Promise.all([
    new Promise<string>((resolve) => child.once('exit', (code, by) => resolve(`${by ?? code}`))),
    once(child.stderr, 'data').then(() => child.kill(signal)),
  ]);
  child.stderr.destroy();
  await judge(`${title} (${launcher})`, true, `kill -${signal}`, `it ended with ${ended}`);
}

/** A program that calls the tool, and says on stderr what the tool says there. */
function hostOf(launcher: string): string[] {
  const index = JSON.stringify(join(import.meta.dirname, '../../src/index.ts'));
  const script = `
    import { openRuntime } from ${index};
    const onEvent = ({ type, line }) => type === 'stderr' && process.stderr.write(line);
    const options = { log: false, launcher: ${JSON.stringify(launcher)}, onEvent };
    const runtime = await openRuntime(${JSON.stringify(join(folder, 'runtime.yaml'))}, options);
    await runtime.tools.call('it');
  `;
  return ['--input-type=module', '-e', script];
}

async function showUnread(title: string, command: string): Promise<void> {
  const args = [main, 'tool', 'call', 'it', '--json', '--config', writeConfig(tool(command))];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  child.stderr.destroy();
  await judge(title, code === 0, 'signalbox tool call it --json', `exit ${code}`);
}

/** A Node that says it is an older one. */
async function showOldNode(): Promise<void> {
  const file = join(folder, 'old.cjs');
  writeFileSync(file, `Object.defineProperty(process.versions, 'node', { value: '20.1.0' });`);
  const child = spawn(process.execPath, ['--require', file, main, 'tool', 'list'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  for await (const chunk of child.stderr) said += chunk;
  await judge(
    'the command line on an older Node',
    said.includes('22.18'),
    'signalbox tool list',
    said.trim(),
  );
}

async function judge(title: string, isExpected: boolean, command: string, answer: string): Promise<void> {
  const survivors = await settle(() => findSurvivors(folder), 5_000);
  const left = survivors.length === 0 ? 'none' : survivors.map(({ pid }) => pid).join(', ');
  if (!isExpected || survivors.length > 0) unexpected += 1;
  process.stdout.write(
    `${isExpected ? '✓' : '✗'} ${title}\n  $ ${command}\n  ${answer}\n  processes left: ${left}\n\n`,
  );
}
