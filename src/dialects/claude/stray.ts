import type { Answer } from '../../contract/hook.ts';
import { isObject } from '../../json/json.ts';
import { type Body, toBody } from '../body.ts';
import type { Note } from '../dialect.ts';
import type { Asking } from './asking.ts';
import type { Output } from './output.ts';
import type { EventRule } from './points.ts';

/** A remark on a `permissionDecision` where none is read, so that a handler cannot take itself for a guard. */
export function notesOnStray(
  { rule, question: { point } }: Asking,
  { body, specific }: Output,
  { verdict }: Answer,
): readonly Note[] {
  if (rule.isTold || verdict === 'deny' || verdict === 'abort') return [];
  const isRead = rule.verdict === 'permissionDecision';
  const places: readonly (readonly [prefix: string, body: Body | undefined])[] = [
    ['', body],
    ['hook_specific_output.', objectAt(body, 'hook_specific_output')],
    ['hookSpecificOutput.', isRead ? undefined : specific],
  ];
  const stray = places.find(([, members]) => members?.get('permissionDecision') !== undefined);
  if (stray === undefined) return [];
  const message = `its \`${stray[0]}permissionDecision\` has no effect: ${rightKey(point, rule)}`;
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

function objectAt(body: Body, key: string): Body | undefined {
  const json = body.get(key);
  return json !== undefined && isObject(json.value) ? toBody(json) : undefined;
}
