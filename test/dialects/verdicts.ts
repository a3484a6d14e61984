import { type Fault, RuntimeError, toFault } from '../../src/base/errors.ts';
import { Json } from '../../src/base/json/json.ts';
import { readEvent } from '../../src/calls/hooks/event-input.ts';
import { type EvalOutcome, type EvalRequest, unscored } from '../../src/contract/eval.ts';
import { type Answer, deny, type NativeEvent } from '../../src/contract/hook.ts';
import { failed, type ToolCall, type ToolOutcome } from '../../src/contract/tool.ts';
import type { Note } from '../../src/dialects/dialect.ts';
import { promptkit } from '../../src/dialects/promptkit/dialect.ts';
import { toEvalRequest } from '../../src/pipelines/run/eval-request.ts';
import type { Reply } from '../../src/process/transport.ts';

/** A request for each capability, for tests that need any. */
export const call: ToolCall = { name: 'refund', callId: 'call_1', args: new Json('{"amount":250}') };
export const request: EvalRequest = toEvalRequest('tone', { content: 'Hello.' });
export const event: NativeEvent = readEvent({
  hook: 'tool',
  phase: 'before_execution',
  request: { name: 'refund', args: new Json('{"amount":250}'), call_id: 'call_1' },
});

export function printed(stdout: string | Uint8Array): Reply {
  return { via: 'process', exitCode: 0, signal: null, stdout: Buffer.from(stdout), stderr: '' };
}

export function answered(result: string): Reply {
  return { via: 'rpc', result: new Json(result) };
}

/** A tool's outcome by the codec alone. A RuntimeError becomes the failure that the runtime makes of it. */
export function decodeTool(reply: Reply): ToolOutcome {
  return decode(() => promptkit.tool.decode(reply, call), failed);
}

export function decodeEval(reply: Reply): EvalOutcome {
  return decode(
    () => promptkit.eval.decode(reply, request),
    (fault) => unscored(fault.message, fault),
  );
}

export function decodeHook(reply: Reply, on: NativeEvent = event): Answer {
  return decode(
    () => promptkit.hook.decode(reply, on),
    (fault) => ({ ...deny(fault.message, false, new Json('{}')), error: fault }),
  );
}

/** The notes of all three codecs on a reply; none where it is rejected. */
export function notesOn(reply: Reply): readonly Note[] {
  const { tool, eval: evaluation, hook } = promptkit;
  return [
    () => tool.decode(reply, call).notes,
    () => evaluation.decode(reply, request).notes,
    () => hook.decode(reply, event).notes,
  ].flatMap((notes) =>
    decode(
      () => ({ output: notes() }),
      () => [],
    ),
  );
}

function decode<Output>(
  decoding: () => { readonly output: Output },
  onFault: (fault: Fault) => Output,
): Output {
  try {
    return decoding().output;
  } catch (error) {
    // Any other error is a defect of the codec and fails the test.
    if (error instanceof RuntimeError) return onFault(toFault(error));
    throw error;
  }
}

/** An outcome in one line: all members of a success, the code of a failure, and a tool's own error. */
export function sayTool(outcome: ToolOutcome): string {
  switch (outcome.status) {
    case 'ok':
      return `ok ${outcome.result.text}`;
    case 'failed':
      return `failed ${sayFault(outcome.error)}`;
    case 'pending':
      return `pending ${JSON.stringify([outcome.reason, outcome.message])} ${outcome.members.text}`;
  }
}

export function sayEval(outcome: EvalOutcome): string {
  if (outcome.status === 'unscored') {
    return `unscored ${outcome.error === undefined ? outcome.reason : sayFault(outcome.error)}`;
  }
  const { score, detail, data } = outcome;
  return `scored ${score} ${JSON.stringify(detail)} ${data?.text ?? '-'}`;
}

export function sayHook(answer: Answer): string {
  const { verdict, reason, metadata } = answer;
  if (verdict === 'deny' && answer.error !== undefined) return `deny ${sayFault(answer.error)}`;
  const word = verdict === 'deny' && answer.enforced ? 'deny enforced' : verdict;
  const replace = verdict === 'modify' ? ` ${answer.replace.text}` : '';
  return `${word}${replace} ${JSON.stringify(reason)} ${metadata.text}`;
}

function sayFault({ code, message }: Fault): string {
  return code === 'TOOL_ERROR' || code === 'EVAL_ERROR' ? `${code} ${message}` : code;
}
