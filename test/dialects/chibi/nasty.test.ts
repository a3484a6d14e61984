import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRuntime, type Runtime, type RuntimeEvent } from '../../../src/index.ts';
import { titled } from '../../cite.ts';
import { newProject, runtimeYaml } from '../project.ts';
import { bashPlugin, inFolder, schemaOf, shPlugin } from './plugins.ts';

const big = 'x'.repeat(1024 * 1024);

/** One plugin for each point, each with a fault seen in real plugins. */
const plugins = {
  opens_stdin: bashPlugin(
    schemaOf('opens_stdin', ['pre_tool']),
    'cat < /dev/stdin | grep -q forbidden && echo \'{"block": true, "message": "seen on /dev/stdin"}\' || echo "{}"',
  ),
  writes_stderr: shPlugin(
    schemaOf('writes_stderr', ['pre_tool_output']),
    'echo "cannot reach the server" > /dev/stderr\nexit 2',
  ),
  reads_nothing: shPlugin(schemaOf('reads_nothing', ['pre_cache_output']), 'echo \'{"summary": "short"}\''),
  leaves_child: shPlugin(
    schemaOf('leaves_child', ['pre_message']),
    'cat > /dev/null\n(sleep 4; echo late) &\necho \'{"prompt": "mine"}\'',
  ),
  prints_banner: shPlugin(
    schemaOf('prints_banner', ['pre_spawn_agent']),
    'cat > /dev/null\necho "guard 1.0 starting"\necho \'{"block": true}\'',
  ),
};

const call = { tool_name: 'x', arguments: { a: 'forbidden' } };
const at = {
  opens_stdin: ['pre_tool', call],
  writes_stderr: ['pre_tool_output', { ...call, output: 'o' }],
  reads_nothing: ['pre_cache_output', { ...call, content: big }],
  leaves_child: ['pre_message', { prompt: 'hi' }],
  prints_banner: ['pre_spawn_agent', { system_prompt: '', input: 'i' }],
} as const;

const failedOpen = (hook: string, cause: string) => ({
  verdict: 'allow',
  metadata: { failed_open: { hook, cause } },
});
const failedClosed = (hook: string, cause: string) => ({
  verdict: 'deny',
  hook,
  metadata: { failed_closed: { hook, cause } },
});

const rows = [
  {
    title: 'one that opens /dev/stdin reads it',
    cites: 'CH-3-08@oneshot',
    who: 'opens_stdin',
    own: { verdict: 'deny', reason: 'seen on /dev/stdin' },
    closed: { verdict: 'deny', reason: 'seen on /dev/stdin' },
  },
  {
    title: 'one that writes to /dev/stderr and exits 2 passes, unless that is closed',
    cites: 'CH-4-05@oneshot CH-4-13@oneshot CH-4-12@oneshot',
    who: 'writes_stderr',
    own: failedOpen('writes_stderr', 'chibi.exit_nonzero'),
    closed: {
      ...failedClosed('writes_stderr', 'chibi.exit_nonzero'),
      reason: 'hook "writes_stderr" exited with code 2',
    },
  },
  {
    title: 'one that reads nothing of a mebibyte is heard',
    cites: 'CH-5-08@oneshot',
    who: 'reads_nothing',
    own: { verdict: 'modify', replace: { summary: 'short' } },
    closed: { verdict: 'modify', replace: { summary: 'short' } },
  },
  {
    title: 'one that leaves a child on its stdout delays nothing',
    cites: 'CH-5-07@oneshot',
    who: 'leaves_child',
    own: { verdict: 'modify', replace: { prompt: 'mine' } },
    closed: { verdict: 'modify', replace: { prompt: 'mine' } },
  },
  {
    title: 'one that prints a banner first says nothing, unless that is closed',
    cites: 'CH-4-08@oneshot CH-4-12@oneshot CH-4-13@oneshot',
    who: 'prints_banner',
    own: failedOpen('prints_banner', 'chibi.not_json'),
    closed: failedClosed('prints_banner', 'chibi.not_json'),
  },
] as const;

describe.each([{ onFailure: 'own' }, { onFailure: 'closed' }] as const)(
  'with failures $onFailure',
  (where) => {
    let runtime: Runtime;
    const events: RuntimeEvent[] = [];
    beforeAll(async () => {
      const close = where.onFailure === 'closed' ? ', on_failure: deny' : '';
      const folder = newProject({
        'runtime.yaml': runtimeYaml(`imports: [{dialect: chibi, plugins_dir: plugins${close}}]`),
        ...inFolder(plugins),
      });
      const onEvent = (event: RuntimeEvent) => events.push(event);
      runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false, onEvent });
    });
    afterAll(() => runtime.close());

    test.each(titled(rows))('$title', async ({ who, ...row }) => {
      const [point, payload] = at[who];
      const startedAt = performance.now();
      const decision = await runtime.hooks.fire({ dialect: 'chibi', point, payload }, { wholeFaults: true });
      expect(decision).toMatchObject(row[where.onFailure]);
      expect(performance.now() - startedAt).toBeLessThan(3_500);
    });
  },
);

test('a failure that kept a guard from answering is a warning with the rule and the output [CH-4-12@oneshot]', async () => {
  const folder = newProject({
    'runtime.yaml': runtimeYaml('imports: [{dialect: chibi, plugins_dir: plugins}]'),
    ...inFolder({ writes_stderr: plugins.writes_stderr }),
  });
  const events: RuntimeEvent[] = [];
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), {
    log: false,
    onEvent: (event) => events.push(event),
  });
  const [point, payload] = at.writes_stderr;
  await runtime.hooks.fire({ dialect: 'chibi', point, payload }, { wholeFaults: true });
  await runtime.close();
  const notes = events.flatMap((event) =>
    event.type === 'note' && event.name === 'writes_stderr'
      ? [`${event.level} ${event.name}: ${event.message}`]
      : [],
  );
  expect(notes).toEqual([
    'warn writes_stderr: it exited with code 2, and the event passes by the rule chibi.exit_nonzero; `on_failure: deny` would stop it',
  ]);
  expect(events.filter(({ type }) => type === 'stderr')).toMatchObject([{ line: 'cannot reach the server' }]);
});
