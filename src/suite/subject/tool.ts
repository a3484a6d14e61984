import { type Fault, RuntimeError, toFault } from '../../errors.ts';
import type { CallResult } from '../../hooks/call-result.ts';
import { isObject, type Json, parseLossless, stringifyJson } from '../../json/json.ts';
import { toDenial } from '../../pipeline/run/tool.ts';
import { callTool } from '../../tool-call/call.ts';
import { unknownName } from '../../yaml/unknown-name.ts';
import type { Subject } from '../file/model.ts';
import { describeHooks, describeTools } from './identity.ts';
import { type Made, nothing, type Source, type SubjectContext } from './source.ts';

/** A tool as a subject: a call with all its hooks, of which nothing is kept. Throws NAME_UNKNOWN. */
export function openTool(
  { tool: name, args }: Extract<Subject, { kind: 'tool' }>,
  { config, equipment }: SubjectContext,
): Source {
  const tool = equipment.tools.get(name) ?? unknownName('tool', name, equipment.tools.keys());
  return {
    prepare: (scope) => {
      const given = stringifyJson(args.evaluate(scope));
      return { key: given, ask: async (signal) => toMade(name, await callTool(tool, given, { signal })) };
    },
    identify: () => ({ tool: describeTools(config, [name]), hooks: describeHooks(config, 'tool') }),
  };
}

function toMade(tool: string, { outcome, metadata }: CallResult): Made {
  const said = { ...nothing, metadata: membersOf(metadata) };
  switch (outcome.status) {
    case 'ok':
      return { ...said, ...readResult(outcome.result) };
    case 'failed':
      return { ...said, error: outcome.error };
    case 'denied':
      return { ...said, error: toDenial(tool, outcome) };
    case 'pending':
      return { ...said, error: waitsForPerson(tool, outcome) };
  }
}

/** A text is judged as it is, anything else as its JSON. */
export function readResult(result: Json): Pick<Made, 'text' | 'result' | 'error'> {
  try {
    const value = parseLossless(result.text);
    return { text: typeof value === 'string' ? value : result.text, result: value };
  } catch (error) {
    // Such as one that is nested too deeply for a reader.
    const message = `the result cannot be read: ${toFault(error).message}`;
    return { text: '', result: null, error: toFault(new RuntimeError('RESULT_INVALID', message)) };
  }
}

/** Nobody is asked while a suite runs, so a call that waits for a person has no answer. */
export function waitsForPerson(tool: string, { reason, message }: Waiting): Fault {
  const what = `tool "${tool}" waits for a person, and in a suite nobody is asked: ${message} (${reason})`;
  const hint = 'Judge a case that needs no approval, or name a runtime whose config asks for none.';
  return toFault(new RuntimeError('PENDING_EXPIRED', what, { hint }));
}

interface Waiting {
  readonly reason: string;
  readonly message: string;
}

function membersOf(metadata: Json): Made['metadata'] {
  const value = parseLossless(metadata.text);
  return isObject(value) ? value : {};
}
