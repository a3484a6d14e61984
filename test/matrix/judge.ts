import { failedOpenIn } from '../../src/dialects/metadata.ts';
import { Json } from '../../src/index.ts';
import type { Expected } from './expect.ts';
import { isForeign, type Target } from './targets.ts';

/** What came back of one call. */
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
      /** Of observers and shadows: the answer came only when they were done. */
      readonly wasAwaited: boolean;
      /** Of observers and shadows: what the events say of them. */
      readonly told?: string | undefined;
    };

/** `OPEN`: a filter let pass what it had to deny. `HUNG`: no answer, or no end. `THREW`, `WRONG`: not what the rule says. */
export type Word = Expected['outcome'] | 'OPEN' | 'HUNG' | 'THREW' | 'WRONG';

export interface Verdict {
  readonly word: Word;
  /** What is wrong; undefined: as it should be. */
  readonly problem?: string;
  /** Of an open cell: the rule. */
  readonly rule?: string;
}

/** Holds what was seen against what had to come. */
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

/** Whoever is only told changes nothing, holds up nobody, and fails where the events show it. */
function judgeTold(
  target: Extract<Target, { capability: 'hook' }>,
  expected: Expected,
  seen: Decision,
): Verdict {
  const said = `${seen.verdict}, told: ${seen.told} ${seen.code ?? ''} ${seen.text}`;
  if (seen.verdict !== 'allow') return wrong(expected, said);
  if (seen.wasAwaited && target.point.isAwaited !== true) return wrong(expected, `waited for it: ${said}`);
  // What becomes of a foreign observer is a note in the log.
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
