import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { importPlugins, schemaOf, shPlugin } from './chibi/plugins.ts';
import { project, runTurn } from './chibi/turns.ts';
import { openProject, runtimeYaml } from './project.ts';

const root = '"$CHIBI_PROJECT_ROOT"';

test('a chibi hook without a result finishes before the next point of the turn [CH-9-01@oneshot]', async () => {
  const told = ['on_start', 'post_tool_output', 'post_tool', 'post_message'];
  const slow = shPlugin(
    schemaOf('slow', told),
    `cat > /dev/null; sleep 0.2; echo "$CHIBI_HOOK" >> ${root}/done`,
  );
  const sees = ['pre_message', 'pre_agentic_loop', 'post_tool_batch'];
  const see = shPlugin(
    schemaOf('see', sees),
    `cat > /dev/null; echo "$CHIBI_HOOK: $(tr '\\n' ' ' < ${root}/done 2>/dev/null)" >> ${root}/noted; echo '{}'`,
  );
  const { folder, run } = await runTurn(
    project(
      { slow, see },
      {
        responses: [
          '{text: "", tool_calls: [{name: shell, args: {command: ls}}], when: "round == 1"}',
          '{text: done}',
        ],
      },
    ),
  );
  expect(run.status).toBe('completed');
  const read = (name: string) => readFileSync(join(folder, name), 'utf8').trim().split('\n');
  expect(read('noted').map((line) => line.trim())).toEqual([
    'pre_message: on_start',
    'pre_agentic_loop: on_start',
    'post_tool_batch: on_start post_tool_output post_tool',
  ]);
  expect(read('done')).toEqual(told);
});

const points = ['pre_clear', 'pre_compact', 'pre_rolling_compact', 'post_index_file'] as const;
const payloads = {
  pre_clear: { message_count: 1 },
  pre_compact: { message_count: 1 },
  pre_rolling_compact: { message_count: 2, non_system_count: 1 },
  post_index_file: { path: '/x', lang: 'ts', symbol_count: 1, ref_count: 0 },
};

test.each(points)('a host that fires chibi %s continues when the hook has ended', async (point) => {
  const slow = shPlugin(schemaOf('slow', [point]), `cat > /dev/null; sleep 0.2; touch ${root}/done`);
  const { runtime, folder } = await openProject({
    'runtime.yaml': runtimeYaml(importPlugins),
    'plugins/slow': slow,
  });
  const decision = await runtime.hooks.fire({ dialect: 'chibi', point, payload: payloads[point] });
  expect([decision.verdict, existsSync(join(folder, 'done'))]).toEqual(['allow', true]);
});

test('a host that fires Agentao’s PreCompact compacts when its rules have run, one after another', async () => {
  const { runtime, folder } = await openProject({
    'runtime.yaml': runtimeYaml(
      [
        'hooks:',
        '  one: {dialect: agentao, command: "sleep 0.2; echo one >> done", agentao: {event: PreCompact}}',
        '  two: {dialect: agentao, command: "echo two >> done; exit 1", agentao: {event: PreCompact}}',
      ].join('\n'),
    ),
  });
  const payload = { trigger: 'auto', compaction_type: 'full', reason: 'compression_threshold' };
  const decision = await runtime.hooks.fire({ dialect: 'agentao', point: 'PreCompact', payload });
  expect([decision.verdict, readFileSync(join(folder, 'done'), 'utf8')]).toEqual(['allow', 'one\ntwo\n']);
});

test('a host that aborts waits no longer, and the hook still receives the event', async () => {
  const slow = shPlugin(schemaOf('slow', ['pre_clear']), `cat > /dev/null; sleep 0.5; touch ${root}/done`);
  const { runtime, folder } = await openProject({
    'runtime.yaml': runtimeYaml(importPlugins),
    'plugins/slow': slow,
  });
  const event = { dialect: 'chibi', point: 'pre_clear', payload: payloads.pre_clear };
  const decision = await runtime.hooks.fire(event, { signal: AbortSignal.abort() });
  expect([decision.verdict, existsSync(join(folder, 'done'))]).toEqual(['allow', false]);
  await runtime.close();
  expect(existsSync(join(folder, 'done'))).toBe(true);
});
