import type { OperationFinished, OperationStarted, RuntimeEvent } from '../../../src/index.ts';

export function startsIn(events: readonly RuntimeEvent[]): readonly OperationStarted[] {
  return events.flatMap((event) => (event.type === 'operation.started' ? [event] : []));
}

export function endsIn(events: readonly RuntimeEvent[]): readonly OperationFinished[] {
  return events.flatMap((event) => (event.type === 'operation.finished' ? [event] : []));
}

/**
 * One line for each operation, with two spaces for each level: kind, name, status and code of the error. Throws if a
 * start has not exactly one end after it, if the two differ in what the start knew, or if a parent is unknown.
 */
export function treeOf(events: readonly RuntimeEvent[]): readonly string[] {
  const starts = startsIn(events);
  const ends = endsIn(events);
  if (ends.length !== starts.length) throw new Error(`${starts.length} starts and ${ends.length} ends`);
  for (const start of starts) {
    const own = ends.filter(({ id }) => id === start.id);
    const [end] = own;
    if (end === undefined || own.length > 1) throw new Error(`${start.name} has ${own.length} ends`);
    if (events.indexOf(end) < events.indexOf(start)) throw new Error(`${start.name} ended before its start`);
    const { type: _, ...known } = start;
    for (const [key, value] of Object.entries(known)) {
      if (Reflect.get(end, key) !== value) throw new Error(`${start.name} changed its ${key}`);
    }
    if (start.parent !== undefined && !starts.some(({ id }) => id === start.parent))
      throw new Error(`${start.name} has an unknown parent`);
  }
  return childrenOf(undefined, { starts, ends }, 0);
}

interface Tracked {
  readonly starts: readonly OperationStarted[];
  readonly ends: readonly OperationFinished[];
}

function childrenOf(parent: string | undefined, tracked: Tracked, depth: number): string[] {
  const { starts, ends } = tracked;
  return starts
    .filter((start) => start.parent === parent)
    .flatMap(({ id, operation, name }) => {
      const { status, error } = ends.find((end) => end.id === id) ?? {};
      const code = error === undefined ? '' : ` ${error.code}`;
      const line = `${'  '.repeat(depth)}${operation} ${name}: ${status}${code}`;
      return [line, ...childrenOf(id, tracked, depth + 1)];
    });
}
