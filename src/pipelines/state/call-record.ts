import { composeJson } from '../../base/json/compose.ts';
import type { Json } from '../../base/json/json.ts';
import { exact, exactObject, fromMembers, ifPresent, object } from '../../base/json/record.ts';
import { exactMembers } from '../../base/json/scan.ts';
import { listOf, nullOr, number, oneOf, optional, text } from '../../base/json/shape.ts';
import type { CallResult } from '../../calls/tool-call/callable-tool.ts';
import { ok } from '../../contract/tool.ts';
import { fault, type RecordKind } from './record.ts';

const result = object({
  call_id: text,
  content: text,
  metadata: exact,
  outcome: readOutcome,
  context: optional(listOf(text)),
  handled: optional(text),
  tool: optional(text),
  args: ifPresent(exact),
  sent: ifPresent(exact),
  key: optional(text),
});

export interface JournaledCall extends CallResult {
  /** Absent for a direct call, like `args`. */
  readonly tool?: string;
  /** The arguments before hooks changed them. */
  readonly args?: Json;
  /** The idempotency key without the run id, if a retry changed it. */
  readonly key?: string;
}

/** Keeps every byte of a peer's values. */
export const callRecord: RecordKind<JournaledCall> = {
  name: 'tool call',
  write: ({ outcome, callId, content, metadata, context, handled, tool, args, sent, key }) =>
    // The content is the result again, so the result comes first.
    composeJson({ call_id: callId, outcome, content, metadata, context, handled, tool, args, sent, key }),
  read: (json, at) => {
    const { call_id: callId, ...members } = result(json, at);
    return { callId, ...members };
  },
};

function readOutcome(json: Json, at: string): CallResult['outcome'] {
  const members = exactMembers(exactObject(json, at));
  const { status } = outcome(members, at);
  switch (status) {
    case 'ok':
      return ok(okOutcome(members, at).result);
    case 'failed':
      return { status, ...failedOutcome(members, at) };
    case 'denied':
      return { status, ...deniedOutcome(members, at) };
    case 'pending':
      return { status, ...pendingOutcome(members, at) };
  }
}

const outcome = fromMembers({ status: oneOf('ok', 'failed', 'denied', 'pending') });
const okOutcome = fromMembers({ result: exact });
const failedOutcome = fromMembers({ error: fault, result: ifPresent(exact) });
const deniedOutcome = fromMembers({
  hook: text,
  reason: text,
  abort: optional(oneOf('turn', 'session')),
  error: ifPresent(fault),
});
const pendingOutcome = fromMembers({
  origin: oneOf('tool', 'hook', 'approval', 'interrupted'),
  hook: nullOr(text),
  args: exact,
  reason: text,
  message: text,
  members: exact,
  expiresMs: nullOr(number),
});
