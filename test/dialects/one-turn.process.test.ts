import { cpSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openRuntime, type RuntimeEvent } from '../../src/index.ts';

const root = join(import.meta.dirname, '../..');

async function openExample() {
  const home = mkdtempSync(join(tmpdir(), 'dialects-'));
  const folder = join(home, 'examples/four-dialects');
  cpSync(join(root, 'examples/four-dialects'), folder, {
    recursive: true,
    filter: (path) => !path.includes('.signalbox'),
  });
  symlinkSync(join(root, 'src'), join(home, 'src'));
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'));
  const events: RuntimeEvent[] = [];
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), {
    log: false,
    onEvent: (event) => events.push(event),
  });
  onTestFinished(() => runtime.close());
  return { runtime, folder, events };
}

test('hooks of four systems act on one turn, each in its place', async () => {
  const { runtime, folder, events } = await openExample();
  const run = await runtime.run(join(folder, 'agent.pipeline.yaml'), {
    task: 'Tidy up, and tell jane.doe@example.com.',
  });
  const denied = (hook: string, why: string) => `Tool "shell" was blocked by hook "${hook}": ${why}`;
  expect(run).toMatchObject({
    status: 'completed',
    output: {
      text: 'There are two reports; I have mailed them to [EMAIL_ADDRESS].',
      calls: [
        { name: 'shell', status: 'ok', result: 'ran: ls reports' },
        { status: 'denied', result: denied('PreToolUse-1', 'rm -rf is not allowed here') },
        { status: 'denied', result: denied('review_gate', 'nothing leaves this machine') },
      ],
    },
  });
  const verdicts = (about: (event: Extract<RuntimeEvent, { type: 'decision' }>) => boolean) =>
    events.flatMap((event) =>
      event.type === 'decision' && about(event)
        ? [`${event.dialect} ${event.hook} ${event.point ?? event.phase}: ${event.verdict}`]
        : [],
    );
  expect(verdicts(({ kind }) => kind !== 'tool')).toEqual([
    'chibi house_rules post_system_prompt: modify',
    'promptkit pii before_call: modify',
    'promptkit pii after_call: allow',
    'promptkit pii before_call: modify',
    'promptkit pii after_call: modify',
  ]);
  const ofCall = (position: number) => verdicts(({ call }) => call.endsWith(`/call-${position}`));
  expect([1, 2, 3].map(ofCall)).toEqual([
    ['claude PreToolUse-1 PreToolUse: allow', 'picoclaw review_gate approve_tool: allow'],
    ['claude PreToolUse-1 PreToolUse: deny'],
    ['claude PreToolUse-1 PreToolUse: allow', 'picoclaw review_gate approve_tool: deny'],
  ]);
});
