import { expect, test } from 'vitest';
import { rule, runTurn, say, script } from './turn.ts';

const rows = [
  {
    title: 'continue: false at its start stops nothing',
    body: say({ continue: false, stopReason: 'closed' }),
    means: ['ok', 1, undefined, undefined, 'hello'],
  },
  {
    title: 'a blocking error at its start stops nothing',
    body: say({ blockingError: 'closed' }),
    means: ['ok', 1, undefined, undefined, 'hello'],
  },
  {
    title: 'an unknown word at its start stops nothing',
    body: say({ decision: 'never' }),
    means: ['ok', 1, undefined, undefined, 'hello'],
  },
  {
    title: 'plain text at the start of a session is not for the model',
    body: 'echo not for the model',
    means: ['ok', 1, undefined, undefined, 'hello'],
  },
  {
    title: 'a start that fails has nothing to deny',
    body: 'exit 1',
    means: ['ok', 1, undefined, undefined, 'hello'],
  },
];

test.each(rows)('$title [AO-3-04@oneshot AO-7-44@oneshot AO-7-34@oneshot]', async ({ body, means }) => {
  const { view } = await runTurn({
    hooks: rule('start', 'SessionStart'),
    responses: ['{text: "${messages[0].content}"}'],
    scripts: { 'start.sh': script(body) },
  });
  expect([view.status, view.rounds, view.hook, view.reason, view.text]).toEqual(means);
});

test('an answer to the end of a session changes nothing, and a failure is reported [AO-7-30@oneshot]', async () => {
  const { run, warnings } = await runTurn({
    hooks: rule('end', 'SessionEnd', ', on_failure: deny'),
    responses: ['{text: end}'],
    scripts: { 'end.sh': '#!/bin/sh\nexit 2\n' },
  });
  expect(run.status).toBe('completed');
  await expect.poll(warnings).toContainEqual(expect.stringContaining('agentao.exit_nonzero'));
});
