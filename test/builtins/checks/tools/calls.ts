import { describe, expect, test } from 'vitest';
import { Json } from '../../../../src/base/json/json.ts';
import type { EvalToolCall } from '../../../../src/contract/eval.ts';
import { type Asking, ask } from '../asking.ts';

export function call(name: string, rest: Partial<EvalToolCall> = {}): EvalToolCall {
  return { name, args: {}, result: '', error: '', index: 1, ...rest };
}

export function calls(...names: readonly string[]): EvalToolCall[] {
  return names.map((name) => call(name));
}

export type Row = readonly [
  title: string,
  params: Asking['params'],
  tool_calls: readonly EvalToolCall[],
  outcome: readonly [score: number, detail: string] | string,
];

/** One test for each row: score and detail, or the reason of an unscored outcome. */
export function judges(type: string, rows: readonly Row[]): void {
  describe(type, () => {
    test.each(rows)('%s', async (_title, params, tool_calls, expected) => {
      expect(await outcomeOf(type, { params: params ?? {}, context: { tool_calls } })).toEqual(expected);
    });
  });
}

export async function outcomeOf(type: string, asking: Asking): Promise<readonly [number, string] | string> {
  const outcome = await ask(type, asking);
  return outcome.status === 'scored' ? [outcome.score, outcome.detail] : outcome.reason;
}

/** The params as JSON text, as a file or another process writes them. */
export function written(text: string): Json {
  return new Json(text);
}
