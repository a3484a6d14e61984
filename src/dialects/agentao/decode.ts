import { RuntimeError } from '../../base/errors.ts';
import type { Reply } from '../../contract/exchange.ts';
import { type Answer, answers } from '../../contract/hook.ts';
import { type Body, nonNull, objectAt } from '../body.ts';
import { type Decoded, decoded, type Note } from '../dialect.ts';
import type { HookEntry, Question } from '../foreign-dialect.ts';
import type { AgentaoSettings } from './config/settings.ts';
import { type PointName, requirePoint } from './points.ts';
import {
  findEmbeddedObjects,
  isTruncatedObject,
  noteTextBesideJson,
  type ProcessOutput,
  readProcessOutput,
} from './process-output.ts';
import { readAfter, readStart, readTool } from './read/tool.ts';
import { readPrompt, readStop } from './read/turn.ts';
import { findRepeatedKey } from './reply-fields.ts';
import {
  type HookQuestion,
  isObserveOnly,
  readExitFailure,
  readFault,
  readInvalidJson,
  ruleResultIn,
} from './rule-result.ts';

type Reader = (asked: HookQuestion, processOutput: ProcessOutput) => Decoded<Answer>;

const readers: Readonly<Record<PointName, Reader>> = {
  UserPromptSubmit: readPrompt,
  SessionStart: readStart,
  SessionEnd: readObserver,
  PreToolUse: readTool,
  PostToolUse: readAfter,
  PostToolUseFailure: readAfter,
  Stop: readStop,
  PreCompact: readObserver,
};

/**
 * Decodes a rule's reply, or the fault in its place, at its point. Throws REPLY_MALFORMED for unknown
 * verdicts.
 */
export function decode(
  entry: HookEntry<AgentaoSettings>,
  question: Question,
  reply: Reply | RuntimeError,
): Decoded<Answer> {
  const asked = { entry, question };
  if (reply instanceof RuntimeError) return readFault(asked, reply);
  const point = requirePoint(question.point);
  const processOutput = readProcessOutput(reply);
  if (isObserveOnly(point)) return readObserver(asked, processOutput);
  const denial = processOutput.body === undefined ? findDenial(point, asked, processOutput) : undefined;
  if (denial !== undefined) return denial;
  const { output, notes } = readers[point](asked, processOutput);
  if (processOutput.body !== undefined)
    return decoded(output, [...notes, ...noteMisplacedDecision(point, processOutput.body, output)]);
  // A truncated object may have been a denial.
  if (isTruncatedObject(processOutput) && output.verdict === 'allow')
    return readInvalidJson(asked, decoded(output, notes));
  return decoded(output, [...notes, ...noteTextBesideJson(processOutput)]);
}

/** Finds a denial in a known spelling among other text on stdout; undefined when there is none. */
function findDenial(
  point: PointName,
  asked: HookQuestion,
  processOutput: ProcessOutput,
): Decoded<Answer> | undefined {
  // Exit code 2 comes before all that a Stop rule prints, and nothing stops a session's start.
  if ((point === 'Stop' && processOutput.exitCode === 2) || point === 'SessionStart') return undefined;
  for (const body of findEmbeddedObjects(processOutput)) {
    if (findRepeatedKey(body) !== undefined) return readers[point](asked, { ...processOutput, body });
    const denial = readKnown(point, asked, {
      ...processOutput,
      body,
      text: body.json.text,
      failure: undefined,
    });
    if (denial === undefined || !isDenial(denial.output)) continue;
    const message = 'its denial counts, though it does not stand alone on stdout: print one JSON object';
    return decoded(denial.output, [...denial.notes, { level: 'warn', message }]);
  }
  return undefined;
}

/** Reads an object that may be a log line: undefined when it is REPLY_MALFORMED. */
function readKnown(
  point: PointName,
  asked: HookQuestion,
  processOutput: ProcessOutput,
): Decoded<Answer> | undefined {
  try {
    return readers[point](asked, processOutput);
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'REPLY_MALFORMED') return undefined;
    throw error;
  }
}

/** Whether the answer denies or aborts, or forces a further turn at Stop. */
function isDenial(answer: Answer): boolean {
  if (answer.verdict === 'deny' || answer.verdict === 'abort') return true;
  return ruleResultIn(answer)['force_continue'] === true;
}

/** Decodes an observer's reply: always an allow, with the failure if the process failed. */
function readObserver(asked: HookQuestion, processOutput: ProcessOutput): Decoded<Answer> {
  if (processOutput.failure !== undefined) return readExitFailure(asked, processOutput.failure);
  return decoded(answers.allow());
}

const camel = 'permissionDecision';
const snake = 'permission_decision';

/** A warning about a permission decision under a key or at a point where it has no effect. */
function noteMisplacedDecision(point: string, body: Body, { verdict }: Answer): readonly Note[] {
  if (verdict === 'deny' || verdict === 'abort') return [];
  const key = findMisplacedKey(point, body);
  if (key === undefined) return [];
  const right =
    point === 'PreToolUse'
      ? 'write `{"hookSpecificOutput": {"permissionDecision": …}}`'
      : `${point} knows no permission, what denies there is \`{"blockingError": …}\``;
  return [{ level: 'warn', message: `its \`${key}\` has no effect: ${right}` }];
}

function findMisplacedKey(point: string, body: Body): string | undefined {
  const read = point === 'PreToolUse' ? [snake] : [camel, snake];
  const places: readonly (readonly [container: string | undefined, keys: readonly string[]])[] = [
    [undefined, [camel, snake]],
    ['hook_specific_output', [camel, snake]],
    ['hookSpecificOutput', read],
  ];
  for (const [container, keys] of places) {
    const members = container === undefined ? body : objectAt(body, container);
    const key = keys.find((each) => nonNull(members?.get(each)) !== undefined);
    if (key !== undefined) return container === undefined ? key : `${container}.${key}`;
  }
  return undefined;
}
