import { failedOpenIn } from '../../src/dialects/metadata.ts';
import { Json } from '../../src/index.ts';
import type { Expected } from './expect.ts';
import { isForeign, type Target } from './targets.ts';

export type Seen =
  | { readonly kind: 'hung' }
  | { readonly kind: 'threw'; readonly code: string; readonly text: string }
  | {
      readonly kind: 'outcome';
      readonly status: string;
      readonly code?: string | undefined;
      readonly text?: string | undefined;
    }
  | {
      readonly kind: 'decision';
      readonly verdict: string;
      readonly metadata: unknown;
      readonly code: string | undefined;
      readonly text: string;
      /** For observers and shadows: the answer waited for their end. */
      readonly wasAwaited: boolean;
      /** For observers and shadows: the outcome in the events. */
      readonly told?: string | undefined;
    };

/**
 * `OPEN`: a filter let pass what it had to deny. `HUNG`: no answer, or no end. `THREW`, `WRONG`: not the expected
 * outcome.
 */
export type Word = Expected['outcome'] | 'OPEN' | 'HUNG' | 'THREW' | 'WRONG';

export interface Verdict {
  readonly word: Word;
  readonly problem?: string;
  readonly rule?: string;
}

export function judge(target: Target, expected: Expected, seen: Seen): Verdict {
  if (seen.kind === 'hung') return { word: 'HUNG', problem: 'no end within its time' };
  if (seen.kind === 'threw') return { word: 'THREW', problem: `${seen.code}: ${seen.text}` };
  if (seen.kind === 'outcome') return judgeOutcome(expected, seen);
  if (target.capability === 'hook' && target.mode !== 'filter') return judgeTold(target, expected, seen);
  return judgeDecision(target, expected, seen);
}

function judgeOutcome(
  expected: Expected,
  { status, code, text }: Extract<Seen, { kind: 'outcome' }>,
): Verdict {
  const said = `${status} ${code ?? ''} ${text ?? ''}`;
  if (expected.outcome === 'answered')
    return status === 'ok' || status === 'scored' ? { word: 'answered' } : wrong(expected, said);
  if (status !== expected.outcome) return wrong(expected, said);
  return withCode(expected, code, said);
}

type Decision = Extract<Seen, { kind: 'decision' }>;

function judgeDecision(target: Target, expected: Expected, seen: Decision): Verdict {
  const { verdict, code, text } = seen;
  const said = `${verdict} ${code ?? ''} ${text} ${JSON.stringify(seen.metadata)}`;
  const causes = failedOpenIn(Json.from(seen.metadata)).map(({ cause }) => cause);
  const isDenied = verdict === 'deny' || verdict === 'abort';
  const asks = target.capability === 'hook' && target.point.asks === true;
  const passes = asks ? verdict === 'allow' || verdict === 'ask' : verdict === 'allow';
  if (expected.outcome === 'denied') {
    if (!isDenied) return { word: 'OPEN', problem: `had to be denied: ${said}` };
    return expected.codes.length === 0 ? { word: 'denied' } : withCode(expected, code, said);
  }
  if (expected.outcome === 'forced') return verdict === 'modify' ? { word: 'forced' } : wrong(expected, said);
  if (!passes) return wrong(expected, said);
  if (expected.outcome !== 'open')
    return causes.length === 0 ? { word: expected.outcome } : wrong(expected, said);
  const [rule] = causes;
  if (rule === undefined) return { word: 'OPEN', problem: `it passed, and no rule is named: ${said}` };
  return causes.length === 1 && expected.causes.includes(rule)
    ? { word: 'open', rule }
    : wrong(expected, said);
}

/** Observers and shadows change nothing and delay nobody; their failures appear in the events. */
function judgeTold(
  target: Extract<Target, { capability: 'hook' }>,
  expected: Expected,
  seen: Decision,
): Verdict {
  const said = `${seen.verdict}, told: ${seen.told} ${seen.code ?? ''} ${seen.text}`;
  if (seen.verdict !== 'allow') return wrong(expected, said);
  if (seen.wasAwaited && target.point.isAwaited !== true) return wrong(expected, `waited for it: ${said}`);
  // The failure of a foreign observer is only logged.
  if (isForeign(target)) return { word: expected.outcome };
  if (expected.outcome === 'answered') {
    const good = target.mode === 'shadow' ? 'allow' : 'told';
    return seen.told === good ? { word: 'answered' } : wrong(expected, said);
  }
  const bad = target.mode === 'shadow' ? 'deny' : 'untold';
  return seen.told === bad ? withCode(expected, seen.code, said) : wrong(expected, said);
}

function withCode(expected: Expected, code: string | undefined, said: string): Verdict {
  const codes: readonly string[] = 'codes' in expected ? expected.codes : [];
  return code !== undefined && codes.includes(code) ? { word: expected.outcome } : wrong(expected, said);
}

function wrong(expected: Expected, said: string): Verdict {
  return { word: 'WRONG', problem: `expected ${JSON.stringify(expected)}: ${said}` };
}
