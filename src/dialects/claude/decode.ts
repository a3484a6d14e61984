import { stripVTControlCharacters } from 'node:util';
import { RuntimeError, toFault } from '../../base/errors.ts';
import type { ProcessReply, Reply } from '../../contract/exchange.ts';
import { type Answer, answers } from '../../contract/hook.ts';
import { describeExit, excerpt, malformed } from '../body.ts';
import { type Decoded, decoded, type Note } from '../dialect.ts';
import type { HookEntry, Question } from '../foreign-dialect.ts';
import type { ClaudeSettings } from './config/settings.ts';
import { withEnvFile } from './encode.ts';
import {
  applyStopCap,
  block,
  type HookQuestion,
  letPass,
  noDecision,
  toHookQuestion,
  withReason,
} from './hook-question.ts';
import { readDecision, readPermission, readTool } from './read.ts';
import {
  type Blocked,
  denyAs,
  extrasOf,
  findReplyFault,
  isSuccess,
  noteExit2,
  noteMisplacedDecision,
  type ParsedReply,
  parsePrinted,
  type ReplyObject,
  readExit2,
  textAt,
  uniqueMember,
  unknownVerdict,
} from './reply-object.ts';

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
  const { exitCode } = reply;
  const printed = parsePrinted(reply.stdout);
  const blocked = exitCode === 2 ? readExit2(reply) : undefined;
  if (printed.kind === 'object') return readObject(asked, printed.output, blocked);
  if (blocked !== undefined) return decoded(block(asked, blocked.message), noteExit2(asked.rule, blocked));
  if (exitCode !== 0) return letPass(asked, { cause: 'claude.exit_other', what: describeExit(reply) });
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

/** An HTTP handler's answer: only the JSON of a 2xx can decide. Source: the hooks reference, "HTTP response handling". */
function readHttp(asked: HookQuestion, { httpStatus = 0, stdout }: ProcessReply): Decoded<Answer> {
  if (!isSuccess(httpStatus)) {
    return letPass(asked, { cause: 'claude.http_error', what: `answered with HTTP status ${httpStatus}` });
  }
  const printed = parsePrinted(stdout);
  if (printed.kind === 'nothing') return decoded(noDecision(asked));
  if (printed.kind === 'object') return readObject(asked, printed.output, undefined);
  const what = `answered HTTP status ${httpStatus} with a body that is no JSON object`;
  return letPass(asked, { cause: 'claude.http_error', what });
}

/**
 * The answer for a fault in the place of a reply. Throws the fault where no rule of Claude Code lets it pass.
 */
function readFault(asked: HookQuestion, error: RuntimeError): Decoded<Answer> {
  const failure = failureOf(error);
  const { point } = asked.question;
  if (failure === undefined || point === 'WorktreeCreate') throw error;
  if (point === 'PreModelSwitch' && failure.cause !== 'claude.http_error') {
    const reason = `hook "${asked.entry.name}" ${failure.what}`;
    return decoded(answers.deny(reason, { error: toFault(error) }));
  }
  return letPass(asked, { ...failure, error });
}

function failureOf({ code, message, details }: RuntimeError) {
  const isHttp = details['http'] === true;
  if (code === 'PROCESS_TIMEOUT') return { cause: 'claude.timeout', what: 'did not answer in time' };
  if (isHttp && (code === 'PROCESS_START' || code === 'REPLY_MALFORMED')) {
    return { cause: 'claude.http_error', what: `could not be asked (${message})` };
  }
  if (code === 'PROCESS_START') return { cause: 'claude.spawn', what: `could not be started (${message})` };
  return undefined;
}

/** Decodes a JSON reply, which counts whatever the exit code. */
function readObject(asked: HookQuestion, output: ReplyObject, blocked: Blocked | undefined): Decoded<Answer> {
  const { rule, question } = asked;
  const fault = findReplyFault(question.point, rule, output);
  const { beside, notes: extraNotes } =
    fault === undefined ? extrasOf(asked, output) : { beside: {}, notes: [] };
  const parsed = { output, blocked, fault, beside };
  const notes: Note[] = [...extraNotes, ...noteExit2(rule, blocked)];
  const answer = readHalt(asked, parsed) ?? readVerdict(asked, parsed);
  if (answer === undefined && fault !== undefined) {
    return letPass(asked, { cause: 'claude.bad_schema', what: fault });
  }
  if (fault !== undefined) notes.push({ level: 'warn', message: `it ${fault}; only what stops counts` });
  const finalAnswer = answer ?? noDecision(asked, beside);
  return decoded(finalAnswer, [...notes, ...noteMisplacedDecision(asked, output, finalAnswer)]);
}

/** `continue: false` ends the turn and beats every decision. */
function readHalt({ rule, entry }: HookQuestion, { output, beside }: ParsedReply): Answer | undefined {
  if (rule.ignoresContinue || rule.isObserveOnly || entry.settings.isAsync) return undefined;
  const isHalt = output.body.members.some(
    ({ key, start, end }) => key === 'continue' && output.body.json.text.slice(start, end) === 'false',
  );
  return isHalt ? answers.abort(textAt(output.body, 'stopReason'), 'turn', beside) : undefined;
}

/** The verdict by the rule of the event; undefined when the reply decides nothing. */
function readVerdict(asked: HookQuestion, answered: ParsedReply): Answer | undefined {
  switch (asked.rule.verdict) {
    case 'permissionDecision':
      return readTool(asked, answered);
    case 'decision':
      return readPermission(asked, answered);
    case 'action':
      return readElicitation(asked, answered);
    default:
      return readDecision(asked, answered);
  }
}

/** Reads `action` and `content` at the Elicitation events; undefined when the handler decides nothing. */
function readElicitation(asked: HookQuestion, parsed: ParsedReply): Answer | undefined {
  const { output, blocked, fault, beside } = parsed;
  if (blocked !== undefined) return block(asked, blocked.message, beside);
  const action = output.specific && uniqueMember(output.specific, 'action');
  if (action === undefined) return undefined;
  const content = output.specific?.get('content');
  switch (action.value) {
    case 'decline':
    case 'cancel':
    case 'accept': {
      if (action.value === 'accept' && fault !== undefined) return undefined;
      const given = content === undefined || fault !== undefined ? {} : { content };
      return answers.respond({ action: action.value, ...given }, beside);
    }
    default:
      return denyAs(unknownVerdict('action', action.text), beside);
  }
}

/**
 * Decodes a reply at WorktreeCreate: the handler creates the worktree and prints its path; all else denies.
 */
function readWorktree(asked: HookQuestion, reply: ProcessReply): Decoded<Answer> {
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
  if (printed.kind === 'object') return readWorktreeObject(asked, printed.output);
  const hasText = printed.kind === 'text' || (printed.kind === 'bad_json' && !printed.text.endsWith('}'));
  return toPath(hasText && httpStatus === undefined ? lastLine(printed.text) : '');
}

function readWorktreeObject({ question, rule }: HookQuestion, output: ReplyObject): Answer {
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
