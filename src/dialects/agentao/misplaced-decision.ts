import type { Answer } from '../../contract/hook.ts';
import { type Body, nonNull, objectAt } from '../body.ts';
import type { Note } from '../dialect.ts';

const camel = 'permissionDecision';
const snake = 'permission_decision';

/** A warning about a permission decision under a key or at a point where it has no effect. */
export function noteMisplacedDecision(point: string, body: Body, { verdict }: Answer): readonly Note[] {
  if (verdict === 'deny' || verdict === 'abort') return [];
  const key = findMisplacedKey(point, body);
  if (key === undefined) return [];
  const right =
    point === 'PreToolUse'
      ? 'write `{"hookSpecificOutput": {"permissionDecision": …}}`'
      : `${point} knows no permission, what denies there is \`{"blockingError": …}\``;
  return [{ level: 'warn', message: `its \`${key}\` has no effect: ${right}` }];
}

function findMisplacedKey(point: string, body: Body): string | undefined {
  const read = point === 'PreToolUse' ? [snake] : [camel, snake];
  const places: readonly (readonly [container: string | undefined, keys: readonly string[]])[] = [
    [undefined, [camel, snake]],
    ['hook_specific_output', [camel, snake]],
    ['hookSpecificOutput', read],
  ];
  for (const [container, keys] of places) {
    const members = container === undefined ? body : objectAt(body, container);
    const key = keys.find((each) => nonNull(members?.get(each)) !== undefined);
    if (key !== undefined) return container === undefined ? key : `${container}.${key}`;
  }
  return undefined;
}
