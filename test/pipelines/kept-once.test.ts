import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Desk, openDesk } from './desk.ts';

const long = (before: string, after: string) =>
  `{command: /bin/sh, args: [-c, 'cat >/dev/null; printf ''%s'' ''{"result": ${before}"longmarker''; head -c 100000 /dev/zero | tr ''\\0'' x; printf ''%s'' ''"${after}}''']}`;

const spec = `
tools:
  object: {exec: ${long('{"text": ', '}')}}
  string: {exec: ${long('', '')}}
  note: {approval: required, exec: ${long('{"text": ', '}')}}
  lean: {exec: {command: /bin/sh, args: [-c, 'cat >/dev/null; echo {\\"result\\":1}']}}
providers:
  - id: main
    type: mock
    model: scripted
    additional_config:
      responses:
        - {when: round == 1, tool_calls: [{name: string}]}
        - {when: round == 2, tool_calls: [{name: lean}]}
        - {when: round == 3, text: done}
`;

async function countIn({ folder, runtime }: Desk): Promise<number> {
  await runtime.close();
  return readFileSync(join(folder, '.signalbox/state.db'), 'latin1').split('longmarker').length - 1;
}

test.each([
  ['of a step', 1, 'steps: [{id: a, tool: object}]\noutput: {all: "${steps.a.result}"}'],
  ['that is a string', 1, 'steps: [{id: a, tool: string}]\noutput: "${steps.a.result}"'],
  ['of a step in a group', 1, 'steps: [{id: g, steps: [{id: a, tool: object}]}]\noutput: "${steps.a}"'],
  [
    'of each turn of a loop',
    1,
    'steps: [{id: l, for_each: [1, 2, 3], tool: object}]\noutput: "${steps.l.items.map(i, i.result)}"',
  ],
  [
    'of steps in a loop',
    1,
    'steps: [{id: l, for_each: [1, 2], steps: [{id: a, tool: string}]}]\noutput: "${steps.l}"',
  ],
  [
    'that the model reads in several rounds',
    1,
    'steps: [{id: c, chat: {provider: main, messages: Hi., tools: [string, lean]}}]',
  ],
])('a long result %s is stored once', async (_title, count, pipeline) => {
  const desk = await openDesk(spec);
  const document = await desk.run(pipeline);
  expect(document.status).toBe('completed');
  const shown = JSON.stringify(document.output).split('longmarker').length - 1;
  expect(shown).toBeGreaterThanOrEqual(count);
  const details = await desk.runtime.runs.show(document.run_id);
  expect(details.output).toEqual(document.output);
  expect(await countIn(desk)).toBe(count);
});

test('a run that waits after long results continues with them in another process', async () => {
  const desk = await openDesk(spec);
  const waiting = await desk.run(
    'steps:\n  - {id: a, tool: object}\n  - {id: b, tool: note, args: {n: 1}}\noutput: ["${steps.a.result.text.size()}", "${steps.b.result.text.size()}"]',
  );
  expect(waiting.status).toBe('pending');
  const later = await desk.reopen();
  await later.runtime.pending.approve(waiting.pending[0]?.id ?? '', { by: 'mara' });
  const done = await later.runtime.runs.resume(waiting.run_id);
  expect(done).toMatchObject({ status: 'completed', output: [100_010, 100_010] });
  expect(await countIn(later)).toBe(1);
});
