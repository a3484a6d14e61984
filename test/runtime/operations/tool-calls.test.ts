import { expect, test } from 'vitest';
import { allOf } from '../../process/harness.ts';
import { open } from '../open.ts';
import { startsIn, treeOf } from './tracked.ts';

const spec = `
tools:
  echo: {exec: {command: $bin/echo-args}}
  strict: {exec: {command: $bin/echo-args}, input_schema: {type: object, required: [n]}}
  crash: {exec: {command: $bin/crash.sh}}
  asks: {exec: {command: $bin/pending.sh}}
  gated: {exec: {command: $bin/echo-args}, approval: {}}
  hangs: {exec: {command: $bin/hang.sh}}
  judged: {exec: {command: $bin/echo-args}}
  broken: {exec: {command: $bin/echo-args}}
hooks:
  deny: {command: $bin/deny.sh, hook: tool, phases: [before_execution], match: {tools: [judged]}}
  fails: {command: $bin/crash.sh, hook: tool, phases: [before_execution], match: {tools: [broken]}}
`;

test.each([
  ['echo', {}, 'ok'],
  ['strict', {}, 'failed ARGS_INVALID'],
  ['crash', {}, 'failed PROCESS_EXIT'],
  ['asks', {}, 'pending'],
  ['gated', {}, 'pending'],
  ['judged', {}, 'denied'],
  ['broken', {}, 'denied PROCESS_EXIT'],
  ['nothing', {}, 'failed NAME_UNKNOWN'],
])('a call of the tool %s starts and ends as one operation', async (name, args, end) => {
  const { runtime, events } = await open(spec);
  await runtime.tools.call(name, args).catch(() => {});
  expect(treeOf(events)).toEqual([`tool ${name}: ${end}`]);
  const [id] = startsIn(events).map((start) => start.id);
  const parts = [
    ...allOf(events, 'decision'),
    ...allOf(events, 'call.started'),
    ...allOf(events, 'call.finished'),
  ];
  expect(parts.map(({ operation }) => operation)).toEqual(parts.map(() => id));
});
