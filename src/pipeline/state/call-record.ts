import type { PendingOrigin } from '../../contract/approval.ts';
import { failed, ok } from '../../contract/tool.ts';
import type { Fault } from '../../errors.ts';
import type { CallResult } from '../../hooks/call-result.ts';
import { exactMembers, requireMember } from '../../json/exact-members.ts';
import { Json } from '../../json/json.ts';

/** A call's result as the journal keeps it, every byte of a peer's values included. */
export function writeCallResult({ outcome, callId, content, metadata, context, handled }: CallResult): Json {
  return Json.from({ call_id: callId, content, metadata, outcome, context, handled });
}

/** The inverse of `writeCallResult`. */
export function readCallResult(json: Json): CallResult {
  const members = exactMembers(json);
  return {
    outcome: readOutcome(requireMember(members, 'outcome')),
    callId: textOf(members, 'call_id'),
    content: textOf(members, 'content'),
    metadata: requireMember(members, 'metadata'),
    ...(members.has('context') && { context: requireMember(members, 'context').value as string[] }),
    ...(members.has('handled') && { handled: textOf(members, 'handled') }),
  };
}

function readOutcome(json: Json): CallResult['outcome'] {
  const members = exactMembers(json);
  const status = textOf(members, 'status');
  switch (status) {
    case 'ok':
      return ok(requireMember(members, 'result'));
    case 'failed':
      return failed(faultOf(members));
    case 'denied': {
      const denied = {
        ...({ status, hook: textOf(members, 'hook'), reason: textOf(members, 'reason') } as const),
        ...(members.has('abort') && { abort: scopeOf(textOf(members, 'abort')) }),
      };
      return members.has('error') ? { ...denied, error: faultOf(members) } : denied;
    }
    default: {
      const plain = json.value as PlainPause;
      const { origin, hook, reason, message, expiresMs } = plain;
      const exact = { args: requireMember(members, 'args'), members: requireMember(members, 'members') };
      return { status: 'pending', origin, hook, reason, message, expiresMs, ...exact };
    }
  }
}

function scopeOf(text: string): 'turn' | 'session' {
  return text === 'turn' ? 'turn' : 'session';
}

/** The members of a pending outcome that are plain values; `writeCallResult` wrote them. */
interface PlainPause {
  readonly origin: PendingOrigin;
  readonly hook: string | null;
  readonly reason: string;
  readonly message: string;
  readonly expiresMs: number | null;
}

function textOf(members: ReadonlyMap<string, Json>, key: string): string {
  return String(requireMember(members, key).value);
}

function faultOf(members: ReadonlyMap<string, Json>): Fault {
  return requireMember(members, 'error').value as Fault;
}
