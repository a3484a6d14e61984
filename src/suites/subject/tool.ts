import { type Fault, RuntimeError, toFault } from '../../base/errors.ts';
import { isObject, type Json, parseLossless, stringifyJson } from '../../base/json/json.ts';
import { unknownName } from '../../base/yaml/wording.ts';
import { callTool } from '../../calls/tool-call/call.ts';
import type { CallResult } from '../../calls/tool-call/callable-tool.ts';
import { toDenial } from '../../pipelines/run/step-kinds.ts';
import type { Subject } from '../file/model.ts';
import { emptyOutput, type SubjectAdapter, type SubjectContext, type SubjectOutput } from './adapter.ts';
import { describeHooks, describeTools } from './identity.ts';

/** Calls the tool with all its hooks and stores nothing. Throws NAME_UNKNOWN. */
export function openToolSubject(
  { tool: name, args }: Extract<Subject, { kind: 'tool' }>,
  { config, services }: SubjectContext,
): SubjectAdapter {
  if (!services.tools.has(name)) unknownName('tool', name, services.tools.keys());
  return {
    prepare: (scope) => {
      const given = stringifyJson(args.evaluate(scope));
      const { emit } = services;
      return {
        key: given,
        send: async (signal) => {
          await services.prepareTools?.([name]);
          const tool = services.tools.get(name) ?? unknownName('tool', name, services.tools.keys());
          return toOutput(name, await callTool(tool, given, { signal, emit }));
        },
      };
    },
    identify: () => ({ tool: describeTools(config, [name]), hooks: describeHooks(config, 'tool') }),
  };
}

function toOutput(tool: string, { outcome, metadata }: CallResult): SubjectOutput {
  const output = { ...emptyOutput, metadata: metadataOf(metadata) };
  switch (outcome.status) {
    case 'ok':
      return { ...output, ...readResult(outcome.result) };
    case 'failed':
      return { ...output, error: outcome.error };
    case 'denied':
      return { ...output, error: toDenial(tool, outcome) };
    case 'pending':
      return { ...output, error: pendingFault(tool, outcome) };
  }
}

export function readResult(result: Json): Pick<SubjectOutput, 'text' | 'result' | 'error'> {
  try {
    const value = parseLossless(result.text);
    return { text: typeof value === 'string' ? value : result.text, result: value };
  } catch (error) {
    const message = `the result cannot be read: ${toFault(error).message}`;
    return { text: '', result: null, error: toFault(new RuntimeError('RESULT_INVALID', message)) };
  }
}

/** A suite run has no person to decide a pending call. */
export function pendingFault(tool: string, { reason, message }: PendingReason): Fault {
  const what = `tool "${tool}" needs an approval, which a suite cannot give: ${message} (${reason})`;
  const hint = 'Judge a case that needs no approval, or use a runtime whose config requires none.';
  return toFault(new RuntimeError('PENDING_EXPIRED', what, { hint }));
}

interface PendingReason {
  readonly reason: string;
  readonly message: string;
}

function metadataOf(metadata: Json): SubjectOutput['metadata'] {
  const value = parseLossless(metadata.text);
  return isObject(value) ? value : {};
}
