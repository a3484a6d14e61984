import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { toAscii } from '../../build/ascii.ts';
import { run, start, workspace } from './command-line.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const dist = join(root, 'dist');
const main = join(dist, 'cli/main.js');
const built = [process.execPath, main] as const;
const tracer = join(root, 'test/fixtures/start/loads.cjs');

const cwd = workspace(
  `
tools:
  greet: {exec: {command: ./greet.sh}}
hooks:
  guard: {command: ./allow.sh, hook: provider, phases: [before_call]}
`,
  {
    'greet.sh': '#!/bin/sh\necho \'{"result": "hello"}\'\n',
    'allow.sh': '#!/bin/sh\necho \'{"allow": true}\'\n',
  },
);

interface Loads {
  readonly files: readonly string[];
  readonly builtins: readonly string[];
}

/** The files that the built program loads: its own relative to dist, those of packages unchanged. */
async function loadsOf(...args: string[]): Promise<Loads> {
  return await loadsIn({ cwd }, args);
}

async function loadsIn(place: { readonly cwd: string; readonly stdin?: string }, args: string[]) {
  const report = join(mkdtempSync(join(tmpdir(), 'loads-')), 'loads.json');
  const env = { LOADS: report, NODE_OPTIONS: `--require=${tracer}` };
  expect(await start(args, { ...place, env }, built).ran).toMatchObject({ code: 0 });
  const { files, builtins }: Loads = JSON.parse(readFileSync(report, 'utf8'));
  return { files: files.map((url) => fileURLToPath(url).replace(`${dist}/`, '')), builtins };
}

test.each(['--version', '-V', '--help', '-h'])('%s loads one small file', async (flag) => {
  const { files, builtins } = await loadsOf(flag);
  expect(files).toEqual(['cli/main.js']);
  expect(builtins).not.toContain('stream');
});

const startsOrStores = ['child_process', 'crypto', 'sqlite'];

