import { isObject } from '../../base/json/json.ts';
import type { AuditedVerdict } from '../ports.ts';
import type { CallRow } from './row.ts';

type Members = Readonly<Record<string, unknown>>;

/** The row of a call from its JSON; what somebody has changed into something else is shown as nothing. Undefined for another row. */
export function readCallRow(value: unknown): CallRow | undefined {
  if (!isObject(value) || value['kind'] !== 'call') return undefined;
  const times = membersAt(value, 'times');
  const usage = membersAt(value, 'usage');
  return {
    kind: 'call',
    id: textAt(value, 'id') ?? '',
    at: numberAt(value, 'at') ?? 0,
    key_id: textAt(value, 'key_id'),
    caller: textAt(value, 'caller') ?? '',
    endpoint: textAt(value, 'endpoint') ?? '',
    model: textAt(value, 'model') ?? '',
    asked: textsAt(value, 'asked'),
    provider: textAt(value, 'provider'),
    stream: value['stream'] === true,
    status: numberAt(value, 'status') ?? 0,
    outcome: textAt(value, 'outcome') ?? '',
    verdicts: verdictsAt(value),
    request_digest: textAt(value, 'request_digest') ?? '',
    answer_digest: textAt(value, 'answer_digest'),
    usage: usage && {
      input: numberAt(usage, 'input') ?? 0,
      output: numberAt(usage, 'output') ?? 0,
      cached_input: numberAt(usage, 'cached_input'),
    },
    cost: numberAt(value, 'cost'),
    times: {
      total: numberAt(times, 'total') ?? 0,
      hooks: numberAt(times, 'hooks') ?? 0,
      upstream: numberAt(times, 'upstream') ?? 0,
    },
    content: textAt(value, 'content'),
  };
}

function verdictsAt(value: Members): AuditedVerdict[] {
  const verdicts = value['verdicts'];
  if (!Array.isArray(verdicts)) return [];
  return verdicts.filter(isObject).map((each) => ({
    phase: textAt(each, 'phase') ?? '',
    verdict: textAt(each, 'verdict') ?? '',
    hook: textAt(each, 'hook'),
    reason: textAt(each, 'reason') ?? '',
  }));
}

function textsAt(value: Members, name: string): string[] | null {
  const member = value[name];
  return Array.isArray(member) ? member.filter((each) => typeof each === 'string') : null;
}

function membersAt(value: Members, name: string): Members | null {
  const member = value[name];
  return isObject(member) ? member : null;
}

function textAt(value: Members, name: string): string | null {
  const member = value[name];
  return typeof member === 'string' ? member : null;
}

function numberAt(value: Members | null, name: string): number | null {
  const member = value?.[name];
  return typeof member === 'number' ? member : null;
}
