import type { GuardRecord, Latency } from '../run/record.ts';
import { newLatencySketch } from '../stats/latency.ts';
import type { SideOutcome } from './side.ts';

/** How often a guard gave each answer, and how long its hooks took together. */
export interface Decisions {
  readonly allow: number;
  readonly modify: number;
  readonly deny: number;
  readonly ask: number;
  readonly respond: number;
  readonly abort: number;
  /** It gave no answer; not among the others. */
  readonly failed: number;
  readonly latency_ms: Latency | null;
}

export interface DecisionTally {
  add(outcome: SideOutcome): void;
  /** Undefined where there was no guard. */
  decisions(): Decisions | undefined;
}

export function newDecisionTally(): DecisionTally {
  const counts: Record<GuardRecord['verdict'] | 'failed', number> = {
    ...{ allow: 0, modify: 0, deny: 0, ask: 0, respond: 0, abort: 0, failed: 0 },
  };
  const sketch = newLatencySketch();
  let seen = 0;
  return {
    add({ answers }) {
      for (const { verdict, durationMs } of answers) {
        seen += 1;
        counts[verdict] += 1;
        sketch.add(durationMs);
      }
    },
    decisions: () => (seen === 0 ? undefined : { ...counts, latency_ms: sketch.latency() }),
  };
}
