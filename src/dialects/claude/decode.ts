import { stripVTControlCharacters } from 'node:util';
import { RuntimeError, toFault } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { membersOf } from '../../base/json/scan.ts';
import type { ProcessReply, Reply } from '../../contract/exchange.ts';
import { type Answer, answers } from '../../contract/hook.ts';
import { type Body, describeExit, excerpt, malformed, toBody } from '../body.ts';
import { type Decoded, decoded, type Note } from '../dialect.ts';
import type { HookEntry, Question } from '../foreign-dialect.ts';
import { typeOf, valueAt } from '../payload-table.ts';
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
import { outputFields } from './points.ts';
import {
  type Blocked,
  denyAs,
  extrasOf,
  findReplyFault,
  findWrongType,
  isSuccess,
  joinVerdicts,
  noteExit2,
  noteMisplacedDecision,
  type ParsedReply,
  parsePrinted,
  type ReplyObject,
  type ReplyVerdict,
  readExit2,
  textAt,
  uniqueMember,
  unknownVerdict,
  verdictOfDecision,
  verdictOfPermission,
} from './reply-object.ts';

/**
 * Throws REPLY_MALFORMED, and errors that no rule lets pass. Source: the hooks reference, "Exit code output" and "JSON
 * output".
 */
export function decode(
  entry: HookEntry<ClaudeSettings>,
  question: Question,
  reply: Reply | RuntimeError,
): Decoded<Answer> {
  const asked = toHookQuestion(entry, question);
  if (reply instanceof RuntimeError) return withEnvFile(question, readFault(asked, reply));
  if (reply.via === 'rpc') throw malformed('a Claude Code hook is not a server');
  const read =
    question.point === 'WorktreeCreate'
      ? readWorktree
      : reply.httpStatus === undefined
        ? readProcess
        : readHttp;
  return withEnvFile(question, applyStopCap(asked, withReason(asked, read(asked, reply))));
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

/** A truncated or invalid JSON object may have been a denial. It may also count as plain text. */
function readInvalidJson(asked: HookQuestion, text: string): Decoded<Answer> {
  const what = 'printed something that begins like a JSON object but is not one';
  // An object with an error inside was not meant as text for the model.
  const isText = asked.rule.takesText === true && !text.endsWith('}');
  return letPass(asked, { cause: 'claude.bad_json', what }, isText ? [text] : []);
}

function readText(asked: HookQuestion, text: string): Decoded<Answer> {
  const context = asked.rule.takesText === true ? [text] : [];
  if (/\n\{/.test(text)) {
    const what = 'printed text before what may be its JSON answer';
    return letPass(asked, { cause: 'claude.text_before_json', what }, context);
  }
  const message = `stdout: ${excerpt(text)}`;
  return decoded(noDecision(asked, { context }), [{ level: 'debug', message }]);
}

/** Only the JSON of a 2xx can decide. Source: the hooks reference, "HTTP response handling". */
function readHttp(asked: HookQuestion, { httpStatus = 0, stdout }: ProcessReply): Decoded<Answer> {
  if (!isSuccess(httpStatus)) {
    return letPass(asked, { cause: 'claude.http_error', what: `answered with HTTP status ${httpStatus}` });
  }
  const printed = parsePrinted(stdout);
  if (printed.kind === 'nothing') return decoded(noDecision(asked));
  if (printed.kind === 'object') return readObject(asked, printed.output, undefined);
  const what = `answered HTTP status ${httpStatus} with a body that is not a JSON object`;
  return letPass(asked, { cause: 'claude.http_error', what });
}

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
    return { cause: 'claude.http_error', what: `could not be reached (${message})` };
  }
  if (code === 'PROCESS_START') return { cause: 'claude.spawn', what: `could not be started (${message})` };
  return undefined;
}

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
  if (fault !== undefined)
    notes.push({ level: 'warn', message: `it ${fault}; only the parts that stop count` });
  const finalAnswer = answer ?? noDecision(asked, beside);
  return decoded(finalAnswer, [...notes, ...noteMisplacedDecision(asked, output, finalAnswer)]);
}

/** `continue: false` ends the turn and overrides every decision. */
function readHalt({ rule, entry }: HookQuestion, { output, beside }: ParsedReply): Answer | undefined {
  if (rule.ignoresContinue || rule.isObserveOnly || entry.settings.isAsync) return undefined;
  const isHalt = output.body.members.some(
    ({ key, start, end }) => key === 'continue' && output.body.json.text.slice(start, end) === 'false',
  );
  return isHalt ? answers.abort(textAt(output.body, 'stopReason'), 'turn', beside) : undefined;
}

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

