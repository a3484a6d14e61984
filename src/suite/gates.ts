import type { EvalStats, Gate, GateResult } from './model.ts';

/** Compares each gate's metric with its inclusive bounds, exactly; a metric of nothing fails. */
export function judgeGates(gates: readonly Gate[], stats: Readonly<Record<string, EvalStats>>): GateResult[] {
  return gates.map((gate) => {
    const { eval: id, metric, tag, min, max } = gate;
    const judged = tag === undefined ? stats[id] : stats[id]?.tags[tag];
    const value = judged?.[metric] ?? null;
    return {
      eval: id,
      metric,
      ...(tag === undefined ? {} : { tag }),
      value,
      min: min ?? null,
      max: max ?? null,
      passed: value !== null && (min === undefined || value >= min) && (max === undefined || value <= max),
    };
  });
}
