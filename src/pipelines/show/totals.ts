import { newDecimalSum } from '../../base/json/decimal.ts';
import { exactMembers } from '../../base/json/scan.ts';
import type { RunTotals } from '../../contract/run.ts';
import type { RunRecord, StepRecord } from '../../store/store.ts';
import { stepEntryOf } from '../state/step-outcome.ts';
import { placeOfWork } from './step-place.ts';

export function createTotals(run: Pick<RunRecord, 'id' | 'status' | 'createdAt' | 'updatedAt'>) {
  const counts = { steps: 0, model_calls: 0, tool_calls: 0, scores: 0 };
  const sums = { input_tokens: 0, output_tokens: 0, unmeasured_calls: 0, unpriced_calls: 0 };
  const cost = newDecimalSum();
  let priced = 0;
  return {
    add: (record: StepRecord): void => {
      if (stepEntryOf(run, record) !== undefined) {
        counts.steps += 1;
        return;
      }
      const place = placeOfWork(record.step);
      if (place === undefined || place.kind === 'hooks') return;
      if (place.kind === 'score') counts.scores += 1;
      // A call continues under its ruling after a decision.
      if (place.kind === 'tool call' && !/\/ruling-\d+(?:~\d+)?$/.test(record.step)) counts.tool_calls += 1;
      if (place.kind !== 'model call') return;
      counts.model_calls += 1;
      const { input, output, price } = usageOf(record);
      if (input === null || output === null) sums.unmeasured_calls += 1;
      sums.input_tokens += input ?? 0;
      sums.output_tokens += output ?? 0;
      if (price === null) sums.unpriced_calls += 1;
      else {
        cost.add(price);
        priced += 1;
      }
    },
    read: (): RunTotals => ({
      duration_ms: Math.max(0, run.updatedAt - run.createdAt),
      ...counts,
      ...sums,
      cost_usd: priced === 0 ? null : cost.value(),
    }),
  };
}

function usageOf({ outcome }: StepRecord) {
  const members = outcome?.skeleton.startsWith('{') ? exactMembers(outcome) : undefined;
  const usage = members?.get('usage')?.value;
  const numberAt = (value: unknown, key: string) => {
    const member: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, key) : null;
    return typeof member === 'number' ? member : null;
  };
  const price = members?.get('cost_usd')?.value;
  return {
    input: numberAt(usage, 'input_tokens'),
    output: numberAt(usage, 'output_tokens'),
    price: typeof price === 'number' ? price : null,
  };
}
