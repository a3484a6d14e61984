import { toEvalDocument } from '../calls/tool-call/document.ts';
import type { EvalDocument } from '../contract/document.ts';
import { type EvalInput, toEvalRequest } from '../pipelines/run/eval-request.ts';
import type { EvalOptions } from './api.ts';
import type { WiredRuntime } from './stages/wire.ts';

/** Scores an input outside any pipeline or suite. Throws NAME_UNKNOWN, USAGE. */
export async function callEval(
  { evals, services }: Pick<WiredRuntime, 'evals' | 'services'>,
  { type, input }: { readonly type: string; readonly input: EvalInput },
  { id = type, threshold, signal = neverAborted }: EvalOptions = {},
): Promise<EvalDocument> {
  const request = toEvalRequest(type, input);
  // Wrong params are a usage error of a direct call only; in suites and pipelines they may depend on the case.
  if (!evals.has(type)) (await import('../builtins/checks/all.ts')).requireParams(request);
  const { outcome, passed } = await services.score({ id, type, request, threshold, signal });
  return toEvalDocument(outcome, passed);
}

/** The default signal, which is never aborted. */
const neverAborted = new AbortController().signal;
