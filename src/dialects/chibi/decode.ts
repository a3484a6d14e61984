import type { ProcessReply, Reply } from '../../contract/exchange.ts';
import { type Answer, answers } from '../../contract/hook.ts';
import { RuntimeError, toFault } from '../../errors.ts';
import { isObject, Json } from '../../json/json.ts';
import { describeExit, exitError, malformed, toBody } from '../body.ts';
import { type Decoded, decoded } from '../dialect.ts';
import { failOpen } from '../failed-open.ts';
import type { HookEntry, Question } from '../foreign-dialect.ts';
import { decodePrinted } from '../printed.ts';
import type { ChibiSettings } from './config/settings.ts';
import { requirePoint } from './points.ts';
import { readObject } from './read-object.ts';

type ChibiEntry = HookEntry<ChibiSettings>;

/**
 * Decodes a plugin's reply, or the fault in its place. A crash, and output that is no JSON object, pass as in
 * chibi; a plugin that could not be started or timed out aborts the turn. Source: execute_hook in
 * tools/hooks.rs.
 */
export function decode(entry: ChibiEntry, question: Question, reply: Reply | RuntimeError): Decoded<Answer> {
  const { isFilter } = requirePoint(question.point);
  if (!isFilter) return readObserver(question.point, reply);
  if (reply instanceof RuntimeError) return decoded(abortFor(entry, question, reply));
  if (reply.via === 'rpc') throw malformed('a chibi plugin is started anew for each call');
  return readOutput(entry, question, reply);
}

/** The answer of an observer: always an allow, with a warning when the plugin failed. */
function readObserver(point: string, reply: Reply | RuntimeError): Decoded<Answer> {
  const problem = reply instanceof RuntimeError ? reply.message : describeCrash(reply);
  if (problem === undefined) return decoded(answers.allow());
  const message = `${point} told it, and it failed: ${problem}`;
  return decoded(answers.allow(), [{ level: 'warn', message }]);
}

function abortFor({ name, settings }: ChibiEntry, { point }: Question, error: RuntimeError): Answer {
  const what = `hook ${point} on ${settings.tool || name}`;
  const fault = { error: toFault(error) };
  switch (error.code) {
    case 'PROCESS_START':
      return answers.abort(`Failed to spawn ${what}: ${error.message}`, 'turn', fault);
    case 'PROCESS_TIMEOUT':
      return answers.abort(`Failed to execute ${what}: ${timedOut(error)}: ${what}`, 'turn', fault);
    default:
      return answers.abort(`Failed to execute ${what}: ${error.message}`, 'turn', fault);
  }
}

function timedOut({ details }: RuntimeError): string {
  const { timeout_ms: limit } = details;
  return typeof limit === 'number' ? `Timed out after ${limit / 1000}s` : 'Timed out';
}

function readOutput(entry: ChibiEntry, question: Question, reply: ProcessReply): Decoded<Answer> {
  const crash = describeCrash(reply);
  if (crash !== undefined) {
    const error = exitError(reply, `the process ${crash}`);
    return failOpen(entry, { cause: 'chibi.exit_nonzero', what: crash, error });
  }
  const text = decodePrinted(reply.stdout).text.trim();
  if (text === '') return failOpen(entry, { cause: 'chibi.empty', what: 'printed nothing' });
  const json = new Json(text);
  const value = parse(json);
  if (value === undefined) {
    return failOpen(entry, {
      cause: 'chibi.not_json',
      what: 'printed something else than one JSON document',
    });
  }
  if (!isObject(value)) return failOpen(entry, { cause: 'chibi.no_object', what: 'printed no JSON object' });
  return readObject(entry, question, toBody(json));
}

/** How a process ended that did not end well; undefined for one that did. */
function describeCrash(reply: Reply): string | undefined {
  if (reply.via === 'rpc') return 'answered like a server';
  return reply.exitCode === 0 && reply.signal === null ? undefined : describeExit(reply);
}

/** The parsed value; undefined when the text is not JSON. */
function parse(json: Json): unknown {
  try {
    return json.value;
  } catch {
    return undefined;
  }
}
