import type { Answer } from '../../contract/hook.ts';
import { type Body, objectAt } from '../body.ts';
import type { Note } from '../dialect.ts';
import type { HookQuestion } from './hook-question.ts';
import type { EventRule } from './points.ts';
import type { ReplyObject } from './reply-object.ts';

/** A warning about a `permissionDecision` under a key or at an event where it has no effect. */
export function noteMisplacedDecision(
  { rule, question: { point } }: HookQuestion,
  { body, specific }: ReplyObject,
  { verdict }: Answer,
): readonly Note[] {
  if (rule.isObserveOnly || verdict === 'deny' || verdict === 'abort') return [];
  const isRead = rule.verdict === 'permissionDecision';
  const places: readonly (readonly [prefix: string, body: Body | undefined])[] = [
    ['', body],
    ['hook_specific_output.', objectAt(body, 'hook_specific_output')],
    ['hookSpecificOutput.', isRead ? undefined : specific],
  ];
  const misplaced = places.find(([, members]) => members?.get('permissionDecision') !== undefined);
  if (misplaced === undefined) return [];
  const message = `its \`${misplaced[0]}permissionDecision\` has no effect: ${rightKey(point, rule)}`;
  return [{ level: 'warn', message }];
}

function rightKey(point: string, { block, takesDecision, verdict }: EventRule): string {
  switch (verdict) {
    case 'permissionDecision':
      return `write \`{"hookSpecificOutput": {"hookEventName": "${point}", "permissionDecision": …}}\``;
    case 'decision':
      return `${point} reads \`hookSpecificOutput.decision.behavior\``;
    case 'action':
      return `${point} reads \`hookSpecificOutput.action\``;
    default:
      if (takesDecision) return `${point} reads \`{"decision": "block", "reason": …}\``;
      return block === 'none' ? `${point} blocks nothing` : `what blocks ${point} is exit code 2`;
  }
}
