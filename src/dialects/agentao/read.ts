import type { AgentaoSettings } from '../../config/foreign.ts';
import { type Answer, answers } from '../../contract/hook.ts';
import { RuntimeError } from '../../errors.ts';
import type { Reply } from '../../transport/transport.ts';
import { type Decoded, decoded } from '../dialect.ts';
import type { Question, Seat } from '../foreign.ts';
import { isDeaf, readBadExit, readBadJson, readFault } from './failure.ts';
import { findTwice } from './fields.ts';
import { objectsIn } from './objects-in.ts';
import { type PointName, requirePoint } from './points.ts';
import { readAfter } from './read/after.ts';
import { readPrompt } from './read/prompt.ts';
import { readStart } from './read/start.ts';
import { readStop } from './read/stop.ts';
import { readTool } from './read/tool.ts';
import type { Asked } from './record.ts';
import { isCutOff, type Left, noteOnText, readLeft } from './reply.ts';
import { saidIn } from './said.ts';
import { notesOnStray } from './stray.ts';

type Reader = (asked: Asked, left: Left) => Decoded<Answer>;

const readers: Readonly<Record<PointName, Reader>> = {
  UserPromptSubmit: readPrompt,
  SessionStart: readStart,
  SessionEnd: readDeaf,
  PreToolUse: readTool,
  PostToolUse: readAfter,
  PostToolUseFailure: readAfter,
  Stop: readStop,
  PreCompact: readDeaf,
};

/** What a rule's reply, or the failure in its place, means at its point. Throws REPLY_MALFORMED for unknown verdicts. */
export function read(
  seat: Seat<AgentaoSettings>,
  question: Question,
  reply: Reply | RuntimeError,
): Decoded<Answer> {
  const asked = { seat, question };
  if (reply instanceof RuntimeError) return readFault(asked, reply);
  const point = requirePoint(question.point);
  const left = readLeft(reply);
  if (isDeaf(point)) return readDeaf(asked, left);
  const denial = left.body === undefined ? findDenial(point, asked, left) : undefined;
  if (denial !== undefined) return denial;
  const { output, notes } = readers[point](asked, left);
  if (left.body !== undefined) return decoded(output, [...notes, ...notesOnStray(point, left.body, output)]);
  // What was cut off may have been a denial.
  if (isCutOff(left) && output.verdict === 'allow') return readBadJson(asked, decoded(output, notes));
  return decoded(output, [...notes, ...noteOnText(left)]);
}

/** A denial in a known spelling counts wherever it stands; all else among other text is text. */
function findDenial(point: PointName, asked: Asked, left: Left): Decoded<Answer> | undefined {
  // Exit code 2 comes before all that a Stop rule prints, and nothing stops a session's start.
  if ((point === 'Stop' && left.exitCode === 2) || point === 'SessionStart') return undefined;
  for (const body of objectsIn(left)) {
    if (findTwice(body) !== undefined) return readers[point](asked, { ...left, body });
    const said = readKnown(point, asked, { ...left, body, text: body.json.text, failure: undefined });
    if (said === undefined || !isDenial(said.output)) continue;
    const message = 'its denial counts, though it does not stand alone on stdout: print one JSON object';
    return decoded(said.output, [...said.notes, { level: 'warn', message }]);
  }
  return undefined;
}

/** Undefined for words that nobody knows: what is no answer may be a line of a log. */
function readKnown(point: PointName, asked: Asked, left: Left): Decoded<Answer> | undefined {
  try {
    return readers[point](asked, left);
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'REPLY_MALFORMED') return undefined;
    throw error;
  }
}

/** A modify at Stop is a block; a changed result or argument is none. */
function isDenial(answer: Answer): boolean {
  if (answer.verdict === 'deny' || answer.verdict === 'abort') return true;
  return saidIn(answer)['force_continue'] === true;
}

/** Nothing that is said where hooks are only told has an effect. */
function readDeaf(asked: Asked, left: Left): Decoded<Answer> {
  if (left.failure !== undefined) return readBadExit(asked, left.failure, left);
  return decoded(answers.allow());
}