function readWorktree(asked: HookQuestion, reply: ProcessReply): Decoded<Answer> {
  const { httpStatus, exitCode, stderr, stdout } = reply;
  if (httpStatus !== undefined && !isSuccess(httpStatus)) {
    return decoded(answers.deny(`it answered with HTTP status ${httpStatus}`));
  }
  if (httpStatus === undefined && exitCode !== 0) {
    return decoded(answers.deny(stderr.trim() === '' ? `it ${describeExit(reply)}` : stderr.trim()));
  }
  const printed = parsePrinted(stdout);
  if (printed.kind === 'object') {
    const { body, specific } = printed.output;
    if (body.get('continue')?.value === false) {
      return decoded(answers.abort(textAt(body, 'stopReason'), 'turn'));
    }
    const fault = findReplyFault(asked.question.point, asked.rule, printed.output);
    return decoded(
      fault === undefined ? toPath(textAt(specific, 'worktreePath')) : answers.deny(`it ${fault}`),
    );
  }
  const hasText = printed.kind === 'text' || (printed.kind === 'bad_json' && !printed.text.endsWith('}'));
  if (!hasText || httpStatus !== undefined) return decoded(toPath(''));
  const lines = stripVTControlCharacters(printed.text).split('\n');
  return decoded(toPath(lines.findLast((line) => line.trim() !== '')?.trim() ?? ''));
}

function toPath(path: string): Answer {
  if (path === '') return answers.deny('it named no path');
  const isAbsolute = path.startsWith('/');
  const hasDots = path.split('/').some((part) => part === '.' || part === '..');
  return isAbsolute && hasDots
    ? answers.deny(`its path has "." or "..": ${path}`)
    : answers.respond({ path });
}

const words: Readonly<Record<string, readonly string[]>> = {
  PreToolUse: ['allow', 'deny', 'ask', 'defer'],
  PreSkillShellCommand: ['allow', 'deny', 'ask', 'defer'],
  PreModelSwitch: ['allow', 'deny', 'ask'],
};

function readTool(asked: HookQuestion, parsed: ParsedReply): Answer | undefined {
  const { blocked, beside, fault } = parsed;
  const replyVerdict = replyVerdictOf(asked, parsed);
  if (blocked !== undefined) {
    const hasReason =
      replyVerdict.verdict === 'deny' && replyVerdict.isUnknown !== true && replyVerdict.reason !== '';
    return block(asked, hasReason ? replyVerdict.reason : blocked.message, beside);
  }
  if (asked.question.point === 'PreSkillShellCommand') return readSkillCommand(replyVerdict, parsed);
  const args = asked.question.point === 'PreToolUse' ? inputOf(parsed) : undefined;
  const rewrite = fault === undefined && args !== undefined ? { args } : undefined;
  switch (replyVerdict.verdict) {
    case 'deny':
      return denyAs(replyVerdict, beside);
    case 'defer':
      return answers.ask(replyVerdict.reason, { metadata: withSource(asked, parsed, { deferred: true }) });
    case 'ask': {
      const replace = rewrite && { replace: Json.from(rewrite) };
      return answers.ask(replyVerdict.reason, {
        ...beside,
        ...replace,
        metadata: withSource(asked, parsed, {}),
      });
    }
    default: {
      if (fault !== undefined) return undefined;
      const extras = { ...beside, reason: replyVerdict.reason };
      return rewrite === undefined ? answers.allow(extras) : answers.modify(rewrite, extras);
    }
  }
}

/** A skill's command cannot be changed, and no person can approve it. Anything but a plain allowance stops it. */
function readSkillCommand({ verdict, reason }: ReplyVerdict, parsed: ParsedReply): Answer | undefined {
  const { beside, fault } = parsed;
  if (verdict === 'deny' || verdict === 'ask' || verdict === 'defer') return answers.deny(reason, beside);
  if (inputOf(parsed) !== undefined) return answers.deny('its `updatedInput` cannot be applied here', beside);
  return fault === undefined ? answers.allow({ ...beside, reason }) : undefined;
}

function replyVerdictOf({ rule, question }: HookQuestion, { output }: ParsedReply): ReplyVerdict {
  const isTool = question.point === 'PreToolUse';
  const newer = verdictOfPermission(output.specific, words[question.point] ?? []);
  const older = verdictOfDecision(rule, output);
  const counts = isTool || question.point === 'PreSkillShellCommand' || older.verdict !== 'allow';
  const replyVerdict = joinVerdicts(newer, counts ? older : { verdict: 'none', reason: '' });
  if (!isTool || replyVerdict.verdict === 'deny' || replyVerdict.verdict === 'defer') return replyVerdict;
  const args = inputOf({ output });
  if (args === undefined || isObject(args.value)) return replyVerdict;
  return { verdict: 'deny', reason: 'its `updatedInput` is not an object', isUnknown: true };
}

