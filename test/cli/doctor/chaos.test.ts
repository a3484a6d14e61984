import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { answers } from '../../../src/contract/hook.ts';
import { createHookContext } from '../../../src/contract/turn.ts';
import { decoded } from '../../../src/dialects/dialect.ts';
import { foreignDialects, foreignNames, requireNative } from '../../../src/dialects/registry.ts';
import { judge } from '../../../src/runtime/doctor/chaos/chaos.ts';
import { config, folderOf, run, runJson } from '../command-line.ts';

// A run takes seconds, or minutes on a busy machine.
vi.setConfig({ testTimeout: 300_000 });

/** Leaves a mark whenever it is started. */
const marks = '#!/bin/sh\necho ran >> "$(dirname "$0")/MARK"\necho \'{"allow": true}\'\n';

const folderWith = (hooks: string, more: Readonly<Record<string, string>> = {}) =>
  folderOf({ 'runtime.yaml': config(`hooks:\n${hooks}`), 'mark.sh': marks, ...more });

interface Chaos {
  readonly cells: number;
  readonly denied: number;
  readonly open: readonly { readonly hook: string; readonly fault: string; readonly rule: string | null }[];
}

async function chaosOf(cwd: string): Promise<{ readonly code: number | null; readonly found: Chaos }> {
  const { code, stdout, stderr } = await run('doctor --chaos --json', { cwd });
  if (code === 2) throw new Error(stdout + stderr);
  const found: Chaos = JSON.parse(stdout);
  return { code, found };
}

