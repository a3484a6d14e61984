import { formatCount, shorten } from '../../../base/text/phrases.ts';
import type { EvalToolCall } from '../../../contract/eval.ts';

export function listCalled(calls: readonly EvalToolCall[]): string {
  const counts = countCalls(calls);
  if (counts.size === 0) return 'no tool was called';
  const names = [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count})`));
  const rest = names.length - MAX_NAMES;
  const more = rest > 0 ? ` and ${rest} more` : '';
  return `called: ${names
    .slice(0, MAX_NAMES)
    .map((name) => shorten(name))
    .join(', ')}${more}`;
}

const MAX_NAMES = 12;

export function countCalls(calls: readonly EvalToolCall[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { name } of calls) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

export function formatCallCount(count: number): string {
  return formatCount(count, 'call');
}
