import { runEval } from '../../../src/calls/capability/eval.ts';
import { askHook } from '../../../src/calls/capability/hook.ts';
import { runTool } from '../../../src/calls/tool-call/call.ts';
import type { EvalOutcome } from '../../../src/contract/eval.ts';
import type { Answer, NativeEvent } from '../../../src/contract/hook.ts';
import type { ToolOutcome } from '../../../src/contract/tool.ts';
import { call, event, request } from '../../dialects/verdicts.ts';
import type { Bench, Entry } from './bench.ts';

export function callTool(bench: Bench, entry: Entry): Promise<ToolOutcome> {
  return runTool(bench.tool(entry), { input: call, call: 'call' });
}

export async function callEval(bench: Bench, entry: Entry): Promise<EvalOutcome> {
  const { outcome } = await runEval(bench.evaluation(entry), { input: request, call: 'call' });
  return outcome;
}

export function callHook(bench: Bench, entry: Entry, input: NativeEvent = event): Promise<Answer> {
  return askHook(bench.filter(entry), { input, call: 'call' });
}