test('every native filter denies with every fault [DS-CHAOS-01 DS-CHAOS-03 DS-CHAOS-05 DS-CHAOS-07]', async () => {
  const cwd = folderWith(`  guard: {command: ./mark.sh, hook: provider}
  gate: {command: ./mark.sh, hook: tool, phases: [before_execution], modifies: false, warm: 2}
  ${'late'.repeat(20)}: {command: ./mark.sh, hook: tool, phases: [after_execution], dialect: promptkit-go}
  stays: {command: ./mark.sh, hook: tool, phases: [before_execution], runtime: server}
  told: {command: ./mark.sh, hook: session}
  shadow: {command: ./mark.sh, hook: provider, mode: shadow}
`);
  const { code, stdout, stderr } = await run('doctor --chaos --json', { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  // 14 faults of a one-shot process at four moments, 15 of a server at one.
  expect(JSON.parse(stdout)).toMatchObject({ cells: 71, denied: 71, open: [] });
  expect(readdirSync(cwd).toSorted()).toEqual(['mark.sh', 'runtime.yaml']);
  const shown = await run('doctor --chaos', { cwd });
  expect(shown.stdout).toContain('told is an observer: it cannot delay or block a call');
  expect(shown.stdout).toContain('shadow is a shadow');
  expect(shown.stdout).toMatch(/4 filters, 71 cells in [\d.]+ s: 71 denied, 0 open by a rule/);
  expect(shown.stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
});

test('a native filter that is an endpoint denies with every fault, and its real endpoint is not called [DS-CHAOS-01 DS-CHAOS-05]', async () => {
  const cwd =
    folderWith(`  web: {url: "https://guard.example/judge", headers: {Authorization: k}, hook: tool, phases: [before_execution]}
  local: {command: ./mark.sh, hook: tool, phases: [before_execution]}
`);
  const { code, stdout, stderr } = await run('doctor --chaos --json', { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  // 12 faults of an endpoint, 14 of a one-shot process.
  expect(JSON.parse(stdout)).toMatchObject({ cells: 26, denied: 26, open: [] });
});

const foreign = (more: string) => `  own: {command: ./mark.sh, hook: tool, phases: [before_execution]}
  bash: {dialect: claude, command: ./mark.sh, claude: {event: PreToolUse, matcher: Bash, if: "Bash(rm *)"}${more}}
  web: {dialect: claude, claude: {event: PreToolUse, type: http, url: "http://127.0.0.1:1/"}${more}}
  permit: {dialect: claude, command: ./mark.sh, claude: {event: PermissionRequest}${more}}
  rule: {dialect: agentao, command: ./mark.sh, agentao: {event: PreToolUse}${more}}
  text: {dialect: agentao, agentao: {event: UserPromptSubmit, prompt: Be brief.}}
  gate: {dialect: picoclaw, command: ./mark.sh, picoclaw: {intercept: [before_tool, approve_tool]}${more}}
`;

test('what passes by a rule of a foreign system is reported with that rule [DS-CHAOS-02 DS-CHAOS-03]', async () => {
  const cwd = folderWith(foreign(''));
  const { code, found } = await chaosOf(cwd);
  expect(code).toBe(0);
  expect(found.cells).toBe(found.denied + found.open.length);
  expect(found.open.filter(({ rule }) => rule === null)).toEqual([]);
  expect([...new Set(found.open.map(({ hook }) => hook))]).toEqual(['bash', 'web', 'rule', 'gate']);
  const ruleOf = (hook: string) =>
    Object.fromEntries(
      found.open.filter((each) => each.hook === hook).map(({ fault, rule }) => [fault, rule]),
    );
  const exits = { sigsegv: 1, sigkill: 1, exit_1: 1, exit_126: 1, exit_127: 1, flood_stderr: 1 };
  const all = (faults: object, rule: string) =>
    Object.fromEntries(Object.keys(faults).map((fault) => [fault, rule]));
  expect(ruleOf('bash')).toEqual({
    ...all(exits, 'claude.exit_other'),
    ...{ timeout: 'claude.timeout', missing: 'claude.spawn', deleted: 'claude.spawn' },
    ...{ junk: 'claude.plain_text', nothing: 'claude.no_opinion', half_answer: 'claude.bad_json' },
  });
  expect(ruleOf('web')).toEqual({
    ...all(
      { junk: 1, half_answer: 1, missing: 1, hang_up: 1, cut_off: 1, status_500: 1, redirect: 1 },
      'claude.http_error',
    ),
    ...{ timeout: 'claude.timeout', nothing: 'claude.no_opinion' },
  });
  expect(ruleOf('rule')).toEqual({
    ...all({ ...exits, exit_2: 1 }, 'agentao.exit_nonzero'),
    ...{ timeout: 'agentao.timeout', missing: 'agentao.spawn', deleted: 'agentao.spawn' },
    ...{ junk: 'agentao.plain_text', nothing: 'agentao.no_opinion', half_answer: 'agentao.bad_json' },
  });
  expect(ruleOf('gate')).toMatchObject({ timeout: 'picoclaw.timeout', exit_1: 'picoclaw.dead' });
  expect(Object.keys(ruleOf('gate'))).not.toContain('no_greeting');
  expect(existsSync(join(cwd, 'MARK'))).toBe(false);
});

test('on_failure: deny denies all except the documented answers of the foreign system [DS-CHAOS-02]', async () => {
  const { code, found } = await chaosOf(folderWith(foreign(', on_failure: deny')));
  expect(code).toBe(0);
  expect(found.open).toEqual([
    { hook: 'bash', fault: 'junk', rule: 'claude.plain_text' },
    { hook: 'bash', fault: 'nothing', rule: 'claude.no_opinion' },
    { hook: 'web', fault: 'nothing', rule: 'claude.no_opinion' },
    { hook: 'rule', fault: 'junk', rule: 'agentao.plain_text' },
    { hook: 'rule', fault: 'nothing', rule: 'agentao.no_opinion' },
  ]);
});

test('plugins and imported hooks are tried, and never started to describe themselves [DS-CHAOS-02 DS-CHAOS-03]', async () => {
  const handler = { type: 'command', command: '$CLAUDE_PROJECT_DIR/mark.sh' };
  const cwd = folderOf({
    'runtime.yaml': config(
      'imports:\n  - {file: .claude/settings.json}\n  - {dialect: chibi, plugins_dir: ./plugins}\n',
    ),
    '.claude/settings.json': JSON.stringify({ hooks: { PreToolUse: [{ hooks: [handler] }] } }),
    'mark.sh': marks,
    'plugins/guard': marks,
  });
  const { code, found } = await chaosOf(cwd);
  expect(code).toBe(0);
  expect([...new Set(found.open.map(({ hook }) => hook))]).toEqual(['PreToolUse-1', 'guard']);
  expect(found.open.filter(({ rule }) => rule === null)).toEqual([]);
  expect(readdirSync(cwd, { recursive: true })).not.toContain(expect.stringContaining('MARK'));
});

test('chaos finds a decoder that lets a crash pass [DS-CHAOS-04 DS-CHAOS-06]', async () => {
  const { hook } = requireNative('promptkit');
  const { decode } = hook;
  const spy = vi.spyOn(hook, 'decode').mockImplementation((reply, event) => {
    const isCrash = reply.via === 'process' && reply.exitCode === 126;
    return isCrash ? decoded(answers.allow()) : decode(reply, event);
  });
  const cwd = folderWith('  guard: {command: ./mark.sh, hook: tool, phases: [before_execution]}\n');
  try {
    const { code, found } = await chaosOf(cwd);
    expect({ code, found }).toEqual({
      code: 1,
      found: { cells: 14, denied: 13, open: [{ hook: 'guard', fault: 'exit_126', rule: null }], untried: [] },
    });
    const shown = await run('doctor --chaos --junit out/chaos.xml', { cwd });
    expect(shown.code).toBe(1);
    expect(shown.stdout).toMatch(/guard \(promptkit before_execution\) exits with code 126:\s+allow/);
    const xml = readFileSync(join(cwd, 'out/chaos.xml'), 'utf8');
    expect(xml).toContain('<testsuite name="guard" tests="14" failures="1"');
    expect(xml).toContain('<failure message="the hook exits with code 126, and the event passes without a');
  } finally {
    spy.mockRestore();
  }
});

test('chaos rejects a rule that no page documents [DS-CHAOS-04]', async () => {
  const trial = await foreignDialects.claude.loadTrial();
  const cell = { hook: 'guard', point: 'PreToolUse', fault: {}, trial };
  const passed = (cause: string) => ({
    verdict: 'allow' as const,
    metadata: { failed_open: { hook: 'guard', cause } },
  });
  expect(judge(passed('claude.timeout'), cell)).toEqual({ isClosed: false, rule: 'claude.timeout' });
  expect(judge(passed('claude.invented'), cell)).toEqual({ isClosed: false, rule: null });
  expect(judge({ verdict: 'allow', metadata: {} }, cell)).toEqual({ isClosed: false, rule: null });
  const native = { ...cell, trial: undefined, fault: { says: 'silence' as const } };
  expect(judge({ verdict: 'allow', metadata: {} }, native)).toEqual({ isClosed: false, rule: null });
});

test('exit code 2 is excused only where it does not deny', async () => {
  const { passesAt } = await foreignDialects.claude.loadTrial();
  expect(passesAt('PreToolUse')['exit 2']).toBeUndefined();
  expect(passesAt('PostToolBatch')['exit 2']).toBeUndefined();
  expect(passesAt('PostToolUse')['exit 2']).toBe('claude.exit_2');
});

test('docs/reference/dialects.md lists exactly the rules that a trial may name', async () => {
  const page = readFileSync(new URL('../../../docs/reference/dialects.md', import.meta.url), 'utf8');
  const documented = [
    ...page.matchAll(/^\| `((?:picoclaw|chibi|claude|agentao)\.\w+)` \| (?:the hook )?\w/gm),
  ];
  const trials = await Promise.all(
    foreignNames.map(async (name) => {
      const { failsOpenBy, passesAt } = await foreignDialects[name].loadTrial();
      const points = Object.keys(foreignDialects[name].points);
      return [...failsOpenBy, ...points.flatMap((point) => Object.values(passesAt(point)))];
    }),
  );
  const named = new Set(trials.flat());
  expect(documented.map(([, rule]) => rule).toSorted()).toEqual([...named].toSorted());
});

test.each(foreignNames)('a sample payload fits every hook point of %s', async (name) => {
  const { payloadAt } = await foreignDialects[name].loadTrial();
  const dialect = await foreignDialects[name].loadHooks();
  const hookContext = createHookContext('s');
  for (const [point, { isFilter }] of Object.entries(dialect.points)) {
    if (isFilter) expect(() => dialect.complete(point, payloadAt(point), hookContext)).not.toThrow();
  }
});

test('chaos handles a config without filters, one with errors, and none [DS-CHAOS-08]', async () => {
  const empty = folderOf({ 'runtime.yaml': config('hooks: {}\n') });
  expect(await runJson('doctor --chaos', { cwd: empty })).toMatchObject({
    code: 0,
    document: { cells: 0, denied: 0, open: [] },
  });
  const wrong = folderOf({ 'runtime.yaml': config('hooks: {a: {hook: none}}\n') });
  expect((await run('doctor --chaos', { cwd: wrong })).code).toBe(2);
  expect((await run('doctor --chaos nowhere.yaml', { cwd: wrong })).code).toBe(2);
  expect((await run('doctor --junit x.xml', { cwd: empty })).code).toBe(2);
});

const pays = 'tools: {pay: {description: d, input_schema: {type: object}, exec: {command: ./mark.sh}}}\n';

test.each([
  {
    title: 'only a glob that fits nothing',
    spec: pays,
    match: '{tools: ["pey*"]}',
    code: 1,
    state: 'unreached',
  },
  ...[
    'event.request.nmae == "pay"',
    'has(event.request.argz)',
    'event.reqeust.name == "pay"',
    'event.request["tool"] == "pay"',
    'event.response.content == ""',
  ].map((when) => ({
    title: `what no event has: ${when}`,
    spec: pays,
    match: `{when: '\${${when}}'}`,
    code: 1,
    state: 'unreached',
  })),
  ...[
    'event.request.args.amount > 3',
    'event.hook == "tool" && event.phase != "x"',
    '["pay"].exists(each, each == event.request.name)',
  ].map((when) => ({
    title: `what an event may have: ${when}`,
    spec: pays,
    match: `{when: '\${${when}}', tools: [pay]}`,
    code: 0,
    state: undefined,
  })),
  { title: 'tools of an agent', spec: '', match: '{tools: [Bash]}', code: 0, state: 'unproven' },
  { title: 'a declared tool', spec: pays, match: '{tools: [pay]}', code: 0, state: undefined },
])('a filter that receives $title is $state', async ({ spec, match, code, state }) => {
  const cwd = folderOf({
    'runtime.yaml': config(
      `${spec}hooks: {no: {command: ./mark.sh, hook: tool, phases: [before_execution], match: ${match}}}\n`,
    ),
    'mark.sh': marks,
  });
  const { stdout, ...ran } = await run('doctor --chaos --json', { cwd });
  const { untried }: { untried: { hook: string; state: string }[] } = JSON.parse(stdout);
  expect({ code: ran.code, states: untried.map((each) => each.state) }).toEqual({
    code,
    states: state === undefined ? [] : [state],
  });
});
