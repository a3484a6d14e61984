import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chatYaml, mockProvider, openProject, runtimeYaml } from './project.ts';

/** Forces the turn to continue up to so many times, and logs `stop_hook_active`. */
const forces = (text: string, times = 99) =>
  `#!/bin/sh\n{ sed 's/.*"stop_hook_active": *\\([a-z]*\\).*/\\1/'; echo; } | grep . >> ${text}.seen\n[ $(grep -c . ${text}.seen) -gt ${times} ] && exit 0\necho ${text} >&2\nexit 2\n`;

async function runForced(
  hooks: string,
  { chat = 'max_rounds: 20', claude = forces('claude'), agentao = forces('agentao') } = {},
) {
  const opened = await openProject({
    'runtime.yaml': runtimeYaml(
      `state_store: {type: memory}\n${mockProvider('{repeat: true, text: "answer"}')}hooks:\n${hooks}`,
    ),
    'agent.pipeline.yaml': chatYaml(chat),
    'claude.sh': claude,
    'agentao.sh': agentao,
  });
  const run = await opened.runtime.run(join(opened.folder, 'agent.pipeline.yaml'), { text: 'hi' });
  const { messages } = JSON.parse(JSON.stringify(run.output));
  const said = messages.filter(({ role }: { role: string }) => role === 'user').slice(1);
  const notes = opened.events.flatMap((event) =>
    event.type === 'note' && event.level === 'warn' ? [[event.name, event.message] as const] : [],
  );
  return {
    run,
    notes,
    forced: said.map(({ content }: { content: string }) => content),
    seen: (name: string) =>
      readFileSync(join(opened.folder, `${name}.seen`), 'utf8')
        .trim()
        .split('\n'),
  };
}

const claude = '  c: {dialect: claude, command: ./claude.sh, claude: {event: Stop, stop_cap: 2}}';
const agentao = '  a: {dialect: agentao, command: ./agentao.sh, agentao: {event: Stop, stop_reentry_cap: 3}}';
const reminded = '<system-reminder>Stop hook injected this</system-reminder>\nagentao';

test('two systems that force at one Stop are both read, each with its own cap', async () => {
  const { run, forced, notes, seen } = await runForced([claude, agentao].join('\n'));
  expect(run).toMatchObject({ status: 'completed', output: { text: 'answer' } });
  const both = `claude\n\n${reminded}`;
  // Claude counts consecutive forces only, so an overridden one resets its count.
  expect(forced).toEqual([both, both, reminded, 'claude', 'claude']);
  expect(seen('claude')).toEqual(['false', 'true', 'true', 'false', 'true', 'true']);
  expect(seen('agentao')).toEqual(['false', 'true', 'true', 'true', 'true', 'true']);
  expect(notes.map(([name, message]) => [name, /\d+ times/.exec(message)?.[0]])).toEqual([
    ['c', '2 times'],
    ['a', '3 times'],
    ['a', '3 times'],
    ['c', '2 times'],
    ['a', '3 times'],
  ]);
});

test('a system whose hook forced nothing does not receive that it did', async () => {
  const { seen, forced } = await runForced([claude, agentao].join('\n'), {
    claude: forces('claude', 0),
    agentao: forces('agentao', 1),
  });
  expect([forced, seen('claude'), seen('agentao')]).toEqual([
    [reminded],
    ['false', 'false'],
    ['false', 'true'],
  ]);
});

test('a forced turn that the round limit drops is reported with the hook’s name', async () => {
  const { run, forced, notes } = await runForced(agentao, { chat: 'max_rounds: 1' });
  expect([run.status, forced]).toEqual(['completed', [reminded]]);
  expect(notes).toEqual([['a', expect.stringContaining('no round is left')]]);
});
