import { stripVTControlCharacters } from 'node:util';
import type { ProcessReply } from '../../../contract/exchange.ts';
import { type Answer, answers } from '../../../contract/hook.ts';
import { describeExit } from '../../body.ts';
import { type Decoded, decoded } from '../../dialect.ts';
import type { HookQuestion } from '../hook-question.ts';
import { isSuccess, parsePrinted, type ReplyObject, textAt } from '../reply-object.ts';
import { findReplyFault } from '../reply-schema.ts';

/**
 * Decodes a reply at WorktreeCreate: the handler creates the worktree and prints its path; all else denies.
 */
export function readWorktree(asked: HookQuestion, reply: ProcessReply): Decoded<Answer> {
  return decoded(findFailure(reply) ?? readPath(asked, reply));
}

function findFailure(reply: ProcessReply): Answer | undefined {
  const { httpStatus, exitCode, stderr } = reply;
  if (httpStatus !== undefined) {
    return isSuccess(httpStatus) ? undefined : answers.deny(`it answered with HTTP status ${httpStatus}`);
  }
  if (exitCode === 0) return undefined;
  return answers.deny(stderr.trim() === '' ? `it ${describeExit(reply)}` : stderr.trim());
}

function readPath(asked: HookQuestion, { httpStatus, stdout }: ProcessReply): Answer {
  const printed = parsePrinted(stdout);
  if (printed.kind === 'object') return readObject(asked, printed.output);
  const hasText = printed.kind === 'text' || (printed.kind === 'bad_json' && !printed.text.endsWith('}'));
  return toPath(hasText && httpStatus === undefined ? lastLine(printed.text) : '');
}

function readObject({ question, rule }: HookQuestion, output: ReplyObject): Answer {
  if (output.body.get('continue')?.value === false)
    return answers.abort(textAt(output.body, 'stopReason'), 'turn');
  const fault = findReplyFault(question.point, rule, output);
  return fault === undefined ? toPath(textAt(output.specific, 'worktreePath')) : answers.deny(`it ${fault}`);
}

function lastLine(text: string): string {
  const lines = stripVTControlCharacters(text).split('\n');
  return lines.findLast((line) => line.trim() !== '')?.trim() ?? '';
}

function toPath(path: string): Answer {
  if (path === '') return answers.deny('it named no path');
  const isAbsolute = path.startsWith('/');
  const hasDots = path.split('/').some((part) => part === '.' || part === '..');
  return isAbsolute && hasDots
    ? answers.deny(`its path has "." or "..": ${path}`)
    : answers.respond({ path });
}
