import type { Answer } from '../../contract/hook.ts';
import { type Body, objectAt } from '../body.ts';
import type { Note } from '../dialect.ts';
import { isOfKind } from '../payload-table.ts';
import type { HookQuestion } from './hook-question.ts';
import type { EventRule, MemberKind, MemberKinds } from './points.ts';
import type { ReplyObject } from './reply-object.ts';

/** What violates the schema of a reply, as the end of a sentence; undefined when it conforms. */
export function findReplyFault(point: string, rule: EventRule, output: ReplyObject): string | undefined {
  const { body, specific, isGarbled } = output;
  if (isGarbled) return 'answered with bytes that are not UTF-8';
  return (
    findWrongType(body, universal) ??
    findUnknownDecision(rule, body) ??
    (body.get('hookSpecificOutput') === undefined ? undefined : findWrongSpecific(point, rule, specific))
  );
}

const universal: MemberKinds = {
  continue: 'flag',
  suppressOutput: 'flag',
  stopReason: 'text',
  reason: 'text',
  systemMessage: 'text',
  terminalSequence: 'text',
};

/** The fault of an unknown `decision` at an event where nothing can be denied any more. */
function findUnknownDecision({ block, takesDecision }: EventRule, body: Body): string | undefined {
  const given = block === 'beside' && takesDecision ? body.get('decision') : undefined;
  const isKnown = given === undefined || ['block', 'deny', 'approve'].some((word) => given.value === word);
  return isKnown ? undefined : 'answered with a `decision` that is no known verdict';
}

function findWrongSpecific(point: string, rule: EventRule, specific: Body | undefined): string | undefined {
  if (specific === undefined) return 'answered with a `hookSpecificOutput` that is no object';
  const name = specific.get('hookEventName')?.value;
  if (name !== point) return `answered with a \`hookSpecificOutput\` whose \`hookEventName\` is not ${point}`;
  return findWrongType(specific, {
    ...(rule.takesContext && ({ additionalContext: 'text' } as const)),
    ...(rule.verdict === 'permissionDecision' && ({ permissionDecisionReason: 'text' } as const)),
    ...(rule.verdict === 'action' && ({ content: 'object' } as const)),
    ...rule.replaces,
    ...rule.records,
  });
}

/** The first member whose value has another type. */
export function findWrongType(body: Body, kinds: MemberKinds): string | undefined {
  const wrong = Object.entries(kinds).find(([key, kind]) => {
    const member = body.get(key);
    return member !== undefined && !isOfKind(member, kind);
  });
  return wrong && `answered with a \`${wrong[0]}\` that is no ${kindWords[wrong[1]]}`;
}

const kindWords: Readonly<Record<MemberKind, string>> = {
  text: 'string',
  flag: 'boolean',
  object: 'object',
  names: 'list of strings',
  list: 'list',
  any: 'value',
};

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
