import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../src/config/load.ts';
import { answers } from '../src/contract/hook.ts';
import { createHookContext } from '../src/contract/turn.ts';
import { agentao } from '../src/dialects/agentao/dialect.ts';
import { points as chibiPoints } from '../src/dialects/chibi/points.ts';
import { fields } from '../src/dialects/claude/complete.ts';
import { eventRules } from '../src/dialects/claude/points.ts';
import { picoclawKinds } from '../src/dialects/picoclaw/config/settings.ts';
import type { FailureCause } from '../src/dialects/picoclaw/failure.ts';
import { newProject, openProject, runtimeYaml } from './dialects/project.ts';
import { readModules } from './source.ts';
import { dialects, everyMoment, hostPoints, moments, renderMoments } from './tools/moments.ts';

const page = readFileSync(new URL('../docs/reference/dialects.md', import.meta.url), 'utf8');

function rowsBelow(heading: string): string[][] {
  const section = page.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^\| `([\w.]+)` \| (\w*)/gm)].map(([, name = '', second = '']) => [
    name,
    second,
  ]);
}

test('docs/reference/dialects.md has the moments of a turn and the points that each reaches', () => {
  expect(page).toContain(`\n\n${renderMoments()}\n\n`);
  const shown = moments.flatMap(({ events }) => events.map(({ phase }) => phase));
  expect([...new Set(shown)]).toEqual(everyMoment);
});

test.each(dialects)(
  'docs/reference/dialects.md has every point of $name, and whether it is asked',
  ({ name, points }) => {
    const wanted = Object.entries(points).map(([point, { isFilter }]) => [
      point,
      isFilter ? 'asked' : 'told',
    ]);
    expect(rowsBelow(name)).toEqual(wanted);
  },
);

const protocol = (name: string) =>
  readFileSync(new URL(`../docs/reference/protocols/${name}.md`, import.meta.url), 'utf8');

test.each(dialects)('docs/reference/protocols/$name.md has every point', ({ name, points }) => {
  const text = protocol(name);
  expect(Object.keys(points).filter((point) => !new RegExp(`\\b${point}\\b`).test(text))).toEqual([]);
});

function membersIn(cell: string): string[] {
  const names = cell.replaceAll(/\([^)]*\)|\[[^\]]*\]/g, '').match(/\w+\??/g) ?? [];
  return names.flatMap((name) => (name === 'fuel?' ? ['fuel_remaining', 'fuel_total'] : [name])).toSorted();
}

test('docs/reference/protocols/claude.md has the matcher and the members of every event', () => {
  const rows = [...protocol('claude').matchAll(/^\| (\w+) \| (?:p|h|p, h) \| (\w*) ?\| ([^|]*)\|/gm)];
  const wanted = Object.entries(eventRules).map(([name, { matcher = '' }]) => {
    const members = Object.entries(fields[name] ?? {});
    return [name, matcher, members.map(([key, { isOptional }]) => (isOptional ? `${key}?` : key)).toSorted()];
  });
  expect(rows.map(([, name, matcher, cell = '']) => [name, matcher, membersIn(cell)])).toEqual(wanted);
});

test('docs/reference/protocols/chibi.md has the members of every point', () => {
  const rows = [...protocol('chibi').matchAll(/^\| \d+ \| (\w+) \| [ph] \| ([^|]*)\|/gm)];
  const wanted = Object.entries(chibiPoints).map(([name, point]) => [
    name,
    Object.keys(point.fields).toSorted(),
  ]);
  expect(rows.map(([, name, cell = '']) => [name, membersIn(cell)])).toEqual(wanted);
});

test('docs/reference/protocols/picoclaw.md has every kind of event with its number', () => {
  const rows = [...protocol('picoclaw').matchAll(/^\| (\d+) \| (\w+) \| ([\w.]+) \|/gm)];
  const wanted = picoclawKinds
    .filter(({ number }) => number !== undefined)
    .map(({ number, legacy, dotted }) => [String(number), legacy, dotted.replace(/^agent\./, '')]);
  expect(rows.map(([, number, legacy, dotted]) => [number, legacy, dotted])).toEqual(wanted);
});

/** A cause that is missing here fails to compile. */
const picoclawCauses: Readonly<Record<FailureCause, true>> = {
  timeout: true,
  rpc_error: true,
  dead: true,
  bad_result: true,
  unknown_action: true,
  no_action: true,
};

test('docs/reference/dialects.md names every rule by which a failure passes', () => {
  const written = readModules(new URL('../src/dialects', import.meta.url).pathname)
    // Config keys of a hook have the same form.
    .filter(({ file }) => !file.includes('/config/'))
    .flatMap(({ strings }) => strings)
    .filter((text) => /^(chibi|claude|agentao)\.[a-z_0-9]+$/.test(text));
  const known = [...Object.keys(picoclawCauses).map((cause) => `picoclaw.${cause}`), ...written];
  const named = rowsBelow('What fails open').map(([cause]) => cause);
  expect(named.toSorted()).toEqual([...new Set(known)].toSorted());
});

