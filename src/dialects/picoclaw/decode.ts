import type { Reply } from '../../contract/exchange.ts';
import type { Answer } from '../../contract/hook.ts';
import { RuntimeError, toRuntimeError } from '../../errors.ts';
import { malformed } from '../body.ts';
import type { Decoded } from '../dialect.ts';
import type { HookEntry, Question } from '../foreign-dialect.ts';
import type { PicoclawSettings } from './config/settings.ts';
import { isActionPoint } from './points.ts';
import { readAction } from './read/action.ts';
import { readApproval } from './read/approval.ts';
import { readFault, readRpcError } from './read/fault.ts';

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
