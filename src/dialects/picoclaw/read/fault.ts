import type { PicoclawSettings } from '../../../config/foreign.ts';
import type { Answer } from '../../../contract/hook.ts';
import type { RuntimeError } from '../../../errors.ts';
import type { Json } from '../../../json/json.ts';
import { unreadLine } from '../../../transport/unread.ts';
import { excerpt, present, toBody } from '../../body.ts';
import type { Decoded } from '../../dialect.ts';
import type { Seat } from '../../foreign.ts';
import { type Cause, denied, failed } from '../failure.ts';
import { findInResult, findUnreadDenial } from '../foreign-denial.ts';

/**
 * What a fault in the place of a reply means. A process that could not be started or greeted denies, whatever
 * the entry says; so does every fault that PicoClaw has no rule for.
 */
export function readFault(seat: Seat<PicoclawSettings>, point: string, error: RuntimeError): Decoded<Answer> {
  const stage = stageOf(error);
  if (stage !== undefined) return denied(seat, `${stages[stage]}: ${error.message}`, { error });
  const line = unreadLine(error);
  const denial = line === undefined ? undefined : findUnreadDenial(line);
  if (denial !== undefined)
    return denied(seat, `denied with ${excerpt(denial)}, though ${error.message}`, { error });
  const rule = ruleOf(error);
  if (rule === undefined) return denied(seat, `could not be asked: ${error.message}`, { error });
  return failed(seat, point, { ...rule, error });
}

/** What an answer that is an error means; `beside` is a result that stands beside it. */
export function readRpcError(
  seat: Seat<PicoclawSettings>,
  point: string,
  { error, beside }: { readonly error: Json; readonly beside?: Json | undefined },
): Decoded<Answer> {
  const denial = beside === undefined ? undefined : findInResult(beside);
  if (denial !== undefined) {
    return denied(seat, `denied with ${excerpt(denial)}, beside the error ${messageOf(error)}`);
  }
  return failed(seat, point, { cause: 'rpc_error', what: `answered with the error ${messageOf(error)}` });
}

/** The words of an error that a hook answered with. */
export function messageOf(error: Json): string {
  try {
    const message = present(toBody(error).get('message'))?.value;
    return typeof message === 'string' && message !== '' ? `"${excerpt(message)}"` : excerpt(error.text);
  } catch {
    return excerpt(error.text);
  }
}

type Stage = keyof typeof stages;

const stages = { start: 'could not be started', hello: 'was not greeted' } as const;

function stageOf({ code, details }: RuntimeError): Stage | undefined {
  if (code === 'PROCESS_START') return 'start';
  const { stage } = details;
  return stage === 'start' || stage === 'hello' ? stage : undefined;
}

interface Rule {
  readonly cause: Cause;
  readonly what: string;
}

function ruleOf({ code, message, details }: RuntimeError): Rule | undefined {
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
function ruleOfLine(problem: unknown, message: string): Rule | undefined {
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
