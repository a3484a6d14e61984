import type { ProcessReply, Reply } from '../../contract/exchange.ts';
import type { Answer } from '../../contract/hook.ts';
import { RuntimeError } from '../../errors.ts';
import { excerpt, malformed } from '../body.ts';
import { type Decoded, decoded } from '../dialect.ts';
import type { HookEntry, Question } from '../foreign-dialect.ts';
import type { ClaudeSettings } from './config/settings.ts';
import { withEnvFile } from './env-file.ts';
import { noteExit2, readExit2 } from './exit-2.ts';
import {
  block,
  type HookQuestion,
  letPass,
  noDecision,
  toHookQuestion,
  withReason,
} from './hook-question.ts';
import { readFault } from './read/fault.ts';
import { readHttp } from './read/http.ts';
import { readObject } from './read/object.ts';
import { readWorktree } from './read/worktree.ts';
import { parsePrinted } from './reply-object.ts';
import { applyStopCap } from './stop-cap.ts';

/**
 * Decodes a handler's exit code, stdout and stderr, or the fault in their place. Throws faults that no rule
 * lets pass, and REPLY_MALFORMED. Source: the hooks reference, "Exit code output" and "JSON output".
 */
export function decode(
  entry: HookEntry<ClaudeSettings>,
  question: Question,
  reply: Reply | RuntimeError,
): Decoded<Answer> {
  const asked = toHookQuestion(entry, question);
  if (reply instanceof RuntimeError) return withEnvFile(question, readFault(asked, reply));
  if (reply.via === 'rpc') throw malformed('a Claude Code hook is no server');
  return withEnvFile(question, applyStopCap(asked, withReason(asked, readReply(asked, reply))));
}

function readReply(asked: HookQuestion, reply: ProcessReply): Decoded<Answer> {
  if (asked.question.point === 'WorktreeCreate') return readWorktree(asked, reply);
  return reply.httpStatus === undefined ? readProcess(asked, reply) : readHttp(asked, reply);
}

function readProcess(asked: HookQuestion, reply: ProcessReply): Decoded<Answer> {
  const { exitCode, signal } = reply;
  const printed = parsePrinted(reply.stdout);
  const blocked = exitCode === 2 ? readExit2(reply) : undefined;
  if (printed.kind === 'object') return readObject(asked, printed.output, blocked);
  if (blocked !== undefined) return decoded(block(asked, blocked.message), noteExit2(asked.rule, blocked));
  if (exitCode !== 0) {
    const what = signal === null ? `exited with code ${exitCode}` : `was ended by ${signal}`;
    return letPass(asked, { cause: 'claude.exit_other', what });
  }
  switch (printed.kind) {
    case 'nothing':
      return decoded(noDecision(asked));
    case 'bad_json':
      return readInvalidJson(asked, printed.text);
    case 'text':
      return readText(asked, printed.text);
  }
}

/**
 * The answer for a truncated or invalid JSON object, which may have been a denial; it may count as plain
 * text.
 */
function readInvalidJson(asked: HookQuestion, text: string): Decoded<Answer> {
  const what = 'printed what begins as a JSON object and is none';
  // An object that is only wrong within was never meant for the model.
  const isText = asked.rule.takesText === true && !text.endsWith('}');
  return letPass(asked, { cause: 'claude.bad_json', what }, isText ? [text] : []);
}

/** Text is for the model at some events, for the log at the others. */
function readText(asked: HookQuestion, text: string): Decoded<Answer> {
  const context = asked.rule.takesText === true ? [text] : [];
  if (/\n\{/.test(text)) {
    const what = 'printed text before what may be its JSON answer';
    return letPass(asked, { cause: 'claude.text_before_json', what }, context);
  }
  const message = `stdout: ${excerpt(text)}`;
  return decoded(noDecision(asked, { context }), [{ level: 'debug', message }]);
}
