import fc from 'fast-check';
import { expect, test } from 'vitest';
import { collect, InFlightBytes } from '../../src/process/in-flight-bytes.ts';
import type { OutputListener } from '../../src/process/launch/launch.ts';
import { inRoom, takeRoom } from '../../src/process/pool.ts';

function runIn(room: InFlightBytes, bytes: number, work: () => Promise<unknown>, signal?: AbortSignal) {
  return inRoom(room, work, { message: { body: 'x'.repeat(bytes) }, name: 'demo', signal });
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

function held() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { work: () => promise, end: resolve };
}

test('requests start in order, and a short one does not overtake a long one', async () => {
  const room = new InFlightBytes(10);
  const begun: string[] = [];
  const first = held();
  const run = (title: string, bytes: number, work = async () => {}) =>
    runIn(room, bytes, () => {
      begun.push(title);
      return work();
    });
  const all = [run('first', 6, first.work), run('long', 9), run('short', 1)];
  await turn();
  expect(begun).toEqual(['first']);
  expect(takeRoom(room, 1)).toBe(false);
  first.end();
  await Promise.all(all);
  expect(begun).toEqual(['first', 'long', 'short']);
});

test('a request larger than the limit runs alone', async () => {
  const room = new InFlightBytes(10);
  const [large, other] = [held(), held()];
  const runs = [runIn(room, 100, large.work), runIn(room, 1, other.work)];
  await turn();
  expect(room.most).toBe(100);
  large.end();
  other.end();
  await Promise.all(runs);
  expect(takeRoom(room, 10)).toBe(true);
});

test('an aborted request leaves the queue to the next ones', async () => {
  const room = new InFlightBytes(10);
  const first = held();
  const leaving = new AbortController();
  const runs = [
    runIn(room, 8, first.work),
    runIn(room, 9, async () => 'never', leaving.signal),
    runIn(room, 2, async () => 'short'),
  ];
  leaving.abort();
  await expect(runs[1]).rejects.toMatchObject({ code: 'ABORTED' });
  expect(await runs[2]).toBe('short');
  await expect(runIn(room, 9, async () => 'never', leaving.signal)).rejects.toMatchObject({
    code: 'ABORTED',
  });
  first.end();
  await runs[0];
  expect(takeRoom(room, 10)).toBe(true);
});

test('the oldest output is always read, and others while there is room', () => {
  const room = new InFlightBytes(100);
  const reading = new Set<string>();
  const open = (name: string) => {
    let listener: OutputListener | undefined;
    reading.add(name);
    const output = {
      ...{ isClosed: false, stream: () => expect.unreachable(), destroy: () => {}, keepAlive: () => {} },
      listen: (given: OutputListener) => {
        listener = given;
      },
      pause: () => reading.delete(name),
      resume: () => reading.add(name),
    };
    const { release } = collect(output, { maxBytes: 40, inFlight: room });
    return { add: (bytes: number) => listener?.onData(Buffer.alloc(bytes)), end: release };
  };
  const [one, two, three] = [open('one'), open('two'), open('three')];
  one.add(20);
  two.add(39);
  expect([...reading]).toEqual(['one', 'two', 'three']);
  three.add(5);
  one.add(20);
  two.add(1);
  expect([...reading]).toEqual(['one']);
  one.end();
  expect([...reading]).toEqual(['one', 'two', 'three']);
  two.end();
  three.end();
  expect(takeRoom(room, 100)).toBe(true);
});

test('in any sequence every request ends, and only a single one ever exceeds the limit', async () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(sizes, async (all) => {
      const room = new InFlightBytes(20);
      let taken = 0;
      let count = 0;
      const run = (bytes: number) =>
        runIn(room, bytes, async () => {
          taken += bytes;
          count += 1;
          expect(taken <= 20 || count === 1).toBe(true);
          await turn();
          taken -= bytes;
          count -= 1;
          return bytes;
        });
      expect(await Promise.all(all.map(run))).toEqual(all);
    }),
    { numRuns: 30 },
  );
});
