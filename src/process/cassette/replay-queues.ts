import type { ByteRange } from './lines.ts';

export interface FoundExchange {
  readonly range: ByteRange;
  /** A SHA-256 in hexadecimal. */
  readonly key: string;
  /** The id of the recorder and the number of the exchange there. Exchanges overlap and end in another order. */
  readonly recorder: string;
  readonly number: number;
  readonly group: string;
}

export interface ReplayQueues {
  add(found: FoundExchange): void;
  /** Returns the next exchange of that key, in the order in which they began. Each is returned once. */
  take(key: string): ByteRange | undefined;
  count(key: string): number;
  group(name: string): { readonly count: number; readonly first: readonly ByteRange[] };
}

export function createReplayQueues(maxFirst: number): ReplayQueues {
  const offsets = createOffsetTable();
  const queues = new Map<string, Queue>();
  const groups = new Map<string, { count: number; readonly first: ByteRange[] }>();
  const order = createOrder();
  return {
    add: (found) => {
      const position = offsets.add(found.range);
      order.add(position, found);
      const queue = queues.get(shortDigest(found.key));
      if (queue === undefined) queues.set(shortDigest(found.key), { positions: [position], takenCount: 0 });
      else queue.positions.push(position);
      const group = groups.get(found.group) ?? { count: 0, first: [] };
      groups.set(found.group, group);
      group.count += 1;
      if (group.first.length < maxFirst) group.first.push(found.range);
    },
    take: (key) => {
      order.sort(queues.values());
      const queue = queues.get(shortDigest(key));
      const next = queue?.positions[queue.takenCount];
      if (queue === undefined || next === undefined) return undefined;
      queue.takenCount += 1;
      return offsets.get(next);
    },
    count: (key) => queues.get(shortDigest(key))?.positions.length ?? 0,
    group: (name) => groups.get(name) ?? { count: 0, first: [] },
  };
}

interface Queue {
  readonly positions: number[];
  takenCount: number;
}

function createOrder() {
  const recorders = new Map<string, number>();
  const starts = new Map<number, readonly [recorder: number, number: number]>();
  const byStart = (one: number, other: number) => {
    const [firstRecorder, first] = starts.get(one) ?? [0, 0];
    const [secondRecorder, second] = starts.get(other) ?? [0, 0];
    return firstRecorder - secondRecorder || first - second;
  };
  return {
    add: (position: number, { recorder, number }: FoundExchange) => {
      const rank = recorders.get(recorder) ?? recorders.size;
      recorders.set(recorder, rank);
      starts.set(position, [rank, number]);
    },
    sort: (queues: Iterable<Queue>) => {
      if (starts.size === 0) return;
      for (const { positions } of queues) positions.sort(byStart);
      starts.clear();
    },
  };
}

interface OffsetTable {
  add(place: ByteRange): number;
  get(number: number): ByteRange;
}

export function createOffsetTable(): OffsetTable {
  let offsets = new Float64Array(INITIAL_CAPACITY);
  let lengths = new Float64Array(INITIAL_CAPACITY);
  let count = 0;
  return {
    add: ({ offset, length }) => {
      if (count === offsets.length) {
        offsets = doubled(offsets);
        lengths = doubled(lengths);
      }
      offsets[count] = offset;
      lengths[count] = length;
      count += 1;
      return count - 1;
    },
    get: (number) => ({ offset: offsets[number] ?? 0, length: lengths[number] ?? 0 }),
  };
}

const INITIAL_CAPACITY = 64;

function doubled(numbers: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(2 * numbers.length);
  larger.set(numbers);
  return larger;
}

/** The first 16 bytes of a SHA-256 as Latin-1: unique within one file, at a quarter of the size. */
export function shortDigest(digest: string): string {
  return Buffer.from(digest, 'hex').toString('latin1', 0, 16);
}
