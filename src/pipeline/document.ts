import type { HookConfig, ToolConfig } from '../config/config.ts';
import type {
  DecisionDocument,
  EvalDocument,
  HookInfo,
  ToolDocument,
  ToolInfo,
} from '../contract/document.ts';
import type { EvalOutcome } from '../contract/eval.ts';
import type { Decision } from '../contract/hook.ts';
import type { CallPaused, CallResult } from './call-result.ts';
import { document } from './exact-document.ts';

/** A call that has its outcome. */
export interface EndedCall extends Pick<CallResult, 'metadata'> {
  readonly outcome: Exclude<CallResult['outcome'], CallPaused>;
}

/** The document of a tool call. */
export function toToolDocument({ outcome, metadata }: EndedCall): ToolDocument {
  const said = metadata.text === '{}' ? {} : { metadata };
  switch (outcome.status) {
    case 'ok':
      return document<ToolDocument>({ status: 'ok', result: outcome.result, ...said });
    case 'failed':
      return document<ToolDocument>({ status: 'failed', error: outcome.error, ...said });
    case 'denied': {
      const { hook, reason, error } = outcome;
      return document<ToolDocument>({ status: 'denied', hook, reason, metadata, ...(error && { error }) });
    }
  }
}

/** The document of an eval call. */
export function toEvalDocument(outcome: EvalOutcome, passed: boolean): EvalDocument {
  if (outcome.status === 'unscored') {
    const { reason, error } = outcome;
    return document<EvalDocument>({ status: 'unscored', reason, passed: false, ...(error && { error }) });
  }
  const { score, detail, data } = outcome;
  return document<EvalDocument>({ status: 'scored', score, passed, detail, data: data ?? null });
}

/** The document of a decision. */
export function toDecisionDocument(decision: Decision): DecisionDocument {
  return document<DecisionDocument>({ ...decision });
}

/** A tool as it is listed. */
export function toToolInfo({ name, description, exec, inputSchema, outputSchema }: ToolConfig): ToolInfo {
  return {
    name,
    description,
    runtime: exec?.runtime ?? 'none',
    dialect: exec?.dialect ?? null,
    input_schema: inputSchema ?? null,
    output_schema: outputSchema ?? null,
  };
}

/** A hook as it is listed. */
export function toHookInfo({ name, hook, phases, mode, exec }: HookConfig): HookInfo {
  return { name, hook, phases, mode, dialect: exec.dialect };
}
