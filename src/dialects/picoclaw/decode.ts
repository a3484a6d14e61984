import type { Reply } from '../../contract/exchange.ts';
import type { Answer } from '../../contract/hook.ts';
import { unusableLineOf } from '../../contract/unusable-line.ts';
import { RuntimeError, toRuntimeError } from '../../errors.ts';
import type { Json } from '../../json/json.ts';
import { excerpt, malformed, nonNull, toBody } from '../body.ts';
import type { Decoded } from '../dialect.ts';
import type { HookEntry, Question } from '../foreign-dialect.ts';
import type { PicoclawSettings } from './config/settings.ts';
import { decodeFailure, denyAsWritten, denyFailure, type FailureCause } from './failure.ts';
import { findDenialInLine, findInResult } from './misplaced-denial.ts';
import { isActionPoint } from './points.ts';
import { readAction } from './read/action.ts';
import { readApproval } from './read/approval.ts';

/** Decodes a reply, or the fault in its place. Throws REPLY_MALFORMED when it cannot be read. */
export function decode(
  entry: HookEntry<PicoclawSettings>,
  question: Question,
  reply: Reply | RuntimeError,
): Decoded<Answer> {
  try {
    return decodeReply(entry, question, reply);
  } catch (thrown) {
    // A peer can nest deeper than recursion goes.
    throw toRuntimeError(thrown, 'REPLY_MALFORMED');
  }
}

function decodeReply(
  entry: HookEntry<PicoclawSettings>,
  question: Question,
  reply: Reply | RuntimeError,
): Decoded<Answer> {
  const { point } = question;
  if (reply instanceof RuntimeError) return readFault(entry, point, reply);
  if (reply.via === 'process') throw malformed('a PicoClaw hook answers as a server only');
  const { error, ignoredResult } = reply;
  if (error !== undefined) return readRpcError(entry, point, { error, beside: ignoredResult });
  if (isActionPoint(point)) return readAction({ entry, question, point }, reply.result);
  if (point === 'approve_tool') return readApproval(entry, reply.result);
  throw new RuntimeError('INTERNAL', `nobody answers at the point "${point}"`);
}

/**
 * Decodes a fault in the place of a reply. A failed start or handshake denies, whatever the entry says; so
 * does every fault that PicoClaw has no rule for.
 */
function readFault(entry: HookEntry<PicoclawSettings>, point: string, error: RuntimeError): Decoded<Answer> {
  const stage = stageOf(error);
  if (stage !== undefined) return denyFailure(entry, `${stageWords[stage]}: ${error.message}`, { error });
  const line = unusableLineOf(error);
  const denial = line === undefined ? undefined : findDenialInLine(line);
  if (denial !== undefined)
    return denyFailure(entry, `denied with ${excerpt(denial)}, though ${error.message}`, { error });
  const rule = ruleOf(error);
  if (rule === undefined) return denyFailure(entry, `could not be asked: ${error.message}`, { error });
  return decodeFailure(entry, point, { ...rule, error });
}

/** Decodes a JSON-RPC error; `beside` is a `result` in the same reply. */
function readRpcError(
  entry: HookEntry<PicoclawSettings>,
  point: string,
  { error, beside }: { readonly error: Json; readonly beside?: Json | undefined },
): Decoded<Answer> {
  const denial = beside === undefined ? undefined : findInResult(beside);
  if (denial !== undefined) {
    const message = `it denied beside the error ${messageOf(error)}`;
    return denyAsWritten(entry, denial, [{ level: 'warn', message }]);
  }
  const what = `answered with the error ${messageOf(error)}`;
  return decodeFailure(entry, point, {
    cause: 'rpc_error',
    what,
    error: new RuntimeError('TOOL_ERROR', what),
  });
}

/** The words of an error that a hook answered with. */
export function messageOf(error: Json): string {
  try {
    const message = nonNull(toBody(error).get('message'))?.value;
    return typeof message === 'string' && message !== '' ? `"${excerpt(message)}"` : excerpt(error.text);
  } catch {
    return excerpt(error.text);
  }
}

type Stage = keyof typeof stageWords;

const stageWords = { start: 'could not be started', hello: 'was not greeted' } as const;

function stageOf({ code, details }: RuntimeError): Stage | undefined {
  if (code === 'PROCESS_START') return 'start';
  const { stage } = details;
  return stage === 'start' || stage === 'hello' ? stage : undefined;
}

interface FaultRule {
  readonly cause: FailureCause;
  readonly what: string;
}

function ruleOf({ code, message, details }: RuntimeError): FaultRule | undefined {
  switch (code) {
    case 'PROCESS_TIMEOUT':
      return { cause: 'timeout', what: 'timed out' };
    case 'SERVER_EXIT':
      return { cause: 'dead', what: 'died while it was asked' };
    case 'OUTPUT_LIMIT':
      return { cause: 'bad_result', what: `answered too much: ${message}` };
    case 'REPLY_MALFORMED':
      return ruleOfLine(details['problem'], message);
    default:
      return undefined;
  }
}

/**
 * A line that is an answer, but not a usable one. Without a rule is text that is no UTF-8: PicoClaw would have
 * read it, and it may have been a denial.
 */
function ruleOfLine(problem: unknown, message: string): FaultRule | undefined {
  switch (problem) {
    case 'no_result':
      return { cause: 'no_action', what: 'answered neither a result nor an error' };
    case 'error_type':
      return { cause: 'rpc_error', what: 'answered with an error that is no object' };
    case 'id':
    case 'batch':
      return { cause: 'bad_result', what: `answered what cannot be used: ${message}` };
    default:
      return undefined;
  }
}