test.each([
  { title: 'tool list', args: ['tool', 'list'], most: 18 },
  { title: 'hook list', args: ['hook', 'list'], most: 18 },
  { title: 'validate', args: ['validate'], most: 26 },
])(
  '$title starts no process, opens no store, and loads no package and no module for either',
  async ({ args, most }) => {
    const { files, builtins } = await loadsOf(...args);
    expect(files.filter((file) => !/^(chunks|cli|validators)\//.test(file))).toEqual([]);
    expect(files.length).toBeLessThanOrEqual(most);
    expect(builtins.filter((name) => startsOrStores.includes(name))).toEqual([]);
    expect(existsSync(join(cwd, '.signalbox'))).toBe(false);
  },
);

test.each([
  { title: 'tool call', args: ['tool', 'call', 'greet'] },
  {
    title: 'hook fire',
    args: 'hook fire --hook provider --phase before_call --event {"request":{"messages":[]}}'.split(' '),
  },
])('$title loads the process modules, and no other package', async ({ args }) => {
  const { files, builtins } = await loadsOf(...args);
  const others = files.filter((file) => !/^(chunks|cli|validators)\//.test(file));
  expect(others.filter((file) => !/\/node_modules\/(koffi|@koromix)\//.test(file))).toEqual([]);
  expect(files.length).toBeLessThan(26);
  expect(builtins).not.toContain('sqlite');
});

const session = { session_id: 's', cwd: '/' };
const aCall = { ...session, tool_use_id: 'u', tool_name: 'Bash', tool_input: { command: 'ls' } };

test.each([
  {
    title: 'an event at which nobody listens starts no process',
    event: { ...aCall, hook_event_name: 'PreToolUse' },
    unwanted: ['child_process', 'sqlite'],
  },
  {
    title: 'an event that a filter judges opens no store',
    event: { ...session, hook_event_name: 'UserPromptSubmit', prompt: 'hello' },
    unwanted: ['sqlite'],
  },
])('hook claude with the config of init loads no package, CEL included: $title', async (given) => {
  const guards = join(mkdtempSync(join(tmpdir(), 'guards-')), 'guards');
  execFileSync(process.execPath, [main, 'init', guards]);
  const stdin = JSON.stringify(given.event);
  const { files, builtins } = await loadsIn({ cwd: guards, stdin }, ['hook', 'claude']);
  const packages = /\/node_modules\/(koffi|@koromix)\//;
  const others = files.filter((file) => !/^(chunks|cli|validators)\//.test(file));
  expect(others.filter((file) => !packages.test(file))).toEqual([]);
  expect(files.length).toBeLessThan(31);
  expect(builtins.filter((name) => given.unwanted.includes(name))).toEqual([]);
});

test.each(['mesages[0].content', 'messages[messages.size() - ].content', 'messages.size().content'])(
  'hook claude denies if an expression that looks plain is invalid: %s',
  async (code) => {
    const guards = join(mkdtempSync(join(tmpdir(), 'guards-')), 'guards');
    execFileSync(process.execPath, [main, 'init', guards]);
    const config = join(guards, 'runtime.yaml');
    const mistaken = readFileSync(config, 'utf8').replace('messages[messages.size() - 1].content', code);
    writeFileSync(config, mistaken);
    expect(mistaken).toContain(code);
    const stdin = JSON.stringify({ ...aCall, hook_event_name: 'PreToolUse' });
    const denied = await start(['hook', 'claude'], { cwd: guards, stdin }, built).ran;
    expect(denied).toMatchObject({ code: 2, stdout: expect.stringContaining('CONFIG_INVALID') });
  },
);

test('the program is pure ASCII, which loads in half the time', () => {
  const programs = filesIn(dist).filter(({ name }) => name.endsWith('.js') && !name.endsWith('-page.js'));
  expect(programs.length).toBeGreaterThan(100);
  const texts = programs.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
  expect(texts.filter((text) => /[^\0-\x7f]/.test(text))).toEqual([]);
});

test.each(['/\\’/', 'String.raw`a’`'])('no escape is written into %s', (code) => {
  expect(() => toAscii(code)).toThrow('would change');
});

test('a text in ASCII keeps its meaning', () => {
  const texts = ['a’b', '\\\\’', '😀', '\u2019'];
  expect(texts.map((text) => JSON.parse(toAscii(JSON.stringify(text))))).toEqual(texts);
  expect(toAscii('’')).toBe(String.raw`\u2019`);
});

test('the help that the build stores is that of the program', async () => {
  const kept = await start(['--help'], { cwd }, built).ran;
  expect(kept).toEqual(await run('--help', { cwd }));
  expect(await start(['-h'], { cwd }, built).ran).toEqual(kept);
});

test.each(['--version', '--help'])('%s reports a full disk', (flag) => {
  const command = `exec "${process.execPath}" "${main}" ${flag} > /dev/full`;
  const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringContaining('error: stdout cannot be written'),
  });
});

/** Runs `tool call` without Node's own variables. */
function callWith(env: Readonly<Record<string, string>>, program: readonly string[] = [main]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...program, 'tool', 'call', 'greet'], {
    cwd,
    encoding: 'utf8',
    timeout: 30_000,
    env: { PATH: process.env['PATH'], TMPDIR: tmpdir(), ...env },
  });
  return { status, stdout, stderr };
}

const answered = { status: 0, stdout: 'hello\n', stderr: '' };
const newFolder = () => mkdtempSync(join(tmpdir(), 'home-'));
const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );

test('compiled code is cached where XDG_CACHE_HOME says, or in ~/.cache, for this user alone', () => {
  const [home, caches] = [newFolder(), newFolder()];
  expect(callWith({ HOME: home })).toEqual(answered);
  expect(filesIn(join(home, '.cache/signalbox')).length).toBeGreaterThan(3);
  expect(statSync(join(home, '.cache/signalbox')).mode & 0o777).toBe(0o700);
  expect(callWith({ HOME: home, XDG_CACHE_HOME: caches })).toEqual(answered);
  expect(readdirSync(caches)).toEqual(['signalbox']);
  expect(callWith({ HOME: home })).toEqual(answered);
});

test.each([
  { title: 'no home', env: {} },
  { title: 'a home that is none', env: { HOME: '/dev/null' } },
  { title: 'a home where nothing can be written', env: { HOME: '/proc' } },
  { title: 'a relative folder', env: { XDG_CACHE_HOME: 'caches' } },
])('with $title nothing is cached, and nothing is reported', ({ env }) => {
  const before = readdirSync(tmpdir()).length;
  expect(callWith(env)).toEqual(answered);
  expect(readdirSync(tmpdir())).toHaveLength(before);
  expect(existsSync(join(cwd, 'caches'))).toBe(false);
});

test('NODE_DISABLE_COMPILE_CACHE and NODE_COMPILE_CACHE are obeyed', () => {
  const [home, other] = [newFolder(), newFolder()];
  expect(callWith({ HOME: home, NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual(answered);
  expect(callWith({ HOME: home, NODE_COMPILE_CACHE: other })).toEqual(answered);
  expect(readdirSync(home)).toEqual([]);
  expect(filesIn(other).length).toBeGreaterThan(3);
});

test('code is neither written to nor read from a folder that others can write', () => {
  const home = newFolder();
  mkdirSync(join(home, '.cache/signalbox'), { recursive: true });
  chmodSync(join(home, '.cache/signalbox'), 0o777);
  expect(callWith({ HOME: home })).toEqual(answered);
  expect(readdirSync(join(home, '.cache/signalbox'))).toEqual([]);
});

test('several concurrent first starts share the cache', async () => {
  const home = newFolder();
  const env = { HOME: home, XDG_CACHE_HOME: '', NODE_COMPILE_CACHE: '' };
  const calls = Array.from({ length: 4 }, () => start(['tool', 'call', 'greet'], { cwd, env }, built).ran);
  expect(await Promise.all(calls)).toEqual(Array(4).fill({ code: 0, stdout: 'hello\n', stderr: '' }));
  expect(callWith({ HOME: home })).toEqual(answered);
});

test('a corrupt cache entry is compiled anew', () => {
  const home = newFolder();
  expect(callWith({ HOME: home })).toEqual(answered);
  for (const { parentPath, name } of filesIn(home)) writeFileSync(join(parentPath, name), 'no code');
  expect(callWith({ HOME: home })).toEqual(answered);
});

test('an installation is found through links, and in folders with spaces and special characters', () => {
  const place = join(newFolder(), 'my tools & “others” #1 100%');
  const installed = join(place, 'node_modules/signalbox');
  mkdirSync(installed, { recursive: true });
  for (const folder of ['dist', 'examples/quickstart'])
    cpSync(join(root, folder), join(installed, folder), { recursive: true });
  cpSync(join(root, 'package.json'), join(installed, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(installed, 'node_modules'));
  mkdirSync(join(place, 'node_modules/.bin'));
  const link = join(place, 'node_modules/.bin/signalbox');
  symlinkSync('../signalbox/dist/cli/main.js', link);
  expect(callWith({ HOME: newFolder() }, [link])).toEqual(answered);
  const run = (...args: string[]) => execFileSync(process.execPath, [link, ...args], { encoding: 'utf8' });
  expect(run('--version')).toBe(execFileSync(process.execPath, [main, '--version'], { encoding: 'utf8' }));
  expect(run('init', join(place, 'guards'))).toContain('wrote ');
});
