import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunDocument } from '../../src/contract/run.ts';
import { type Desk, openDesk, outline, pendingOf, recording, writePipeline } from './desk.ts';

const spec = `
tools:
  note: {exec: ${recording('answers', 'notes', '{"result": "noted"}')}}
  large: {exec: ${recording('answers', 'notes', `{"result": "${'x'.repeat(30_000)}"}`)}}
  ask: {approval: required, exec: ${recording('answers', 'asks', '{"result": "done"}')}}
`;

const item =
  'steps: [{id: mine, tool: note, args: {n: "${item}"}}, {id: wait, tool: ask, args: {n: "${item}"}}]';

function begun(desk: Desk): number[] {
  return desk.lines('notes').map((line) => JSON.parse(line).args.n);
}

/** Items that run at once are stored in any order. */
function waitingIn({ pending }: RunDocument): string[] {
  return pending.map(({ step }) => step).toSorted();
}

test('items one after another: none starts while the previous one waits for a person', async () => {
  const desk = await openDesk(spec);
  let run = await desk.run(`steps: [{id: loop, for_each: [1, 2, 3], ${item}}]\n`);
  for (const n of [1, 2, 3]) {
    expect(run).toMatchObject({ status: 'pending', pending: [{ step: `loop[${n - 1}]/wait/call` }] });
    expect(begun(desk)).toEqual([1, 2, 3].slice(0, n));
    expect(await desk.runtime.runs.resume(run.run_id)).toMatchObject({ pending: run.pending });
    await desk.runtime.pending.approve(pendingOf(run), { by: 'mara' });
    run = await desk.runtime.runs.resume(run.run_id);
  }
  expect(run.status).toBe('completed');
  expect(begun(desk)).toEqual([1, 2, 3]);
});

test('a process that waits does the same', async () => {
  const desk = await openDesk(spec);
  const seen: number[][] = [];
  const run = await desk.run(`steps: [{id: loop, for_each: [1, 2, 3], ${item}}]\n`, undefined, {
    wait: true,
    onPending: ({ id }) => {
      seen.push(begun(desk));
      void desk.runtime.pending.approve(id, { by: 'mara' });
    },
  });
  expect(run.status).toBe('completed');
  expect(seen).toEqual([[1], [1, 2], [1, 2, 3]]);
});

test('two items at a time: when two wait, no third starts, and a decided one frees its slot', async () => {
  const desk = await openDesk(spec);
  const loop = `{id: loop, for_each: {items: [1, 2, 3, 4], concurrency: 2}, ${item}}`;
  const paused = await desk.run(`steps: [${loop}]\n`);
  expect(waitingIn(paused)).toEqual(['loop[0]/wait/call', 'loop[1]/wait/call']);
  expect(begun(desk).toSorted()).toEqual([1, 2]);
  const second = paused.pending.find(({ step }) => step === 'loop[1]/wait/call');
  await desk.runtime.pending.approve(second?.id ?? '', { by: 'mara' });
  const next = await desk.runtime.runs.resume(paused.run_id);
  expect(waitingIn(next)).toEqual(['loop[0]/wait/call', 'loop[2]/wait/call']);
});

test('branches one after another wait one after another', async () => {
  const desk = await openDesk(spec);
  const branch = (id: string) => `{id: ${id}, tool: ask}`;
  const paused = await desk.run(
    `steps: [{id: both, concurrency: 1, parallel: [${branch('one')}, ${branch('two')}]}]\n`,
  );
  expect(paused.pending.map(({ step }) => step)).toEqual(['one/call']);
});

/** Runs the pipeline under a file size limit in blocks. Returns its exit code. */
async function runWithin(blocks: number, desk: Desk, pipeline: string): Promise<number | null> {
  const limited = ['-c', `ulimit -f ${blocks} && exec "$@"`, 'sh', process.execPath];
  const runner = join(import.meta.dirname, 'runner.ts');
  const child = spawn('sh', [...limited, runner, desk.config, writePipeline(desk.folder, pipeline)]);
  const said: string[] = [];
  child.stderr.on('data', (chunk) => said.push(String(chunk)));
  const [code] = await once(child, 'close');
  expect(said.join('')).toContain("code: 'STORE_FAILED'");
  return code;
}

test.skipIf(process.platform === 'win32').each([
  { title: 'one item at a time', more: '', underWay: 1 },
  { title: 'three items at a time', more: 'concurrency: 3, ', underWay: 3 },
])(
  'a full store suspends a loop at once, $title [DS-RUN-07]',
  async ({ more, underWay }) => {
    const desk = await openDesk(spec);
    await desk.runtime.runs.list();
    const count = 40;
    const items = JSON.stringify(Array.from({ length: count }, (_, n) => n));
    const loop = `{id: loop, for_each: ${items}, ${more}tool: large, args: {n: "\${item}"}, on_error: continue}`;
    const after = '{id: after, tool: note, args: {n: -1}}';
    expect(await runWithin(1_000, desk, `steps: [${loop}, ${after}]\n`)).not.toBe(0);
    const [{ run_id } = { run_id: '' }] = await desk.runtime.runs.list();
    const { timeline } = await desk.runtime.runs.show(run_id);
    const kept = timeline.filter(({ what, step }) => what === 'step ended' && step?.endsWith('/call'));
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThan(count - underWay);
    expect(begun(desk).length - kept.length).toBeLessThanOrEqual(underWay);
    // Only work in progress is repeated.
    const lost = begun(desk).length - kept.length;
    const end = await desk.runtime.runs.resume(run_id);
    expect(outline(end).slice(-2)).toEqual(['loop for_each ok', 'after tool ok']);
    expect(begun(desk)).toHaveLength(count + lost + 1);
  },
  60_000,
);
