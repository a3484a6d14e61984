import { expect, test } from 'vitest';
import { processClass } from './ending.ts';
import { fixture } from './entry.ts';
import type { Fault } from './fault.ts';
import { misbehaving } from './faults/misbehaving.ts';
import { runMatrix } from './run-matrix.ts';
import { tallyOf } from './tally.ts';
import { listTargets } from './targets.ts';

const crash = processClass({ by: 'exit' });
const hang = processClass({ by: 'hang' });

async function run(id: string, fault: Fault, options: { readonly hungMs?: number } = {}) {
  const target = listTargets().find((each) => each.id === id);
  if (target === undefined) throw new Error(`there is no target ${id}`);
  const matrix = await runMatrix([{ fault, target }], { settleMs: 1_000, ...options });
  return {
    word: matrix.results[0]?.word,
    problems: tallyOf(matrix).problems.map((each) => each.split(' ')[0]),
  };
}

test.each([
  'filter before_call promptkit oneshot native',
  'filter pre_tool chibi on_failure: deny oneshot native',
])('a filter that allows what its rule denies is reported as open: %s', async (id) => {
  const open = misbehaving('self', 'says allow, as if a broken decoder had', {
    deed: ['after', 'exit', '0'],
    class: crash,
  });
  expect(await run(id, open)).toEqual({ word: 'OPEN', problems: ['OPEN'] });
});

test('a foreign filter that passes without naming its rule is reported as open', async () => {
  const open = misbehaving('self', 'says nothing', { deed: ['asked', 'exit', '0'], class: crash });
  const id = 'filter PreToolUse claude oneshot portable';
  expect(await run(id, open)).toEqual({ word: 'OPEN', problems: ['OPEN'] });
});

test('a call that does not end within its time is reported as hung', async () => {
  const slow = misbehaving('self', 'takes two seconds', { deed: ['asked', 'late', '2'], class: hang });
  const { word, problems } = await run('tool promptkit oneshot native', slow, { hungMs: 300 });
  expect(word).toBe('HUNG');
  expect(problems[0]).toBe('HUNG');
});

test('a leftover process is reported, and ended', async () => {
  // Answers once the daemon has a session of its own.
  const daemon = `setsid sh -c 'echo > up; exec sleep 60' >/dev/null 2>&1 </dev/null &`;
  const args = ['-c', `${daemon} while [ ! -e up ]; do sleep 0.05; done; echo "$REPLY"`];
  const leak: Fault = {
    id: 'leaves a daemon',
    area: 'self',
    class: { name: 'none', means: () => ({ kind: 'well' }) },
    child: () => ({ command: 'sh', args }),
  };
  expect(await run('tool promptkit oneshot native', leak)).toEqual({ word: 'answered', problems: ['left'] });
});

test('a wrong code is reported as wrong', async () => {
  const wrong: Fault = {
    id: 'hangs',
    area: 'self',
    class: hang,
    child: () => ({ command: fixture('crash.sh') }),
  };
  expect(await run('eval promptkit oneshot portable', wrong)).toMatchObject({ word: 'WRONG' });
});
