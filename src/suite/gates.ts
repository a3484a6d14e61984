import type { EvalStats, Gate, GateResult } from './model.ts';

/** Compares each gate's metric with its inclusive bounds, exactly; a metric of nothing fails. */
export function judgeGates(gates: readonly Gate[], stats: Readonly<Record<string, EvalStats>>): GateResult[] {
  return gates.map((gate) => {
    const { eval: id, metric, tag, min, max } = gate;
    const ofEval = Object.hasOwn(stats, id) ? stats[id] : undefined;
    const tagged =
      tag !== undefined && ofEval && Object.hasOwn(ofEval.tags, tag) ? ofEval.tags[tag] : undefined;
    const value = (tag === undefined ? ofEval : tagged)?.[metric] ?? null;
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
