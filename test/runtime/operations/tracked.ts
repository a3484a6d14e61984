import type { OperationFinished, OperationStarted, RuntimeEvent } from '../../../src/index.ts';

export function startsIn(events: readonly RuntimeEvent[]): readonly OperationStarted[] {
  return events.flatMap((event) => (event.type === 'operation.started' ? [event] : []));
}

export function endsIn(events: readonly RuntimeEvent[]): readonly OperationFinished[] {
  return events.flatMap((event) => (event.type === 'operation.finished' ? [event] : []));
}

/** One line for each operation, indented below its parent: kind, name and status. Throws if one has no single end. */
export function treeOf(events: readonly RuntimeEvent[]): readonly string[] {
  const starts = startsIn(events);
  const ends = endsIn(events);
  for (const { id, name } of starts) {
    const count = ends.filter((end) => end.id === id).length;
    if (count !== 1) throw new Error(`operation ${name} has ${count} ends`);
  }
  if (ends.length !== starts.length) throw new Error('an operation ended that had not started');
  const below = (parent: string | undefined, depth: number): string[] =>
    starts
      .filter((each) => each.parent === parent)
      .flatMap(({ id, operation, name }) => {
        const { status, error } = ends.find((end) => end.id === id) ?? {};
        const suffix = error === undefined ? '' : ` ${error.code}`;
        return [`${'  '.repeat(depth)}${operation} ${name}: ${status}${suffix}`, ...below(id, depth + 1)];
      });
  return below(undefined, 0);
}
