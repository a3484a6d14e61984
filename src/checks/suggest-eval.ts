import { findNearest } from '../yaml/suggest.ts';
import { checkTypes } from './registry.ts';

/** A hint for the type of an eval that is neither declared nor built in. */
export function suggestEval(type: string, declared: readonly string[]): string {
  const nearest = findNearest(type, [...declared, ...checkTypes()]);
  if (nearest !== undefined) return `did you mean \`${nearest}\`?`;
  const known = declared.length === 0 ? '' : `declared evals: ${declared.join(', ')}; `;
  return `${known}docs/checks.md lists those that are built in`;
}
