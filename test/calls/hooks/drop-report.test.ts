import { expect, test } from 'vitest';
import { createDropReport } from '../../../src/calls/hooks/observer-queue.ts';
import type { RuntimeEvent } from '../../../src/contract/event.ts';

function openReport() {
  const events: RuntimeEvent[] = [];
  const report = createDropReport((event) => events.push(event), 1024);
  return {
    report,
    said: () => events.map((event) => (event.type === 'dropped' ? event.detail : event.type)),
  };
}

const behind = '1024 events are waiting already';

test('the first drops are said one by one, a flood each time it has doubled, and its end in any case', () => {
  const { report, said } = openReport();
  for (let count = 1; count <= 1_000_000; count++) report.add('audit', 'session_update');
  expect(said().slice(0, 16)).toEqual(Array(16).fill(`session_update: ${behind}`));
  const doubled = Array.from({ length: 15 }, (_, power) => `${32 * 2 ** power} events so far: ${behind}`);
  expect(said().slice(16)).toEqual(doubled);
  report.end('audit');
  report.end('audit');
  expect(said().slice(31)).toEqual(['1000000 events in all, while 1024 events were waiting already']);
});

test('every drop counts: what was said last is how many there were', () => {
  for (const length of [1, 16, 17, 31, 32, 33]) {
    const { report, said } = openReport();
    for (let count = 0; count < length; count++) report.add('audit', 'scored');
    report.end('audit');
    const last = Number(/^(\d+) events (?:so far|in all)/.exec(said().at(-1) ?? '')?.[1] ?? said().length);
    expect(last).toBe(length);
  }
});

test('hooks are counted apart, and a queue that had room again begins anew', () => {
  const { report, said } = openReport();
  for (let count = 0; count < 16; count++) report.add('one', 'a');
  report.add('two', 'b');
  report.end('one');
  report.add('one', 'a');
  expect(said().slice(16)).toEqual([`b: ${behind}`, `a: ${behind}`]);
});

test('between two doublings nothing is said', () => {
  const { report, said } = openReport();
  for (let count = 1; count <= 100; count++) report.add('audit', 'scored');
  expect(said().slice(16)).toEqual([`32 events so far: ${behind}`, `64 events so far: ${behind}`]);
});