test('docs/reference/dialects.md has every member that plugin_hook_fired may have', () => {
  const section = page.split(/^## /m).find((each) => each.startsWith('plugin_hook_fired\n')) ?? '';
  const shown = [...section.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(
    ([, cell = '']) => cell.match(/\w+/g) ?? [],
  );
  const answer = answers.allow();
  const told = Object.keys(agentao.points).flatMap((point) => {
    const question = { point, payload: { data: { toolName: 'Bash' } }, hookContext: createHookContext('s') };
    return Object.keys(agentao.report?.(question, { selected: 1, answer }) ?? {});
  });
  expect(shown.toSorted()).toEqual([...new Set(told)].toSorted());
});

const plugin = `#!/bin/sh
if [ "$1" = --schema ]; then
  echo '{"name": "p", "description": "d", "parameters": {}, "hooks": ["pre_message", "pre_system_prompt", "pre_api_tools", "pre_api_request", "pre_agentic_loop", "pre_tool", "pre_shell_exec", "pre_tool_output", "post_tool_batch"]}'
else
  cat >/dev/null; echo '{}'
fi
`;

const files = {
  'yes.sh': '#!/bin/sh\ncat >/dev/null\necho \'{"allow": true}\'\n',
  'quiet.sh': '#!/bin/sh\ncat >/dev/null\n',
  'tool.sh': '#!/bin/sh\ncat >/dev/null\necho \'"done"\'\n',
  plugin,
  'runtime.yaml': runtimeYaml(`providers:
  - id: main
    type: mock
    model: scripted
    additional_config:
      responses:
        - {when: round == 1, tool_calls: [{name: sh, args: {command: ls}}]}
        - {text: bye}
tools:
  sh:
    description: d
    input_schema: {type: object}
    exec: {command: ./tool.sh}
    category: shell
hooks:
  stop: {dialect: claude, command: ./quiet.sh, claude: {event: Stop}}
  start: {dialect: claude, command: ./quiet.sh, claude: {event: SessionStart}}
  submit: {dialect: claude, command: ./quiet.sh, claude: {event: UserPromptSubmit}}
  permit:
    dialect: claude
    command: "cat >/dev/null; echo '{\\"hookSpecificOutput\\": {\\"hookEventName\\": \\"PermissionRequest\\", \\"decision\\": {\\"behavior\\": \\"allow\\"}}}'"
    claude: {event: PermissionRequest}
  native: {command: ./yes.sh, hook: provider}
  plugin: {dialect: chibi, command: ./plugin}
  pre: {dialect: claude, command: ./quiet.sh, claude: {event: PreToolUse}}
  native_tool: {command: ./yes.sh, hook: tool}`),
  'turn.pipeline.yaml': `apiVersion: signalbox/v1
kind: Pipeline
metadata: {name: turn}
spec:
  runtime: ./runtime.yaml
  steps:
    - id: a
      chat: {provider: main, messages: [{role: user, content: hi}], tools: [sh], max_rounds: 3}
`,
};

test('a run asks its hooks in the order of the page: moment by moment, in each a link by its first hook', async () => {
  const { runtime, folder, events } = await openProject(files);
  const { status } = await runtime.run(`${folder}/turn.pipeline.yaml`, {});
  const asked = events.flatMap((event) =>
    event.type === 'decision' ? [`${event.phase} ${event.hook}`] : [],
  );
  const ofRound = ['before_call native', 'after_call native'];
  expect({ status, asked }).toEqual({
    status: 'completed',
    asked: [
      'session_start start',
      'prompt submit',
      'prompt plugin',
      'system_prompt plugin',
      'tool_list plugin',
      'request plugin',
      'loop plugin',
      ...ofRound,
      'before_execution pre',
      'before_execution plugin',
      'before_execution native_tool',
      'approval plugin',
      'approval permit',
      'after_execution plugin',
      'after_execution native_tool',
      'batch plugin',
      ...ofRound,
      'stop stop',
    ],
  });
});

test('the config that docs/guides/run-hooks-of-other-systems.md shows is a valid one', () => {
  const guide = readFileSync(
    new URL('../docs/guides/run-hooks-of-other-systems.md', import.meta.url),
    'utf8',
  );
  const [, yaml = ''] = /```yaml\n([^`]*)```/.exec(guide) ?? [];
  const folder = newProject({
    'runtime.yaml': `apiVersion: signalbox/v1\nkind: RuntimeConfig\n${yaml}`,
    'review_gate.py': '',
    safety_guard: '#!/bin/sh\n',
    sh: '#!/bin/sh\n',
    '.claude/hooks/block-rm.sh': '#!/bin/sh\n',
    '.claude/settings.json': '{"hooks": {}}',
    'plugins/.keep': '',
    'hooks.json': '{}',
  });
  const { problems } = loadConfig(join(folder, 'runtime.yaml'), process.env.PATH ?? '');
  expect(yaml).toContain('imports:');
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
});

test('the page fires a point that only hosts have', () => {
  const claude = dialects.find(({ name }) => name === 'claude');
  expect(claude === undefined ? [] : hostPoints(claude)).toContain('PreCompact');
});