function inputOf({ output: { specific } }: Pick<ParsedReply, 'output'>): Json | undefined {
  return specific && uniqueMember(specific, 'updatedInput');
}

function withSource(
  { entry }: HookQuestion,
  { beside: { metadata } }: ParsedReply,
  more: Readonly<Record<string, unknown>>,
): Json {
  return Json.from({
    ...(metadata && membersOf(metadata)),
    ...more,
    ...(entry.source !== undefined && { source: entry.source }),
  });
}

/** Undefined leaves the decision to the person, as do exit code 2 and no decision. */
function readPermission(
  _asking: HookQuestion,
  { output, beside, ...answered }: ParsedReply,
): Answer | undefined {
  const given = output.specific && uniqueMember(output.specific, 'decision');
  if (given === undefined) return undefined;
  if (!isObject(given.value)) return denyAs(unknownVerdict('decision', given.text), beside);
  const decision = toBody(given);
  const behavior = uniqueMember(decision, 'behavior');
  // Permission updates are recorded but not applied.
  const updatedPermissions = decision.get('updatedPermissions');
  const metadata = Json.from({
    ...(beside.metadata && membersOf(beside.metadata)),
    ...(updatedPermissions && { updatedPermissions }),
  });
  const extras = { ...beside, metadata };
  switch (behavior?.value) {
    case 'deny': {
      const message = textAt(decision, 'message');
      return decision.get('interrupt')?.value === true
        ? answers.abort(message, 'turn', extras)
        : answers.deny(message, extras);
    }
    case 'allow': {
      const isFit = answered.fault === undefined && answered.blocked === undefined;
      return isFit ? readApproval(decision, extras) : undefined;
    }
    default:
      return denyAs(unknownVerdict('behavior', behavior?.text ?? 'none'), extras);
  }
}

function readApproval(decision: Body, extras: ParsedReply['beside']): Answer {
  const args = uniqueMember(decision, 'updatedInput');
  const wrong = findWrongType(decision, { updatedInput: 'object', interrupt: 'flag' });
  if (wrong !== undefined) return answers.deny(`it ${wrong}`, extras);
  return args === undefined ? answers.allow(extras) : answers.modify({ args }, extras);
}

function readDecision(asked: HookQuestion, parsed: ParsedReply): Answer | undefined {
  const { beside, fault } = parsed;
  const replyVerdict = verdictOfDecision(asked.rule, parsed.output);
  const replaced = readReplacement(asked, parsed);
  if (replaced?.verdict === 'deny') return replaced;
  const blocking = blockOf(asked, parsed, replyVerdict);
  if (blocking === undefined) return fault === undefined ? replaced : undefined;
  if (replaced?.verdict !== 'modify' || fault !== undefined) return blocking;
  return answers.modify(replaced.replace, {
    ...beside,
    ...(blocking.context && { context: blocking.context }),
  });
}

function blockOf(
  asked: HookQuestion,
  { blocked, beside }: ParsedReply,
  replyVerdict: ReplyVerdict,
): Answer | undefined {
  const isBlock = replyVerdict.verdict === 'deny' && replyVerdict.isUnknown !== true;
  if (blocked !== undefined) {
    return block(
      asked,
      isBlock && replyVerdict.reason !== '' ? replyVerdict.reason : blocked.message,
      beside,
    );
  }
  if (isBlock) return block(asked, replyVerdict.reason, beside);
  // An unknown word denies if the event can block; else it violates the schema.
  const { rule, entry } = asked;
  const canBlock = rule.block !== 'none' && rule.block !== 'beside' && !entry.settings.isAsync;
  return replyVerdict.isUnknown && canBlock ? denyAs(replyVerdict, beside) : undefined;
}

function readReplacement(asked: HookQuestion, parsed: ParsedReply): Answer | undefined {
  const { specific } = parsed.output;
  const { replaces = {} } = asked.rule;
  const given = Object.keys(replaces).flatMap((key): [string, Json][] => {
    const value = specific && uniqueMember(specific, key);
    return value === undefined || (key === 'retry' && value.value !== true) ? [] : [[key, value]];
  });
  const [first] = given;
  if (first === undefined || parsed.fault !== undefined) return undefined;
  const [key, value] = first;
  if (!outputFields.some((field) => field === key)) {
    return answers.modify(Object.fromEntries(given), parsed.beside);
  }
  const isFit = typeof value.value === 'string' || typeOf(value.value) === typeOf(oldResult(asked));
  if (isFit) return answers.modify({ content: value }, parsed.beside);
  const reason = `its \`${key}\` is neither a string nor of the type of the result`;
  return denyAs({ reason, isUnknown: true }, parsed.beside);
}

function oldResult({ question: { payload, point } }: HookQuestion): unknown {
  return valueAt(payload, point === 'PostToolUse' ? 'tool_response' : 'error');
}
