import type { ChibiSettings } from '../../config/foreign.ts';
import { type Answer, answers } from '../../contract/hook.ts';
import { RuntimeError, toFault } from '../../errors.ts';
import { isObject, Json } from '../../json/json.ts';
import type { ProcessReply, Reply } from '../../transport/transport.ts';
import { malformed, toBody } from '../body.ts';
import { type Decoded, decoded } from '../dialect.ts';
import { failOpen } from '../failed-open.ts';
import type { Question, Seat } from '../foreign.ts';
import { decodePrinted } from '../printed.ts';
import { requirePoint } from './points.ts';
import { readObject } from './read/object.ts';

type ChibiSeat = Seat<ChibiSettings>;

/**
 * What a plugin's reply means at its point. A crash and anything but an object pass, as chibi lets them; what could
 * not be run at all, or not to its end, ends the turn. Source: execute_hook in tools/hooks.rs.
 */
export function read(seat: ChibiSeat, question: Question, reply: Reply | RuntimeError): Decoded<Answer> {
  const { isAsked } = requirePoint(question.point);
  if (!isAsked) return readTold(question.point, reply);
  if (reply instanceof RuntimeError) return decoded(abortFor(seat, question, reply));
  if (reply.via === 'rpc') throw malformed('a chibi plugin is started anew for each call');
  return readPrinted(seat, question, reply);
}

/** Nobody waits for what a told plugin says; that it failed is worth a warning. */
function readTold(point: string, reply: Reply | RuntimeError): Decoded<Answer> {
  const problem = reply instanceof RuntimeError ? reply.message : crashOf(reply);
  if (problem === undefined) return decoded(answers.allow());
  const message = `${point} told it, and it failed: ${problem}`;
  return decoded(answers.allow(), [{ level: 'warn', message }]);
}

function abortFor({ name, settings }: ChibiSeat, { point }: Question, error: RuntimeError): Answer {
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

function readPrinted(seat: ChibiSeat, question: Question, reply: ProcessReply): Decoded<Answer> {
  const crash = crashOf(reply);
  if (crash !== undefined) {
    const { exitCode: exit_code, signal, stderr } = reply;
    const error = new RuntimeError(
      signal === null ? 'PROCESS_EXIT' : 'PROCESS_SIGNAL',
      `the process ${crash}`,
      {
        details: { exit_code, signal, stderr },
      },
    );
    return failOpen(seat, { cause: 'chibi.exit_nonzero', what: crash, error });
  }
  const text = decodePrinted(reply.stdout).text.trim();
  if (text === '') return failOpen(seat, { cause: 'chibi.empty', what: 'printed nothing' });
  const json = new Json(text);
  const value = parse(json);
  if (value === undefined) {
    return failOpen(seat, { cause: 'chibi.not_json', what: 'printed something else than one JSON document' });
  }
  if (!isObject(value)) return failOpen(seat, { cause: 'chibi.no_object', what: 'printed no JSON object' });
  return readObject(seat, question, toBody(json));
}

/** How a process ended that did not end well; undefined for one that did. */
function crashOf(reply: Reply): string | undefined {
  if (reply.via === 'rpc') return 'answered like a server';
  const { exitCode, signal } = reply;
  if (signal !== null) return `was ended by ${signal}`;
  return exitCode === 0 ? undefined : `exited with code ${exitCode}`;
}

/** No JSON is undefined, which no JSON stands for. */
function parse(json: Json): unknown {
  try {
    return json.value;
  } catch {
    return undefined;
  }
}
